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
            guard run.isOrdered, !run.isLeaving else { return false }
            let isAsked = run.isAsked && run.record.endAsked == nil
            return isAsked || !run.isKnown || run.record.state == .starting
        }
    }

    /// How many more may be started now.
    func room(within limits: RunLimits) -> Int {
        let left = left(of: limits)
        return min(left.running, left.starting)
    }

    /// What keeps one more from being started; nil: nothing.
    func obstacle(within limits: RunLimits) -> RunReason? {
        let left = left(of: limits)
        return left.running <= 0 ? .runningCap : left.starting <= 0 ? .startingCap : nil
    }

    private func left(of limits: RunLimits) -> RunLimits {
        var left = limits
        for run in runs.values where !run.isLeaving {
            left.running -= 1
            if !run.isOrdered || run.record.state == .starting { left.starting -= 1 }
        }
        return left
    }

    /// The attempt's run, which the warden has just spoken of; nil when it is none of ours.
    mutating func known(_ key: RunKey) -> RunRecord? {
        guard let entry = runs[key.run], entry.record.attempt == key.attempt || entry.isLeaving else {
            return nil
        }
        runs[key.run]?.isKnown = true
        runs[key.run]?.isAsked = false
        return entry.record
    }

    /// A new connection: the warden has spoken of nothing yet.
    mutating func forgetConnection() {
        for id in runs.keys {
            runs[id]?.isKnown = false
            runs[id]?.isAsked = false
        }
    }

    /// What to ask once the warden has told all it knows: after what it did not speak of; and who is to be ended is
    /// named again, because the word may have been lost with the connection.
    mutating func ask() -> [WardenCommand] {
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
            runs[id]?.isAsked = true
        }
        return questions
    }
}
