import Ledger
import Logging
package import Timeline

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
