package import Delivery
package import Ledger
package import Logging
package import Timeline
import Tracking

/// Turns events into what people see: items, and for each channel the surface or the outbox entry that follows.
///
/// Decides inside the very transactions that append events, so that an event and what is made of it cost one sync,
/// and no event is handled twice or not at all. The keeper itself does what no event asks for: the start, timers,
/// and the progress of runs.
package actor ItemKeeper {
    /// The cursor's name.
    package static let consumer = ItemDesk.consumer

    private let ledger: any Ledger
    private let clock: any WallClock
    private let board: LiveBoard
    private let desk: ItemDesk
    private let logger: Logger
    private let alarm = Alarm()
    private var seenOnBoard: UInt64 = 0
    private var boardLookedAt: Duration?
    private var hasNewsOnBoard = false
    /// How often in a row the ledger refused what was to be recorded.
    private var failures = 0

    package init(
        ledger: any Ledger, clock: any WallClock, board: LiveBoard, switchboard: Switchboard,
        dispatcher: Dispatcher = Dispatcher(), makeID: @escaping @Sendable () -> String, logger: Logger
    ) {
        self.ledger = ledger
        self.clock = clock
        self.board = board
        self.desk = ItemDesk(
            tools: ItemTurn.Tools(
                dispatcher: dispatcher, makeID: makeID, since: clock.now, logger: logger),
            switchboard: switchboard, clock: clock, alarm: alarm)
        self.logger = logger
    }

    // MARK: The loop

    /// Follows the events until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws {
        ledger.follow(desk)
        defer { ledger.unfollow(desk) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in self.board.taps() { await self.noteBoard() }
            }
            group.addTask {
                for await condition in self.ledger.conditions() where condition == .sound {
                    await self.retryAtOnce()
                }
            }
            group.addTask { try await self.serve() }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Does not wait for the next try: the ledger takes everything again.
    private func retryAtOnce() {
        if failures > 0 { alarm.ring() }
    }

    private func serve() async throws {
        while true {
            do throws(LedgerError) {
                if desk.isBlank { try await load() }
                try await followBoard()
                let now = clock.now
                if desk.isDue(at: now) { try await run(.wake(desk.due(at: now))) }
                failures = 0
            } catch {
                guard error.mayPass else { throw error }
                failures += 1
                if failures == 1 {
                    logger.error("items can't be recorded", metadata: ["reason": "\(error)"])
                }
            }
            let retryAt = failures > 0 ? clock.now + .seconds(min(failures, 30)) : nil
            let next = [retryAt, desk.nextFlush, nextBoardLook()].compactMap { $0 }.min()
            try await alarm.wait(until: next, on: clock)
        }
    }

    /// Reads what happened before this daemon started, or while turns were refused.
    private func load() async throws(LedgerError) {
        var last = try await run(.load)
        var reached: Int64 = 0
        while desk.cursor < last, desk.cursor > reached {
            reached = desk.cursor
            last = try await ledger.commit(desk).lastEvent
        }
    }

    @discardableResult
    private func run(_ kind: ItemErrand.Kind) async throws(LedgerError) -> Int64 {
        try await ledger.commit(ItemErrand(kind: kind, desk: desk)).lastEvent
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
        let (version, states, _) = await board.changes(after: seenOnBoard)
        seenOnBoard = version
        let shown = states.filter { $0.state == .running && $0.progress != nil }
        if !shown.isEmpty { try await run(.report(shown)) }
    }
}
