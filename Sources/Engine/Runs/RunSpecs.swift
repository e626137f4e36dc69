import Cron
import Ledger
import Timeline
import Tracking

/// What runs execute and when their jobs are due next, read from the ledger; a spec is read once while it is in use.
///
/// A revision never changes, so that a spec that is kept is never out of date. Used by its keeper alone.
final class RunSpecs {
    /// How many are kept: enough for the jobs that run often.
    private static let size = 2048

    private struct Key: Hashable {
        var job: String
        var revision: Int
    }

    private let ledger: any Ledger
    private let clock: any WallClock
    private let zones: ZoneLookup
    private var kept: [Key: JobSpec] = [:]

    init(ledger: any Ledger, clock: any WallClock, zones: @escaping ZoneLookup) {
        self.ledger = ledger
        self.clock = clock
        self.zones = zones
    }

    /// What the run executes; nil when no such revision was ever stored.
    func spec(of run: RunRecord) async throws(LedgerError) -> JobSpec? {
        let key = Key(job: run.job, revision: run.revision)
        if let spec = run.spec ?? kept[key] { return spec }
        let spec = try await ledger.spec(of: run.job, revision: run.revision)
        if let spec {
            if kept.count >= Self.size { kept = [:] }
            kept[key] = spec
        }
        return spec
    }

    /// Whether and until when the run may be tried again; nil: it is not.
    func chance(of run: RunRecord) async throws(LedgerError) -> RetryChance? {
        guard let spec = try await spec(of: run), spec.attempts > 1,
            let job = try await ledger.job(named: run.job)
        else { return nil }
        // The slots of a paused job do not run: none of them is a reason to give up.
        if job.pause != nil { return RetryChance(spec: spec, nextSlot: nil) }
        let schedule = try? job.spec.schedule.read(seed: job.name, zones: zones)
        let next = schedule.flatMap { $0.0.nextSlot(after: clock.now, in: $0.1) }
        return RetryChance(spec: spec, nextSlot: next)
    }
}
