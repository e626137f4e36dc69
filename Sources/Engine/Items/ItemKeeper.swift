import Grouping
package import Ledger
package import Logging
package import Timeline
import Tracking

/// Turns events into what people see: items, and for each channel the surface or the outbox entry that follows.
///
/// Reads events from its own cursor. What a batch of them makes of the items, the outbox and the surfaces is one
/// transaction with the cursor's step, so that no event is told twice or not at all.
package actor ItemKeeper {
    /// The cursor's name.
    package static let consumer = "items"
    private static let batch = 256

    private let ledger: any Ledger
    private let clock: any WallClock
    private let board: LiveBoard
    private let switchboard: Switchboard
    private let tools: ItemTurn.Tools
    private let logger: Logger
    private let alarm = Alarm()
    private var cursor: Int64?
    /// The items that wait for a moment or show a run at work; what sleeps is read when it is needed.
    private var items: [ItemKey: KeptItem] = [:]
    private var seenOnBoard: UInt64 = 0
    private var boardLookedAt: Duration?
    private var hasNewsOnBoard = false

    package init(
        ledger: any Ledger, clock: any WallClock, board: LiveBoard, switchboard: Switchboard,
        makeID: @escaping @Sendable () -> String, logger: Logger
    ) {
        self.ledger = ledger
        self.clock = clock
        self.board = board
        self.switchboard = switchboard
        self.tools = ItemTurn.Tools(
            ledger: ledger, board: board, inHand: switchboard.inHand, makeID: makeID, since: clock.now)
        self.logger = logger
    }

    // MARK: The loop

    /// Follows the events until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only another start can mend.
    package func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await stations in self.ledger.commits() where stations.contains(.events) {
                    self.alarm.ring()
                }
            }
            group.addTask {
                for await _ in self.board.taps() { await self.noteBoard() }
            }
            group.addTask { try await self.serve() }
            try await group.next()
            group.cancelAll()
        }
    }

    private func serve() async throws {
        var failures = 0
        while true {
            do throws(LedgerError) {
                if cursor == nil { try await load() }
                try await followEvents()
                try await followBoard()
                try await wakeItems()
                failures = 0
            } catch {
                guard error.mayPass else { throw error }
                cursor = nil
                failures += 1
                if failures == 1 {
                    logger.error("items can't be recorded", metadata: ["reason": "\(error)"])
                }
            }
            let retryAt = failures > 0 ? clock.now + .seconds(min(failures, 30)) : nil
            let next = [retryAt, nextFlush(), nextBoardLook()].compactMap { $0 }.min()
            try await alarm.wait(until: next, on: clock)
        }
    }

    private func load() async throws(LedgerError) {
        items = [:]
        for record in try await ledger.itemsToWake(limit: .max) {
            items[record.key] = KeptItem(record, bot: "belfry")
        }
        cursor = try await ledger.cursor(of: Self.consumer)
    }

    private func makeTurn() -> ItemTurn {
        ItemTurn(tools, configuration: switchboard.configuration, awake: items, now: clock.now)
    }

    // MARK: Events

    private func followEvents() async throws(LedgerError) {
        while let cursor {
            let events = try await ledger.events(after: cursor, limit: Self.batch)
            guard let last = events.last else { return }
            var turn = makeTurn()
            defer { turn.end() }
            for event in events { try await turn.take(event) }
            turn.changes.append(.moveConsumer(name: Self.consumer, from: cursor, to: last.seq))
            try await commit(turn)
            self.cursor = last.seq
        }
    }

    // MARK: Progress

    private func noteBoard() {
        // Looked at once a second: a job that reports a thousand times must not wake this loop as often.
        guard !hasNewsOnBoard else { return }
        hasNewsOnBoard = true
        alarm.ring()
    }

    private func nextBoardLook() -> Moment? {
        guard hasNewsOnBoard else { return nil }
        let waited = boardLookedAt.map { clock.sinceBoot - $0 } ?? .seconds(1)
        return clock.now + max(.zero, .seconds(1) - waited)
    }

    private func followBoard() async throws(LedgerError) {
        guard hasNewsOnBoard else { return }
        if let boardLookedAt, clock.sinceBoot - boardLookedAt < .seconds(1) { return }
        hasNewsOnBoard = false
        boardLookedAt = clock.sinceBoot
        let (version, states) = await board.changes(after: seenOnBoard)
        seenOnBoard = version
        var turn = makeTurn()
        defer { turn.end() }
        guard turn.jobPolicy.hears.contains(.progress) else { return }
        for live in states where live.state == .running && live.progress != nil {
            try await turn.take(live)
        }
        try await commit(turn)
    }

    // MARK: Timers

    private func nextFlush() -> Moment? { items.values.compactMap(\.decider.flushAt).min() }

    /// Wakes the items whose moment has come, and those whose moment a clock that was set back took away.
    private func wakeItems() async throws(LedgerError) {
        var turn = makeTurn()
        defer { turn.end() }
        let now = turn.now
        let due = items.values.compactMap { item -> ItemKey? in
            guard let flushAt = item.decider.flushAt else { return nil }
            return flushAt <= now || flushAt > now + turn.longestWait(of: item.key) ? item.key : nil
        }
        for key in due { try await turn.wake(key) }
        try await commit(turn)
    }

    private func commit(_ turn: ItemTurn) async throws(LedgerError) {
        let changes: [Change]
        do {
            changes = try turn.transaction()
        } catch {
            throw .storage(code: 0, detail: "an item can't be encoded: \(error)")
        }
        if !changes.isEmpty { try await ledger.commit(changes) }
        for (key, item) in turn.items {
            var item = item
            if turn.written.contains(key) { item.stored = item.nextRevision }
            items[key] = item.decider.flushAt != nil || item.isAtWork ? item : nil
        }
    }
}
