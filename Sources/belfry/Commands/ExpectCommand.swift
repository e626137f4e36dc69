import API
import APIClient
import ArgumentParser
import Host
import TerminalView
import Timeline

struct ExpectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "expect", abstract: "Expects jobs of other machines to report in time.",
        usage: """
            belfry expect <name> --every <duration>|--cron <expr> [--grace <duration>]
            belfry expect list|rm <name>
            """,
        discussion: """
            Each has an address with a key. A request to it reports success; /start before
            the work, /fail or the exit code at its end, and /log for a line, may follow
            the key, as healthchecks' clients send them. What does not report in time, does
            not finish within the grace, or fails is an event (expect.late), and so is its
            recovery. The daemon listens where the configuration has `listen:`.

              belfry expect nightly --every 1d --grace 1h
              curl -m 10 --retry 5 http://127.0.0.1:8427/v1/ping/KEY
              backup; curl http://127.0.0.1:8427/v1/ping/KEY/$?
              belfry expect
            """,
        subcommands: [ExpectAddCommand.self, ExpectListCommand.self, ExpectRemoveCommand.self],
        defaultSubcommand: ExpectAddCommand.self)
}

struct ExpectAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Expects reports, or changes when they are due; prints the address.",
        discussion: """
              belfry expect add nightly --every 1d --grace 1h
              belfry expect add nightly --cron "0 3 * * *" --zone Europe/Berlin
            """)

    @Argument(help: "Its name; without one, all are listed.")
    var name: String?
    @Option(
        help: ArgumentHelp(
            "Expect a report at most this long after the previous one.", valueName: "duration"),
        transform: DurationArgument.read)
    var every: DurationArgument?
    @Option(help: ArgumentHelp("Expect a report after each time of this cron expression.", valueName: "expr"))
    var cron: String?
    @Option(help: ArgumentHelp("The time zone of --cron.", valueName: "zone"))
    var zone: String?
    @Option(
        help: ArgumentHelp("How late a report may be (default: 1h).", valueName: "duration"),
        transform: DurationArgument.read)
    var grace: DurationArgument?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard name != nil else {
            if every != nil || cron != nil {
                throw ValidationError("a name is missing: belfry expect NAME --every 1d")
            }
            return
        }
        guard (every == nil) != (cron == nil) else {
            throw ValidationError("give one of --every 1d and --cron \"0 3 * * *\"")
        }
        if zone != nil, cron == nil { throw ValidationError("--zone needs --cron") }
    }

    func run() throws {
        guard let name else { return try ExpectListCommand.list(common) }
        let schedule =
            if let every {
                WireSchedule(kind: "every", text: every.duration.text)
            } else {
                WireSchedule(kind: "cron", text: cron ?? "", zone: zone)
            }
        let draft = ExpectationDraft(name: name, schedule: schedule, grace: grace?.duration.text)
        let made = try common.client().ask(Endpoints.expect(body: draft))
        if common.json { return StandardOutput.print(try WireCoding.text(made)) }
        if let url = made.url {
            // Alone on its line, for a script to read.
            StandardOutput.print(url)
        } else {
            StandardError.write("No address: the daemon does not listen on TCP.\n")
            StandardError.write("hint: add `listen: 127.0.0.1:8427` to the configuration\n")
        }
    }
}

struct ExpectListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists what must report in time, with the addresses.",
        discussion: """
              belfry expect list
            """)

    @OptionGroup var common: CommonOptions

    func run() throws { try Self.list(common) }

    static func list(_ common: CommonOptions) throws {
        let expectations = try common.client().ask(Endpoints.expectations())
        try common.screen.list(expectations, asJSON: common.json) { screen in
            var table = TextTable(["NAME", "STATE", "LAST", "DUE", "SCHEDULE", "GRACE", "URL"])
            for expectation in expectations {
                let isLate = expectation.state == "late"
                let state = [expectation.state, expectation.reason].compactMap(\.self)
                    .joined(separator: ": ")
                let schedule = expectation.schedule
                table.add([
                    "\(expectation.name)", TextTable.Cell(state, isLate ? .red : .normal),
                    "\(expectation.lastPing.map { screen.time($0) } ?? "-")",
                    "\(expectation.dueAt.map { screen.time($0) } ?? "-")",
                    "\(PlainText.preview(schedule.kind == "every" ? "every \(schedule.text)" : schedule.text))",
                    "\(expectation.grace)", "\(expectation.url ?? "-")",
                ])
            }
            screen.print(table, empty: "Nothing is expected.")
        }
    }
}

struct ExpectRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Removes an expectation; its address is rejected from then on.",
        discussion: """
              belfry expect rm nightly
            """)

    @Argument(help: "Its name.")
    var name: String
    @OptionGroup var common: CommonOptions

    func run() throws {
        try common.client().ask(Endpoints.removeExpectation(name))
        if !common.json { StandardOutput.print("Removed \(name).") }
    }
}
