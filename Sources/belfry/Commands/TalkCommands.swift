import API
import APIClient
import ArgumentParser
import Glibc
import Host
import Ledger
import TerminalView
import Tracking

struct NotifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify", abstract: "Sends a notification.",
        discussion: """
            Use - to read the text from standard input. The routes for messages decide
            where it goes; --to sends it over one channel only. With --action it has
            buttons; --wait prints the key of the button that is pressed (exit code 0), or
            nothing if none is pressed in time (6).

              belfry notify "The tape is full" --bot ops --urgency critical
              make 2>&1 | tail -5 | belfry notify - --title "Build" --replace build
              belfry notify --to phone "Dinner is ready"
              belfry notify "Load is high" --link Graphs=https://grafana.example.org
              belfry notify "Disk is full" --action y=Clean --action n=Ignore --wait
            """)

    @Argument(help: "The text; - reads it from standard input.")
    var text: String
    /// What a shell makes of a text without quotes.
    @Argument(help: .hidden) var rest: [String] = []
    @Option(
        help: ArgumentHelp("Send it over this channel only.", valueName: "channel"),
        completion: Completions.channels)
    var to: String?
    @Option(help: ArgumentHelp("The title.", valueName: "text"))
    var title: String?
    @Option(help: ArgumentHelp("The bot that sends it.", valueName: "bot"), completion: Completions.bots)
    var bot: String?
    @Option(help: ArgumentHelp("The bot's thread that it belongs to.", valueName: "thread"))
    var thread: String?
    @Option(
        help: ArgumentHelp("The urgency: low, normal or critical.", valueName: "urgency"),
        completion: .list(["low", "normal", "critical"]))
    var urgency: String?
    @Option(help: ArgumentHelp("An icon's name, or an absolute path.", valueName: "icon"))
    var icon: String?
    @Option(help: ArgumentHelp("The name of a sound, or none.", valueName: "name"))
    var sound: String?
    @Option(help: ArgumentHelp("A category such as im.received.", valueName: "name"))
    var category: String?
    @Option(help: ArgumentHelp("Replace the notification sent earlier with this key.", valueName: "key"))
    var replace: String?
    @Option(
        help: ArgumentHelp("Withdraw it after this time.", valueName: "duration"),
        transform: DurationArgument.read)
    var expire: DurationArgument?
    @Option(
        help: ArgumentHelp("A button, and the key that --wait prints; repeatable.", valueName: "key=label"))
    var action: [NotifyButton] = []
    @Option(
        help: ArgumentHelp(
            "A page that it leads to, a button where a channel has those; repeatable.",
            valueName: "label=url"))
    var link: [WireLink] = []
    @Flag(help: "Wait until a button is pressed, at most as long as --expire says.")
    var wait = false
    @OptionGroup var common: CommonOptions

    private func checkButtons() throws {
        guard wait || !action.isEmpty else { return }
        guard wait else {
            throw ValidationError("--action needs --wait, which prints the button that was pressed")
        }
        guard !action.isEmpty else { throw ValidationError("--wait needs a button: --action KEY=LABEL") }
        if to != nil || thread != nil || replace != nil || !link.isEmpty {
            throw ValidationError("a notification with buttons takes no --to, --thread, --replace or --link")
        }
        if Set(action.map(\.key)).count < action.count {
            throw ValidationError("each --action has a key of its own")
        }
    }

    /// Prints the key of the button that a person chooses: they are the choices of a question, which survives the daemon.
    private func ask(_ text: String) throws {
        let whole = [title, text].compactMap(\.self).joined(separator: "\n")
        var request = AskRequest(id: UniqueID.v7(at: .now), text: whole)
        request.choices = action.map(\.label)
        request.afterMs = expire?.milliseconds
        request.bot = bot
        request.run = Machine.environment["BELFRY_RUN_ID"]
        (request.icon, request.sound, request.category, request.urgency) = (icon, sound, category, urgency)
        let question = try QuestionWaiter(client: try common.client(), request: request).wait()
        if common.json { StandardOutput.print(try WireCoding.text(question)) }
        guard let pressed = action.first(where: { $0.label == question.answer }) else { throw ExitCode(6) }
        if !common.json { StandardOutput.print(pressed.key) }
    }

    func validate() throws {
        try checkButtons()
        if to != nil, thread != nil {
            throw ValidationError("--to has a thread of its own: leave out --thread")
        }
        guard !rest.isEmpty else { return }
        let whole = JobText.quoted(([text] + rest).joined(separator: " "))
        throw ValidationError("the text is one argument; quote it: belfry notify \(whole)")
    }

    func run() throws {
        let text = text == "-" ? try StandardInput.text(limit: 64 * 1024) : text
        guard action.isEmpty else { return try ask(text) }
        var request = NotifyRequest(text: text)
        request.title = title
        request.bot = bot
        request.thread = thread
        request.to = to
        request.urgency = urgency
        request.icon = icon
        request.sound = sound
        request.category = category
        request.replace = replace
        request.expireMs = expire?.milliseconds
        request.run = Machine.environment["BELFRY_RUN_ID"]
        request.links = link.isEmpty ? nil : link
        let message: WireMessage = try common.client().ask(Endpoints.notify(body: request))
        if common.json { StandardOutput.print(try WireCoding.text(message)) }
    }
}

