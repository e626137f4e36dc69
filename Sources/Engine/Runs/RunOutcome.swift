import Cron
package import Delivery
package import Ledger
package import Performing
import Timeline
package import Tracking

/// How a run ended: state and reason.
package struct RunOutcome: Hashable, Sendable {
    package var state: RunState
    package var reason: RunReason?

    package init(_ state: RunState, _ reason: RunReason? = nil) {
        self.state = state
        self.reason = reason
    }

    /// The outcome of an attempt's record.
    package init(_ record: ExitRecord) {
        switch record.cause {
        case .timeout: self.init(.timedOut, .timeout)
        case .canceled: self.init(.canceled, .canceled)
        case .lost: self.init(.lost, .wardenLost)
        case .exited where record.signal != nil: self.init(.failed, .signal)
        case .exited where record.exitCode == 0: self.init(.completed)
        case .exited: self.init(.failed, .exitCode)
        }
    }

    /// The fact of this end.
    ///
    /// A run that timed out has failed, with the reason `timeout`.
    package func fact(of run: Fact.Run, message: String? = nil) -> Fact {
        let end = Fact.End(run, reason: reason, message: message)
        return switch state {
        case .completed: .runCompleted(end)
        case .canceled: .runCanceled(end)
        case .lost: .runLost(end)
        default: .runFailed(end)
        }
    }
}

extension ExitRecord {
    /// The survivors as the ledger keeps them; nil: none.
    package var leftProcesses: [LeftProcess]? {
        survivors.isEmpty ? nil : survivors.map { LeftProcess(pid: $0.pid, name: $0.name) }
    }
}

/// Whether a run that did not do what it should is tried again, and when.
///
/// Pure: the same failure of the same run always waits equally long.
struct RetryChance {
    /// What the run executes.
    var spec: JobSpec
    /// The job's next slot: no attempt begins at or after it; nil: none is to come.
    var nextSlot: Moment?

    /// No wait is longer.
    static let longestWait: Duration = .seconds(3600)

    /// When the attempt after this `outcome` may begin; nil: there is none.
    func moment(after outcome: RunOutcome, of run: RunRecord, exitCode: Int?, at now: Moment) -> Moment? {
        guard run.attempt < spec.attempts, run.endAsked == nil, mayPass(outcome, exitCode) else { return nil }
        return isInTime(now + Self.wait(after: run.attempt, of: run.id, spec))
    }

    /// The moment, if the next slot does not come first.
    func isInTime(_ moment: Moment) -> Moment? {
        if let nextSlot, moment >= nextSlot { return nil }
        return moment
    }

    /// Whether the same may end otherwise if it is done again.
    private func mayPass(_ outcome: RunOutcome, _ exitCode: Int?) -> Bool {
        switch outcome.state {
        case .timedOut: return true
        case .lost: return spec.retriesLost
        case .failed: break
        default: return false
        }
        switch outcome.reason {
        case .notFound, .notExecutable, .badDirectory, .badUser: return false
        case .exitCode:
            guard case .shell = spec.action else { return true }
            // sh(1): a command of the text was found and can't be executed, or was not found.
            return exitCode != 126 && exitCode != 127
        default: return true
        }
    }

    /// The most that the attempt after this one of `spec` waits: a stored moment beyond that was written by a
    /// clock that was set since.
    static func longestWait(after attempt: Int, of spec: JobSpec?) -> Duration {
        guard let spec else { return longestWait }
        return max(whole(after: attempt, of: spec), RunDecider.patience)
    }

    /// The job's wait, doubled with each attempt.
    private static func whole(after attempt: Int, of spec: JobSpec) -> Duration {
        var whole = min(spec.backoff, longestWait)
        for _ in 1..<max(1, attempt) where whole < longestWait { whole = min(whole * 2, longestWait) }
        return whole
    }

    /// Of the whole wait between one and two halves by the run's own id, so that what failed together does not come
    /// back together.
    static func wait(after attempt: Int, of run: String, _ spec: JobSpec) -> Duration {
        let whole = whole(after: attempt, of: spec)
        return whole / 2 + whole / 2 * share(run, attempt)
    }

    /// A number from 0 to 1 that looks random: FNV-1a, stirred as SplitMix64 does it.
    private static func share(_ run: String, _ attempt: Int) -> Double {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in run.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = hash &+ UInt64(attempt) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return Double((hash ^ (hash >> 31)) >> 11) / Double(1 << 53)
    }
}

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
