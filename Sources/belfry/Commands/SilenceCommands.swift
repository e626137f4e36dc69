import API
import APIClient
import ArgumentParser
import Host
import Ledger
import TerminalView
import Timeline

struct SilenceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "silence", abstract: "Silences notifications for a while.",
        discussion: """
            A silence has matchers, all of which must hold. Keys are job, bot, channel,
            urgency, event (a word of routes, such as failed) and the labels of jobs;
            = and != compare, =~ and !~ match a regular expression.

            The desktop, and services that edit messages in place, show what is still true
            when the silence ends. Webhooks and mail from that time are not sent. To see
            what was held back: belfry why --not

              belfry silence add host=db1 --for 2h --note "upgrade"
              belfry silence add job=~"backup-.*" event=failed --until 18:00
              belfry silence
              belfry silence end 2f1b7a11
            """,
        subcommands: [SilenceListCommand.self, SilenceAddCommand.self, SilenceEndCommand.self],
        defaultSubcommand: SilenceListCommand.self)
}

struct SilenceListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists silences, newest first.",
        discussion: """
              belfry silence list --all
              belfry silence --json
            """)

    @Flag(help: "Also list silences that have ended.")
    var all = false
    @OptionGroup var common: CommonOptions

    func run() throws {
        var query = SilencesQuery()
        query.all = all
        let silences = try common.client().ask(Endpoints.silences(query: query))
        try common.screen.list(silences, asJSON: common.json) { screen in
            var table = TextTable(["STATE", "FROM", "UNTIL", "MATCHERS", "BY", "ID", "NOTE"])
            for (silence, id) in zip(silences, ShortID.shown(silences.map(\.id))) {
                table.add([
                    "\(silence.state)", "\(screen.time(silence.from))", "\(screen.time(silence.until))",
                    "\(SilenceText.matchers(silence))", "\(PlainText.preview(silence.by))",
                    TextTable.Cell(id, .dim), "\(PlainText.preview(silence.note ?? ""))",
                ])
            }
            screen.print(table, empty: all ? "No silences." : "Nothing is silenced.")
        }
    }
}

struct SilenceAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Silences what matches, now or later.",
        discussion: """
              belfry silence add job=backup --for 2h
              belfry silence add host=db1 urgency!=critical --until 18:00
              belfry silence add bot=ops --from 22:00 --for 8h --note "maintenance"
            """)

    @Argument(help: ArgumentHelp("Matchers such as job=backup; all of them must hold.", valueName: "matcher"))
    var matchers: [String] = []
    @Option(
        name: .customLong("for"), help: ArgumentHelp("How long it lasts.", valueName: "duration"),
        transform: DurationArgument.read)
    var length: DurationArgument?
    @Option(help: ArgumentHelp("When it ends, instead of --for.", valueName: "time"))
    var until: String?
    @Option(help: ArgumentHelp("When it begins (default: now).", valueName: "time"))
    var from: String?
    @Option(help: ArgumentHelp("The reason, shown in the list.", valueName: "text"))
    var note: String?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard !matchers.isEmpty else {
            throw ValidationError("name what to silence, such as job=backup or host=db1")
        }
        guard (length == nil) != (until == nil) else {
            throw ValidationError("a silence needs one end: --for 2h, or --until 18:00")
        }
    }

    func run() throws {
        var request = SilenceRequest(matchers: matchers)
        request.from = try from.map { Timestamp(try Self.moment($0, of: "--from")) }
        request.until = try until.map { Timestamp(try Self.moment($0, of: "--until")) }
        request.forMs = length?.milliseconds
        request.note = note
        request.by = Machine.environment["USER"].flatMap { $0.isEmpty ? nil : $0 } ?? "cli"
        let silence = try common.client().ask(Endpoints.addSilence(body: request))
        if common.json { return StandardOutput.print(try WireCoding.text(silence)) }
        let screen = common.screen
        let start = silence.state == "pending" ? "from \(screen.time(silence.from)) " : ""
        StandardOutput.print(
            "Silenced \(start)until \(screen.time(silence.until)): \(SilenceText.matchers(silence))")
        StandardOutput.print("End it with: belfry silence end \(silence.id.suffix(ShortID.shownDigits))")
    }

    /// The moment that a time names; a time of day is the next one.
    private static func moment(_ text: String, of option: String) throws -> Moment {
        let (zone, now) = (Zones.local, Moment.now)
        func read(_ text: String) throws -> Moment {
            try Zones.moment(
                text, of: option, in: zone, example: "a time such as 18:00 or 2026-03-29T03:00")
        }
        guard text.count <= 8, text.contains(":") else { return try read(text) }
        for days in 0...1 {
            let day = (now + .seconds(86_400 * days)).iso8601(in: zone).prefix(10)
            let moment = try read("\(day)T\(text)")
            if moment > now { return moment }
        }
        return now
    }
}

struct SilenceEndCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "end", abstract: "Ends a silence now.",
        discussion: """
              belfry silence end 2f1b7a11
            """)

    @Argument(
        help: ArgumentHelp(
            "The silence's id; four digits or more of its start, or of the last eight, are enough.",
            valueName: "id"), completion: Completions.silences)
    var id: String
    @OptionGroup var common: CommonOptions

    func run() throws {
        let silence = try common.client().ask(Endpoints.endSilence(id))
        if common.json { return StandardOutput.print(try WireCoding.text(silence)) }
        StandardOutput.print("Ended: \(SilenceText.matchers(silence))")
    }
}

/// Silences in words.
enum SilenceText {
    /// Its matchers, as they are typed.
    static func matchers(_ silence: WireSilence) -> String {
        PlainText.oneLine(silence.matchers.map { JobText.quoted($0) }.joined(separator: " "))
    }
}