/// `LABEL=URL`, or the address alone.
extension WireLink: ExpressibleByArgument {
    /// A link as it is written on the command line.
    package init?(argument: String) {
        if argument.hasPrefix("https://") || argument.hasPrefix("http://") {
            self.init(label: "Open", url: argument)
        } else {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return nil }
            self.init(label: parts[0], url: parts[1])
        }
    }
}

/// `KEY=LABEL`.
struct NotifyButton: ExpressibleByArgument {
    let key: String
    let label: String

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        (key, label) = (parts[0], parts[1])
    }
}

struct MessagesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messages", abstract: "Lists and shows messages.",
        usage: """
            belfry messages [<bot>] [--search <text>] [--since <time>] [--limit <n>] [--export md|json]
            belfry messages show <id>
            """,
        discussion: """
              belfry messages ops --limit 5
              belfry messages --search tape --since 24h
              belfry messages sage --export md > sage.md
              belfry messages show 2f1b7a11
            """,
        subcommands: [MessageListCommand.self, MessageShowCommand.self],
        defaultSubcommand: MessageListCommand.self)
}

struct MessageListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists messages, newest first.",
        discussion: """
            Ids are shown by their last eight digits, which all commands accept. A dot
            marks unread messages, a star pinned ones.

            A search finds messages with all of the given words; a word that no message
            has stands for those that begin with it. Best matches come first, or the
            newest if more than 10,000 match.

              belfry messages list ops --json
              belfry messages ops --limit 5
              belfry messages --search tape --bot ops --since 7d
            """)

    @Argument(help: "Only messages of this bot.", completion: Completions.bots)
    var bot: String?
    @Option(
        name: .customLong("bot"),
        help: ArgumentHelp("The same as the argument.", valueName: "bot"), completion: Completions.bots)
    var ofBot: String?
    @Option(help: ArgumentHelp("Only messages that contain this text.", valueName: "text"))
    var search: String?
    @Option(
        help: ArgumentHelp(
            "Only messages since this time, or within a duration such as 24h.", valueName: "time"))
    var since: String?
    @Option(
        help: ArgumentHelp(
            "Print them in full, oldest first, as Markdown (md) or as JSON.", valueName: "form"))
    var export: MessageExport.Form?
    @Option(help: ArgumentHelp("Show at most this many (default: 20; with --export: all).", valueName: "n"))
    var limit: Int?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is a number from 1 up") }
        if let bot, let ofBot, bot != ofBot { throw ValidationError("name one bot, not two") }
    }

    func run() throws {
        var query = MessagesQuery()
        query.bot = bot ?? ofBot
        query.search = search
        query.limit = limit ?? (export == nil ? 20 : .max)
        if let since { query.since = try SinceArgument.moment(since) }
        if let export {
            let messages = try common.client().ask(Endpoints.messages(query: query))
            return try MessageExport(form: export, zone: common.screen.zone).print(messages.reversed())
        }
        let messages = try common.client().ask(Endpoints.messages(query: query))
        if !common.json, messages.first?.order == .newest {
            StandardError.write("More than 10,000 messages match; these are the newest.\n")
        }
        try common.screen.list(messages, asJSON: common.json) { screen in
            var table = TextTable(["WHEN", "BOT", "THREAD", "TEXT", "ID"])
            for (message, id) in zip(messages, ShortID.shown(messages.map(\.id))) {
                let text = MessageText.preview(of: message, glyphs: screen.traits.hasGlyphs)
                table.add([
                    "\(screen.time(message.at))", "\(message.bot)", "\(message.thread)",
                    TextTable.Cell(text, message.read ? .dim : .normal), TextTable.Cell(id, .dim),
                ])
            }
            screen.print(table, empty: "No messages.")
        }
    }
}

