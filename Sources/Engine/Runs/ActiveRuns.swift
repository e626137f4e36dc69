import Ledger
import Performing
import Tracking

/// The runs in the keeper's hands, by id.
struct ActiveRuns {
    private var runs: [String: ActiveRun] = [:]

    subscript(id: String) -> ActiveRun? {
        get { runs[id] }
        set { runs[id] = newValue }
    }

    /// How many there are.
    var count: Int { runs.count }

    /// How many were ordered from their performers.
    var ordered: Int { runs.values.count { $0.isOrdered } }

    /// Whether the performer has not yet reported one that was ordered from it.
    func hasUnreported(by performer: PerformerKind) -> Bool {
        runs.values.contains { $0.performer == performer && $0.isOrdered && !$0.isKnown && !$0.isLeaving }
    }

    /// Whether the performer was asked or ordered something and has still to answer; how long an end takes depends on
    /// the job.
    func isAnswerOwed(by performer: PerformerKind) -> Bool {
        runs.values.contains { run in
            guard run.performer == performer, run.isOrdered, !run.isLeaving, !run.isUndecided else {
                return false
            }
            let isAsked = run.isAsked && run.record.endAsked == nil
            return isAsked || !run.isKnown || run.record.state == .starting
        }
    }

    /// How many more may be started now.
    func room(within limits: RunLimits) -> Int { limits.running - runs.values.count { !$0.isLeaving } }

    /// What keeps one more from being started; nil: nothing.
    func obstacle(within limits: RunLimits) -> RunReason? {
        room(within: limits) <= 0 ? .runningCap : nil
    }

    /// The attempt's run, which its performer has just reported; nil when it is none of ours.
    func known(_ key: RunKey) -> RunRecord? {
        guard let entry = runs[key.run], entry.record.attempt == key.attempt || entry.isLeaving else {
            return nil
        }
        entry.isKnown = true
        entry.isAsked = false
        return entry.record
    }

    /// A new connection: the performer has reported nothing yet.
    func forgetConnection(to performer: PerformerKind) {
        for run in runs.values where run.performer == performer {
            run.isKnown = false
            run.isAsked = false
        }
    }

    /// What to ask once the performer has reported all it knows: about what it did not report; and each cancel again,
    /// because the first may have been lost with the connection.
    func questions(for performer: PerformerKind) -> [PerformerRequest] {
        var questions: [PerformerRequest] = []
        for (id, entry) in runs where entry.performer == performer && entry.isOrdered && !entry.isLeaving {
            let key = RunKey(run: id, attempt: entry.record.attempt)
            if let why = entry.record.endAsked {
                questions.append(.cancel(key, reason: why.rawValue))
            } else if !entry.isKnown {
                questions.append(.ask(key))
            } else {
                continue
            }
            entry.isAsked = true
        }
        return questions
    }
}
