import API
import APIClient
import ArgumentParser
import Host
import Ledger

struct OutboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "Shows pending and delivered notifications.",
        subcommands: [
            OutboxListCommand.self, OutboxShowCommand.self, OutboxRetryCommand.self, OutboxReplayCommand.self,
            OutboxDiscardCommand.self,
        ],
        defaultSubcommand: OutboxListCommand.self)
}

struct OutboxListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists entries, newest first.",
        discussion: """
              belfry outbox list --state dead
            """)

    @Option(help: ArgumentHelp("Only entries in this state, such as dead.", valueName: "state"))
    var state: String?
    @OptionGroup var listing: ListOptions
    @OptionGroup var common: CommonOptions

    func run() throws {
        var query = OutboxQuery()
        query.states = try WireOutboxState.read(
            (state ?? "").split(separator: ",").map(String.init), parameter: "state")
        query.limit = listing.limit
        let entries = try common.client().ask(Endpoints.outbox(query: query))
        try common.screen.list(entries, asJSON: common.json) { screen in
            var table = TextTable(
                ["CREATED", "STATE", "CHANNEL", "TYPE", "TRIES", "ID", "NOTE"], rightAligned: [4])
            for (entry, id) in zip(entries, ShortID.shown(entries.map(\.id))) {
                table.add([
                    "\(screen.time(entry.createdAt))",
                    TextTable.Cell(entry.state, StatusText.color(ofEntry: entry.state)), "\(entry.channel)",
                    "\(entry.type)", "\(entry.attempts)", "\(id)",
                    "\(PlainText.preview(OutboxNote.text(entry, screen.now), limit: 90))",
                ])
            }
            screen.print(table, empty: "The outbox is empty.")
        }
    }
}

struct OutboxShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows an entry with each attempt and what was answered.",
        discussion: """
              belfry outbox show 2f1b7a11
            """)

    @Argument(help: "The entry's id, or four or more of the digits shown by: belfry outbox.")
    var id: String
    @OptionGroup var common: CommonOptions

    func run() throws {
        let entry = try common.client().ask(Endpoints.outboxEntry(id))
        if common.json { return StandardOutput.print(try WireCoding.text(entry)) }
        let screen = common.screen
        let note = OutboxNote.text(entry, screen.now)
        screen.field("entry", entry.id)
        screen.field("channel", entry.channel)
        screen.field("state", entry.state + (note.isEmpty ? "" : ": \(note)"))
        screen.field("type", entry.type)
        screen.field("reason", entry.reason)
        screen.field("run", entry.run)
        screen.field("item", entry.item)
        screen.field("created", screen.time(entry.createdAt))
        screen.field("settled", entry.settledAt.map { screen.time($0) })
        for (index, attempt) in (entry.tries ?? []).enumerated() {
            let time = attempt.latencyMs.map { " after \(DeliveryText.time($0))" } ?? ""
            let status = attempt.status.map { ", status \($0)" } ?? ""
            let error = attempt.error.map { ": \($0)" } ?? ""
            let end = attempt.reason == nil ? "accepted" : "failed"
            screen.print(
                PlainText.oneLine("\(screen.time(attempt.at)) \(index + 1). \(end)\(time)\(status)\(error)"))
            if let answer = attempt.answer { screen.print(DeliveryText.answer(answer)) }
        }
    }
}

/// What a receiver answered, for people.
enum DeliveryText {
    /// How many lines of an answer are shown; `--json` has all that is kept.
    private static let lines = 12

    /// `3.2 ms`, `1.4 s`.
    static func time(_ milliseconds: Double) -> String {
        if milliseconds >= 1000 { return "\((milliseconds / 100).rounded() / 10) s" }
        return "\((milliseconds * 10).rounded() / 10) ms"
    }

    /// The lines of an answer, each behind a bar.
    static func answer(_ text: String) -> String {
        let all = text.split(separator: "\n", omittingEmptySubsequences: true)
        let shown = all.prefix(lines).map { "  | " + PlainText.preview(String($0), limit: 200) }
        return (shown + (all.count > lines ? ["  | ..."] : [])).joined(separator: "\n")
    }
}