struct MessageShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows one message in full.",
        discussion: """
              belfry messages show 2f1b7a11
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var message: MessageArgument

    func run() throws {
        let message = try common.client().ask(Endpoints.message(message.id))
        if common.json { return try StandardOutput.print(json: message) }
        let screen = common.screen
        screen.field("id", message.id)
        screen.field("bot", message.bot)
        screen.field("thread", message.thread)
        screen.field("from", message.from == "user" ? "you" : nil)
        screen.field("run", message.run)
        screen.field("at", screen.time(message.at))
        screen.field("read", message.read ? "yes" : "no")
        screen.field("pinned", message.pinned ? "yes" : nil)
        screen.field("title", message.title)
        screen.field("reply to", message.replyTo)
        screen.field("sent by", message.sender)
        screen.field("reactions", message.reactions?.joined(separator: " "))
        for file in message.attachments ?? [] { screen.field("file", "\(file.name) (\(file.bytes) bytes)") }
        screen.print("")
        for line in MessageText.lines(of: message, on: screen) { screen.print(line) }
    }
}

/// What a message says.
enum MessageText {
    /// Its first words on one line, behind a dot where nobody has read it, or a star where it is pinned:
    /// `● you: Summarize it.`.
    static func preview(of message: WireMessage, glyphs: Bool) -> String {
        let unread = glyphs ? "● " : "* "
        let mark = message.pinned ? (glyphs ? "★ " : "+ ") : message.read ? "  " : unread
        let who = message.from == "user" ? (message.sender ?? "you") + ": " : ""
        // No more of it than could be shown.
        let start = String(message.text.prefix(1000))
        let text = isMarkdown(message) ? Markdown(start).text(for: PlainPlace()) : start
        return mark + who
            + PlainText.preview([message.title, text].compactMap(\.self).joined(separator: ": "))
    }

    /// Its lines: of a bot's own as Markdown on a terminal, else as they were written, so that a file gets the source.
    static func lines(of message: WireMessage, on screen: Screen) -> [String] {
        guard isMarkdown(message), screen.columns != nil else { return PlainText.lines(message.text) }
        return Markdown(message.text).lines(for: TerminalPlace(screen.traits))
    }

    private static func isMarkdown(_ message: WireMessage) -> Bool {
        message.from == "bot" && message.bot != "belfry"
    }
}

/// The id of a message.
struct MessageArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The message's id; four digits or more of its start, or of the last eight, are enough.",
            valueName: "id"))
    var id: String

    func validate() throws {
        if id.allSatisfy(\.isWhitespace) { throw ValidationError("the id of a message is empty") }
    }
}

struct PinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin", abstract: "Pins a message, so that it stands out in listings.",
        discussion: """
              belfry pin 2f1b7a11
              belfry pin 2f1b7a11 --undo
            """)

    @OptionGroup var message: MessageArgument
    @Flag(help: "Unpin it.")
    var undo = false
    @OptionGroup var common: CommonOptions

    func run() throws {
        let call = undo ? Endpoints.unpin(message.id) : Endpoints.pin(message.id)
        let pinned = try common.client().ask(call)
        if common.json { return try StandardOutput.print(json: pinned) }
        StandardOutput.print(undo ? "No longer pinned." : "Pinned.")
    }
}

struct ReadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read", abstract: "Marks a message and earlier ones in its thread, or an item, as read.",
        discussion: """
            To mark a job's item as read, name it (job:NAME) or the run that it shows: its
            failure then counts as acknowledged, and nobody else is notified of it.

              belfry read 2f1b7a11
              belfry read job:backup
              belfry read "$(belfry messages ops --limit 1 --json | jq -r '.[0].id')"
            """)

    @OptionGroup var message: MessageArgument
    @OptionGroup var common: CommonOptions

    func run() throws {
        let isItem = message.id.contains(":") || message.id.contains("#")
        if isItem {
            try common.client().ask(Endpoints.readItem(message.id))
        } else {
            _ = try common.client().ask(Endpoints.read(message.id))
        }
        if !common.json { StandardOutput.print("Read.") }
    }
}
