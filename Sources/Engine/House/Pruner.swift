import Ledger
import Logging
import Timeline

/// Removes what retention does not keep: runs with their output, and what was said of them.
///
/// In small commits, so that nobody who commits meanwhile waits long.
struct Pruner {
    /// How often it is looked for.
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
