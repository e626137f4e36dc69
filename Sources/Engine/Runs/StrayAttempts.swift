import Ledger
import Performing
import Tracking

/// Attempts that a performer reported and that were in nobody's hand, with what to answer once their rows are known.
///
/// A keeper may lose a run that is still under way, to a commit of the daemon before it, and take it up again: only
/// the row says whether an attempt is over. A record that is released too early is an attempt executed twice.
struct StrayAttempts {
    private var answers: [String: [Int: PerformerRequest]] = [:]

    /// Keeps the answer that releases the attempt.
    mutating func note(_ key: RunKey, _ answer: PerformerRequest) {
        answers[key.run, default: [:]][key.attempt] = answer
    }

    /// Somebody has taken the attempt up.
    mutating func forget(_ key: RunKey) {
        guard answers[key.run]?.removeValue(forKey: key.attempt) != nil else { return }
        if answers[key.run]?.isEmpty == true { answers[key.run] = nil }
    }

    /// A new connection: the performer reports all of it again.
    mutating func forgetConnection() { answers = [:] }

    /// The answers that may be given now that the run's row was read; `row` is nil when there is none.
    ///
    /// The attempt that the row is at, and any after it, is kept while the run has not ended.
    mutating func release(_ run: String, _ row: RunRecord?) -> [PerformerRequest] {
        guard let waiting = answers.removeValue(forKey: run) else { return [] }
        let isUnderWay = row.map { !$0.state.isEnded } ?? false
        let kept = isUnderWay ? waiting.filter { $0.key >= row?.attempt ?? 0 } : [:]
        if !kept.isEmpty { answers[run] = kept }
        return waiting.filter { kept[$0.key] == nil }.sorted { $0.key < $1.key }.map(\.value)
    }
}
