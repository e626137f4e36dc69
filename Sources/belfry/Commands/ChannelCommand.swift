import API
import APIClient
import ArgumentParser
import Delivery
import Glibc
import Host
import TerminalView

struct ChannelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel", abstract: "Lists, adds and tests notification channels.",
        subcommands: [
            ChannelListCommand.self, ChannelAddCommand.self, ChannelTestCommand.self,
            ChannelRemoveCommand.self,
        ])
}

struct ChannelListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the channels.",
        discussion: """
              belfry channel list
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        let channels = try common.client().ask(Endpoints.channels())
        try common.screen.list(channels, asJSON: common.json) { screen in
            var table = TextTable(["CHANNEL", "KIND", "STATE", "SINCE", "LAST ERROR"])
            for channel in channels {
                table.add([
                    "\(channel.name)", "\(channel.kind)",
                    TextTable.Cell(
                        StatusText.words(ofChannel: channel.state), StatusText.color(ofChannel: channel.state)
                    ),
                    "\(screen.time(channel.since))",
                    "\(PlainText.preview(channel.lastError ?? "-", limit: 60))",
                ])
            }
            screen.print(table, empty: "No channels.")
        }
    }
}

struct ChannelTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Sends a test notice over a channel and shows whether it arrived.",
        discussion: """
            Exits 0 when it was delivered, 1 when it failed, 6 if the result is not known
            in time.

              belfry channel test desk
            """)

    @Argument(help: "The channel's name.", completion: Completions.channels)
    var name: String
    @OptionGroup var common: CommonOptions

    func run() throws { try Self.test(name, try common.client(), common) }

    /// Sends a test over a channel and shows the outcome, which is the exit code, too.
    static func test(_ name: String, _ client: DaemonClient, _ common: CommonOptions) throws {
        let test = try client.ask(Endpoints.testChannel(name))
        if common.json {
            StandardOutput.print(try WireCoding.text(test))
        } else {
            let screen = common.screen
            let color: TerminalColor =
                test.outcome == "delivered" ? .green : test.outcome == "failed" ? .red : .yellow
            let time = test.latencyMs.map { " in \(DeliveryText.time($0))" } ?? ""
            let spoken = test.protocol.map { " by \(PlainText.oneLine($0))" } ?? ""
            let detail = test.detail.flatMap { $0.isEmpty ? nil : ": \(PlainText.oneLine($0))" } ?? ""
            screen.print(screen.paint(test.outcome, color) + spoken + time + detail)
            if let answer = test.answer { screen.print(DeliveryText.answer(answer)) }
        }
        switch test.outcome {
        case "delivered": return
        case "failed": throw ExitCode(1)
        default: throw ExitCode(6)
        }
    }
}

struct ChannelAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Adds a channel and sends a test.",
        discussion: """
            Give a kind, or paste an address: a webhook of Slack or Discord, a topic of
            ntfy, mailto:, or an address in the form of Apprise. On a terminal you are
            asked for what is missing. Other users can see a command's arguments: - reads
            the address from standard input. The daemon keeps the secrets.

              belfry channel add https://ntfy.sh/my-topic
              belfry channel add - --name team < slack.url
              belfry channel add mail --set to=me@example.org --set from=b@example.org \\
                --set url=smtp://mail.example.org --set user=me --secret - < password
            """)

    @Argument(
        help: ArgumentHelp("A kind or an address; - reads it from standard input.", valueName: "kind|url"))
    var what: String
    @Option(help: "The channel's name (default: its kind).")
    var name: String?
    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "A setting of its kind; lists are comma-separated, a command is quoted as in a shell.",
            valueName: "key=value"))
    var settings: [String] = []
    @Option(
        help: ArgumentHelp("Read its secret (token, password, ...) from standard input.", valueName: "-"))
    var secret: String?
    @Option(
        help: ArgumentHelp(
            "The events that it is notified of, as in routes; comma-separated.", valueName: "words"),
        completion: .list(RouteWord.allCases.map(\.rawValue)))
    var when: [String] = []
    @Flag(help: "Send no test.")
    var noTest = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let secret, secret != "-" {
            throw ValidationError(
                "a secret on the command line can be seen by others; pipe it in: --secret - < FILE")
        }
        if secret != nil, what == "-" {
            throw ValidationError("standard input can hold the address or the secret, not both")
        }
    }

    func run() throws {
        let client = try common.client()
        var draft = try draft()
        try set(&draft)
        if secret != nil { try putSecret(&draft, try StandardInput.text(limit: 64 * 1024)) }
        try askForMissing(&draft)
        let taken = Set(try client.ask(Endpoints.channels()).map(\.name))
        var wire = WireChannelDraft(
            name: name ?? draft.name(besides: taken),
            settings: draft.described)
        wire.secrets = draft.secrets.isEmpty ? nil : draft.secrets
        let words = when.flatMap { $0.split(separator: ",") }.map { $0.filter { !$0.isWhitespace } }
        wire.when = words.isEmpty ? nil : words
        let channel = try client.ask(Endpoints.addChannel(body: wire))
        if noTest {
            if common.json { return try StandardOutput.print(json: channel) }
            return StandardOutput.print("Added \(channel.name). Test it: belfry channel test \(channel.name)")
        }
        if !common.json { StandardOutput.print("Added \(channel.name) (\(channel.kind)).") }
        do {
            try ChannelTestCommand.test(channel.name, client, common)
        } catch {
            if !common.json {
                StandardError.write("It is kept all the same; remove it: belfry channel rm \(channel.name)\n")
            }
            throw error
        }
    }

    /// What the argument describes.
    private func draft() throws -> ChannelDraft {
        let text = what == "-" ? try StandardInput.text(limit: 64 * 1024) : what
        do throws(ChannelDraft.Refusal) {
            return try ChannelDraft(text)
        } catch {
            switch error {
            case .unknownKind(let word, let kinds):
                throw APIError(
                    .badValue, "\"\(PlainText.preview(word, limit: 40))\" is not a kind of channel",
                    hint: "Kinds: \(kinds.joined(separator: ", ")); or paste the address of a service.")
            case .unknownScheme(let scheme):
                throw APIError(
                    .badValue, "no kind of channel has addresses that begin with \(scheme):",
                    hint:
                        "A program of yours reaches it, such as Apprise: "
                        + "belfry channel add command --set command=\"sh -c '...'\" (the recipe is in the manual)."
                )
            case .incomplete(let form): throw APIError(.badValue, "the address is not complete: \(form)")
            case .unfit(let reason): throw APIError(.badValue, reason)
            }
        }
    }

    /// Applies the flags.
    private func set(_ draft: inout ChannelDraft) throws {
        let fields = draft.form?.fields ?? []
        for setting in settings {
            let sides = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2 else { throw ValidationError("write --set key=value") }
            let (key, value) = (String(sides[0]), String(sides[1]))
            switch fields.first(where: { $0.name == key })?.shape {
            case .secrets:
                throw ValidationError(
                    "a secret on the command line can be seen by others; pipe it in: --secret - < FILE")
            default: draft.set(key, to: value)
            }
        }
    }

    /// The secret that was piped in is the first one that the kind needs, or may have.
    private func putSecret(_ draft: inout ChannelDraft, _ text: String) throws {
        let keys = draft.missing + (draft.form?.fields ?? [])
        guard let key = keys.first(where: { $0.shape == .secrets && draft.secrets[$0.name] == nil }) else {
            throw ValidationError("a channel of the kind \(draft.kind) has no secret")
        }
        if let fault = draft.fault(inSecret: text, for: key.name) { throw APIError(.badValue, fault) }
        draft.secrets[key.name] = text
    }

    /// Asks at the terminal for what is missing; where there is none, the daemon's answer names it.
    private func askForMissing(_ draft: inout ChannelDraft) throws {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return }
        for field in draft.missing {
            let isSecret = field.shape == .secrets
            let prompt = "\(field.name) (\(field.meaning)): "
            if !isSecret { StandardError.write(prompt) }
            guard let line = isSecret ? StandardInput.hiddenLine(prompt) : readLine(), !line.isEmpty else {
                throw APIError(.badValue, "a channel of the kind \(draft.kind) needs \(field.name)")
            }
            if isSecret { draft.secrets[field.name] = line } else { draft.set(field.name, to: line) }
        }
    }
}

struct ChannelRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Removes a channel that was made by channel add.",
        discussion: """
            Deletes its secrets, and discards what waits for it in the outbox.

              belfry channel rm team
            """,
        aliases: ["remove", "delete"])

    @Argument(help: "The channel's name.", completion: Completions.channels)
    var name: String
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if name.isEmpty { throw ValidationError("name a channel; list them: belfry channel list") }
    }

    func run() throws {
        let removal = try common.client().ask(Endpoints.removeChannel(name))
        if common.json { return try StandardOutput.print(json: removal) }
        let count = removal.discarded
        let entries = count == 1 ? "1 entry that was waiting" : "\(count) entries that were waiting"
        StandardOutput.print("Removed \(name)." + (count == 0 ? "" : " Discarded \(entries) for it."))
    }
}

extension StandardInput {
    /// A line that the terminal does not show while it is typed; nil at the end of the input.
    ///
    /// The prompt comes once nothing is shown any more, and what was typed before it is dropped. Keys that send
    /// signals do so after the terminal has its settings back.
    static func hiddenLine(_ prompt: String) -> String? {
        var settings = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else {
            StandardError.write(prompt)
            return readLine()
        }
        var quiet = settings
        quiet.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet)
        StandardError.write(prompt)
        var typed: [UInt8] = []
        let end = readKeys(into: &typed)
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        StandardError.write("\n")
        if let signal = signals[end] { raise(signal) }
        return end == UInt8(ascii: "\n") || !typed.isEmpty ? String(decoding: typed, as: UTF8.self) : nil
    }

    /// Ctrl-C, Ctrl-\ and the signals that they send.
    private static let signals: [UInt8: Int32] = [3: SIGINT, 28: SIGQUIT]

    /// Reads a line with its corrections; returns the key that ended it, 4 at the end of the input.
    private static func readKeys(into line: inout [UInt8]) -> UInt8 {
        var key: UInt8 = 0
        while true {
            let count = unsafe read(STDIN_FILENO, &key, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return 4 }
            switch key {
            case 0x0A, 0x0D: return 0x0A
            case 3, 4, 28: return key
            case 8, 0x7F:
                // A whole letter: the bytes that continue one go with its first.
                while let last = line.popLast(), last & 0xC0 == 0x80 {}
            case 21: line = []
            case 0..<0x20: continue
            default: line.append(key)
            }
        }
    }
}
