import Ledger
import Tracking
import WardenProtocol

/// The runs in the keeper's hands, by id.
struct ActiveRuns {
    private var runs: [String: ActiveRun] = [:]

    subscript(id: String) -> ActiveRun? {
        get { runs[id] }
        set { runs[id] = newValue }
    }

    /// How many there are.
    var count: Int { runs.count }

    /// How many the warden was told to start.
    var ordered: Int { runs.values.count { $0.isOrdered } }

    /// Whether the warden has not yet said what became of one it was told to start.
    var isAnyUnheard: Bool { runs.values.contains { $0.isOrdered && !$0.isKnown && !$0.isLeaving } }

    /// Whether the warden was asked or ordered something and has still to answer; how long an end takes is the
    /// job's affair.
    var isAnswerOwed: Bool {
        runs.values.contains { run in
            guard run.isOrdered, !run.isLeaving, !run.isUndecided else { return false }
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

    /// The attempt's run, which the warden has just spoken of; nil when it is none of ours.
    func known(_ key: RunKey) -> RunRecord? {
        guard let entry = runs[key.run], entry.record.attempt == key.attempt || entry.isLeaving else {
            return nil
        }
        entry.isKnown = true
        entry.isAsked = false
        return entry.record
    }

    /// A new connection: the warden has spoken of nothing yet.
    func forgetConnection() {
        for run in runs.values {
            run.isKnown = false
            run.isAsked = false
        }
    }

    /// What to ask once the warden has told all it knows: after what it did not speak of; and who is to be ended is
    /// named again, because the word may have been lost with the connection.
    func ask() -> [WardenCommand] {
        var questions: [WardenCommand] = []
        for (id, entry) in runs where entry.isOrdered && !entry.isLeaving {
            let key = RunKey(run: id, attempt: entry.record.attempt)
            if let why = entry.record.endAsked {
                questions.append(.cancel(key, reason: why.rawValue))
            } else if !entry.isKnown {
                questions.append(.query(key))
            } else {
                continue
            }
            entry.isAsked = true
        }
        return questions
    }
}
