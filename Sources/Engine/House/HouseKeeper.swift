import Delivery
package import Ledger
package import Logging
package import Timeline

/// Looks after the house itself: reports when the ledger can't be written and when it can again, and removes history
/// that is past its time.
package actor HouseKeeper: Keeper {
    /// The fact that a full disk was reported, so that another start does not report it twice.
    package static let fact = "ledger.trouble"
    /// How often a store that is short of room is written, which makes it look for room.
    private static let tries: Duration = .seconds(5)

    let ledger: any Ledger
    var loop: KeeperLoop
    /// Sees whether the ledger's file is still where it was opened.
    private let lookAtPlace: @Sendable () -> Void
    private let pruner: Pruner
    /// What was reported last; nil: that all is well, or nothing yet.
    private var reported: String?
    /// Since when the store does not take everything, since boot.
    private var troubledSince: Duration?
    private var pruneAt: Moment
    private var history: RetentionClock
    private var isTimeKept = false
    /// Whether ``reported`` was read.
    private var isLoaded = false
    private var clock: any WallClock { loop.clock }
    private var logger: Logger { loop.logger }

    /// The moment up to which history's clock was believed last, in microseconds since 1970.
    package static let historyFact = "history.clock"

    /// Reads up to when time is known to have gone, before anybody writes what a wrong clock shows.
    ///
    /// `removeOutput` removes what an attempt printed; the path is ``RunPlaces/output(of:job:attempt:)``.
    package init(
        ledger: any Ledger, clock: any WallClock, places: RunPlaces, retention: Retention = Retention(),
        removeOutput: @escaping @Sendable (_ path: String) -> Void,
        lookAtPlace: @escaping @Sendable () -> Void = {}, logger: Logger
    ) async throws(LedgerError) {
        self.ledger = ledger
        self.lookAtPlace = lookAtPlace
        // It logs the ledger's troubles itself, with their end.
        loop = KeeperLoop(clock: clock, logger: logger, complaint: nil)
        pruner = Pruner(
            ledger: ledger, places: places, retention: retention, removeOutput: removeOutput, logger: logger)
        // Not in the first minute, which is for what was missed.
        pruneAt = clock.now + .seconds(60)
        let stored = try await ledger.fact(named: Self.historyFact).flatMap { Int64($0) }
        let decided = try await ledger.watermark()?.decidedUntil
        history = RetentionClock(
            known: stored.map(Moment.init(microseconds:)) ?? decided ?? clock.now, sinceBoot: clock.sinceBoot)
    }

    /// Serves until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws { try await follow() }

    func wakers() -> [Waker] { [.each(ledger.conditions())] }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        lookAtPlace()
        if !isLoaded {
            reported = try await ledger.fact(named: Self.fact)
            isLoaded = true
        }
        try await checkStore()
        try await prune()
        return .at(ledger.condition == .sound ? pruneAt : clock.now + Self.tries)
    }

    // MARK: The store

    private func checkStore() async throws(LedgerError) {
        switch ledger.condition {
        case .sound:
            try await report(nil)
        case .short:
            try await report("full")
            // Whatever is written makes the store look for room.
            try await touch()
        case .refusing(let error):
            if troubledSince == nil {
                troubledSince = clock.sinceBoot
                logger.error("the ledger can't be written", metadata: ["reason": "\(error)"])
            }
            try await touch()
        }
    }

    private func touch() async throws(LedgerError) {
        try await ledger.commit([.setFact(name: "ledger.touched", value: "\(clock.now)")])
    }

    /// Appends the event, once for each trouble: `full`, or nil when it is over.
    private func report(_ trouble: String?) async throws(LedgerError) {
        if trouble == nil, troubledSince != nil {
            troubledSince = nil
            logger.notice("the ledger accepts writes again")
        }
        guard trouble != reported else { return }
        let fact: Fact = trouble == nil ? .ledgerRestored : .ledgerFull
        try await ledger.commit([
            .setFact(name: Self.fact, value: trouble),
            .append(NewEvent(fact, at: clock.now)),
        ])
        reported = trouble
        if trouble != nil {
            troubledSince = troubledSince ?? clock.sinceBoot
            logger.error("the disk is full; no run begins before there is room")
        }
    }

    // MARK: History

    private func prune() async throws(LedgerError) {
        // A clock that was set back far must not put it off for ever.
        pruneAt = min(pruneAt, clock.now + Pruner.interval)
        guard ledger.condition == .sound else { return }
        if !isTimeKept {
            try await noteTime()
            isTimeKept = true
        }
        guard clock.now >= pruneAt else { return }
        pruneAt = clock.now + Pruner.interval
        try await noteTime()
        try await pruner.prune(at: min(history.now, clock.now))
    }

    /// Notes how far time has gone, so that the next daemon knows.
    private func noteTime() async throws(LedgerError) {
        history.advance(to: clock.now, sinceBoot: clock.sinceBoot)
        if clock.now - history.now > RetentionClock.longestStep {
            logger.warning(
                "clock far ahead of the last known time; pruning suspended",
                metadata: ["now": "\(clock.now.iso8601)", "known": "\(history.now.iso8601)"])
        }
        let known = String(history.now.microseconds)
        try await ledger.commit([.setFact(name: Self.historyFact, value: known)])
    }
}
