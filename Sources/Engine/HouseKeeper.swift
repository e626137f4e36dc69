import Delivery
package import Ledger
package import Logging
package import Timeline

/// Looks after the house itself: reports when the ledger can't be written and when it can again, and removes history
/// that is past its time. After that it returns unused memory to the system.
package actor HouseKeeper: Keeper {
    /// The fact that a full disk was reported, so that another start does not report it twice.
    package static let fact = "ledger.trouble"
    /// How often a store that is short of room is written, which makes it look for room.
    private static let tries: Duration = .seconds(5)

    let ledger: any Ledger
    var loop: KeeperLoop
    /// Sees whether the ledger's file is still where it was opened.
    private let lookAtPlace: @Sendable () -> Void
    /// Returns memory that the start, or a heavy load, has used.
    private let trimMemory: @Sendable () -> Void
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
        lookAtPlace: @escaping @Sendable () -> Void = {},
        trimMemory: @escaping @Sendable () -> Void = {}, logger: Logger
    ) async throws(LedgerError) {
        self.ledger = ledger
        (self.lookAtPlace, self.trimMemory) = (lookAtPlace, trimMemory)
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

    /// Appends the event, once for each trouble: `full`, or nil when it has ended.
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
            logger.error("disk full; no run starts until there is space")
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
        trimMemory()
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

/// Removes what retention does not keep: runs with their output, and what was said of them.
///
/// In small commits, so that nobody who commits meanwhile waits long.
struct Pruner {
    /// How often it runs.
    static let interval: Duration = .seconds(3600)
    /// Rows of one commit.
    private static let chunk = 100
    /// Jobs of one read.
    private static let jobs = 200

    let ledger: any Ledger
    let places: RunPlaces
    let retention: Retention
    /// Removes the output that begins at a path.
    let removeOutput: @Sendable (String) -> Void
    let logger: Logger

    /// Removes all that is past its time at `now`.
    func prune(at now: Moment) async throws(LedgerError) {
        var runs = 0
        var job = ""
        while true {
            let names = try await ledger.jobsWithHistory(after: job, limit: Self.jobs)
            for name in names { runs += try await prune(name, at: now) }
            guard let last = names.last else { break }
            job = last
        }
        let rows = try await pruneHistory(before: now - retention.age)
        if runs + rows > 0 {
            logger.info("history removed", metadata: ["runs": "\(runs)", "rows": "\(rows)"])
        }
    }

    private func prune(_ job: String, at now: Moment) async throws(LedgerError) -> Int {
        var count = 0
        while true {
            let expired = try await ledger.expiredRuns(
                of: job, by: retention, boot: places.boot, at: now, limit: Self.chunk)
            if expired.isEmpty { return count }
            // The files first: after a crash in between the rows still lead to what is left of them.
            for run in expired {
                for attempt in 1...max(1, run.attempts) {
                    removeOutput(places.output(of: run.id, job: job, attempt: attempt))
                    removeOutput(places.checkOutput(of: run.id, job: job, attempt: attempt))
                    removeOutput(places.wakeOutput(of: run.id, job: job, attempt: attempt))
                }
            }
            try await ledger.commit(expired.map { .removeRun(id: $0.id) })
            count += expired.count
        }
    }

    private func pruneHistory(before moment: Moment) async throws(LedgerError) -> Int {
        var count = 0
        while true {
            let rows = try await ledger.expiredRows(before: moment, limit: Self.chunk)
            if rows == 0 { return count }
            try await ledger.commit([.removeHistory(before: moment, limit: Self.chunk)])
            count += rows
        }
    }
}

/// What time it is for history: a clock that no step of the wall clock can hurry.
///
/// What is removed can't be restored, so a wall clock that leaps ahead is not believed at once. Up to a day it is: a night
/// without power, or a zone that was wrong. Of more, only as much counts as has gone by since boot, and a tenth more,
/// so that a machine that was off for weeks is right again some day, and one whose clock shows a wrong year removes
/// nothing by it that would not have gone in about that time. A clock that is set back is followed at once, unless
/// it shows a year before Belfry.
package struct RetentionClock: Hashable, Sendable {
    /// A step ahead up to this is believed.
    package static let longestStep: Duration = .seconds(86_400)

    /// The moment by which the age of history is measured.
    package private(set) var now: Moment
    private var seenAt: Duration

    /// Goes on from `known`, the last moment that was believed, at `sinceBoot`.
    package init(known: Moment, sinceBoot: Duration) {
        now = known
        seenAt = sinceBoot
    }

    /// Goes on by what the clocks show.
    package mutating func advance(to wall: Moment, sinceBoot: Duration) {
        let elapsed = max(.zero, sinceBoot - seenAt)
        seenAt = sinceBoot
        if wall < ClockDoubt.floor {
            now = now + elapsed
        } else if wall - now <= elapsed + Self.longestStep {
            now = wall
        } else {
            now = min(wall, now + elapsed + elapsed / 10)
        }
    }
}
