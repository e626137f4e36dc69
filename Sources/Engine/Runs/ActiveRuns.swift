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

    /// How many more may be started now.
    func room(within limits: RunLimits) -> Int {
        let starting = runs.values.count { !$0.isOrdered || $0.record.state == .starting }
        return min(limits.running - count, limits.starting - starting)
    }

    /// The attempt's run, which the warden has just spoken of; nil when it is none of ours.
    mutating func known(_ key: RunKey) -> RunRecord? {
        guard let entry = runs[key.run], entry.record.attempt == key.attempt else { return nil }
        runs[key.run]?.isKnown = true
        return entry.record
    }

    /// A new connection: the warden has spoken of nothing yet.
    mutating func forgetConnection() {
        for id in runs.keys { runs[id]?.isKnown = false }
    }

    /// What to ask once the warden has told all it knows: after what it did not speak of; and who is to be ended is
    /// named again, because the word may have been lost with the connection.
    var questions: [WardenCommand] {
        runs.compactMap { id, entry in
            let key = RunKey(run: id, attempt: entry.record.attempt)
            guard entry.isOrdered else { return nil }
            if entry.isCanceled { return .cancel(key, reason: "asked") }
            return entry.isKnown ? nil : .query(key)
        }
    }
}
