import Ledger
import Timeline
import Tracking

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

    /// The most that the attempt after this one of `spec` waits: what a stored moment says beyond that, it said by a
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