struct OutboxRetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Retries dead or pending entries now.",
        discussion: """
            An entry keeps its id, so that a receiver recognizes one that it already has.
            With --channel all undelivered entries of the channel are retried. If the
            channel was renamed in the configuration, the entries for its old name move to
            it; --from gives the old name if it is ambiguous.

              belfry outbox retry 2f1b7a11
              belfry outbox retry --channel hook
              belfry outbox retry --channel new-hook --from hook
            """)

    @Argument(help: "The entry's id, or four or more of the digits shown by: belfry outbox.")
    var id: String?
    @Option(help: ArgumentHelp("Retry all entries of this channel.", valueName: "name"))
    var channel: String?
    @Option(
        help: ArgumentHelp(
            "Move the entries of this channel, which is not in the configuration, to --channel.",
            valueName: "name"))
    var from: String?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (id == nil) != (channel == nil) else {
            throw ValidationError("name an entry's id, or a channel with --channel")
        }
        guard from == nil || channel != nil else {
            throw ValidationError("--from needs --channel: where the entries go")
        }
    }

    func run() throws {
        if let channel { return try retry(channel: channel) }
        let entry = try common.client().ask(Endpoints.retryEntry(id ?? ""))
        if common.json { return StandardOutput.print(try WireCoding.text(entry)) }
        // Its own moment is now, which a channel that is left alone does not know.
        let note = entry.waitsFor == nil ? "" : " " + OutboxNote.text(entry, common.screen.now)
        StandardOutput.print("\(entry.id) is \(entry.state) again.\(PlainText.oneLine(note))")
    }

    private func retry(channel: String) throws {
        var query = ChannelRetryQuery()
        query.from = from
        let retry = try common.client().ask(Endpoints.retryChannel(channel, query: query))
        if common.json { return StandardOutput.print(try WireCoding.text(retry)) }
        func entries(_ count: Int) -> String { count == 1 ? "1 entry" : "\(count) entries" }
        var lines: [String] = []
        if let old = retry.from, retry.moved > 0 {
            lines.append(
                "Moved \(entries(retry.moved)) from channel \"\(old)\", which is not in the configuration, "
                    + "to \"\(channel)\".")
        }
        if retry.retried > 0 { lines.append("Retrying \(entries(retry.retried)) of channel \"\(channel)\".") }
        if lines.isEmpty { lines.append("Nothing waits for channel \"\(from ?? channel)\".") }
        if retry.state == "disabled" {
            lines.append("The channel was given up; to use it again: belfry channel test \(channel)")
        }
        StandardOutput.print(PlainText.oneLine(lines.joined(separator: " ")))
    }
}

struct OutboxReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Sends settled entries again, for a receiver that lost them.",
        discussion: """
            Entries keep their ids, so that a receiver recognizes those that it already
            has.

              belfry outbox replay --channel hook --since 2h
              belfry outbox replay --channel hook --since 2026-11-23T03:00:00Z
            """)

    @Option(
        help: ArgumentHelp(
            "Entries created since this time, or within a duration such as 2h.", valueName: "time"))
    var since: String
    @Option(
        help: ArgumentHelp("The channel (default: every channel with an outbox).", valueName: "name"),
        completion: Completions.channels)
    var channel: String?
    @OptionGroup var common: CommonOptions

    func run() throws {
        let client = try common.client()
        var query = ChannelReplayQuery()
        query.since = try SinceArgument.moment(since)
        let replays: [WireChannelReplay]
        if let channel {
            replays = [try client.ask(Endpoints.replayChannel(channel, query: query))]
        } else {
            let edges = try client.ask(Endpoints.channels()).filter { $0.hasOutbox ?? false }
            replays = try edges.map { try client.ask(Endpoints.replayChannel($0.name, query: query)) }
        }
        try common.screen.list(replays, asJSON: common.json) { screen in
            for replay in replays {
                let entries = replay.replayed == 1 ? "1 entry" : "\(replay.replayed) entries"
                screen.print(PlainText.oneLine("Sending \(entries) of channel \"\(replay.channel)\" again."))
            }
            if replays.isEmpty { screen.print("No channel has an outbox.") }
        }
    }
}

struct OutboxDiscardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard", abstract: "Discards entries; they are never sent.",
        discussion: """
            With --channel, everything that waits for the channel is discarded, even if it
            is no longer in the configuration.

              belfry outbox discard 2f1b7a11
              belfry outbox discard --channel old-hook
            """)

    @Argument(help: "The entry's id, or four or more of the digits shown by: belfry outbox.")
    var id: String?
    @Option(help: ArgumentHelp("Discard all that waits for this channel.", valueName: "name"))
    var channel: String?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (id == nil) != (channel == nil) else {
            throw ValidationError("name an entry's id, or a channel with --channel")
        }
    }

    func run() throws {
        if let channel {
            let discard = try common.client().ask(Endpoints.discardChannel(channel))
            if common.json { return try StandardOutput.print(json: discard) }
            let entries = discard.discarded == 1 ? "1 entry" : "\(discard.discarded) entries"
            return StandardOutput.print(
                PlainText.oneLine("Discarded \(entries) of channel \"\(channel)\"."))
        }
        let entry = try common.client().ask(Endpoints.discardEntry(id ?? ""))
        StandardOutput.print(common.json ? try WireCoding.text(entry) : "\(entry.id) is \(entry.state).")
    }
}
