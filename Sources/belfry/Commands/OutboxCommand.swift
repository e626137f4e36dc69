import API
import APIClient
import ArgumentParser

struct OutboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "Shows what waits for delivery, and what was delivered.",
        subcommands: [OutboxListCommand.self, OutboxRetryCommand.self, OutboxDiscardCommand.self],
        defaultSubcommand: OutboxListCommand.self)
}

struct OutboxListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists entries, newest first.",
        discussion: """
              belfry outbox list --state dead
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: ArgumentHelp("Only entries in this state, such as dead.", valueName: "state"))
    var state: String?
    @Option(help: ArgumentHelp("At most this many.", valueName: "n"))
    var limit = 20

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit is a number from 1 up") }
    }

    func run() throws {
        var query = Query()
        query["state"] = state
        query["limit"] = String(limit)
        let entries: [WireOutboxEntry] = try common.client().ask(.outbox, query: query)
        try common.screen.list(entries, asJSON: common.json) { screen in
            var table = TextTable(
                ["CREATED", "STATE", "CHANNEL", "TYPE", "TRIES", "ID", "NOTE"], rightAligned: [4])
            for entry in entries {
                table.add([
                    "\(screen.time(entry.createdAt))",
                    TextTable.Cell(entry.state, StatusText.color(ofEntry: entry.state)), "\(entry.channel)",
                    "\(entry.type)", "\(entry.attempts)", "\(entry.id)",
                    "\(PlainText.preview(OutboxNote.text(entry, screen.now), limit: 90))",
                ])
            }
            screen.print(table, empty: "The outbox is empty.")
        }
    }
}

struct OutboxRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Sends an entry that was given up, or waits, now.",
        discussion: """
            It keeps its id: who has received it already knows it again.

              belfry outbox retry 019a2f6c-5f40-7c3e-9d2b-0c6f2f1b7a11
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The entry's id; see: belfry outbox.")
    var id: String

    func run() throws {
        let entry: WireOutboxEntry = try common.client().ask(.retryEntry(id))
        if common.json { return StandardOutput.print(try WireCoding.text(entry)) }
        // Its own moment is now, which a channel that is left alone does not know.
        let note = entry.waitsFor == nil ? "" : " " + OutboxNote.text(entry, common.screen.now)
        StandardOutput.print("\(entry.id) is \(entry.state) again.\(PlainText.oneLine(note))")
    }
}

struct OutboxDiscardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard", abstract: "Gives an entry up; it is never sent.",
        discussion: """
              belfry outbox discard 019a2f6c-5f40-7c3e-9d2b-0c6f2f1b7a11
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The entry's id; see: belfry outbox.")
    var id: String

    func run() throws {
        let entry: WireOutboxEntry = try common.client().ask(.discardEntry(id))
        StandardOutput.print(common.json ? try WireCoding.text(entry) : "\(entry.id) is \(entry.state).")
    }
}
