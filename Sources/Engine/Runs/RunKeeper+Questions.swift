import Ledger
import Timeline
import Tracking

// Runs that wait for the answer to a question.

extension RunKeeper {
    /// The runs that wait for the answer to a question, by id; those that did, or were left waiting by an earlier daemon
    /// (`before`), and are not among them go on.
    func setAsking(_ runs: Set<String>, before: Set<String> = []) {
        asking.shown.formUnion(before)
        guard runs != asking.due || !before.isEmpty else { return }
        asking.due = runs
        loop.bell.ring()
    }

    /// Shows which runs wait for an answer; what a run that has not started yet asks is shown once it has.
    func noteQuestions(into steps: inout [RunStep]) async {
        guard asking.due != asking.shown else { return }
        let now = clock.now
        for id in asking.shown.subtracting(asking.due) {
            record(
                await board.receive(ProgressReport(word: .working), of: id, at: now), at: now, into: &steps)
            asking.shown.remove(id)
        }
        for id in asking.due.subtracting(asking.shown) {
            guard let state = runs.active[id]?.record.state, state != .starting else { continue }
            let blocked = ProgressReport(word: .blocked(.question))
            record(
                await board.receive(blocked, of: id, at: now), at: now, isAsked: true, into: &steps)
            asking.shown.insert(id)
        }
    }
}

/// The runs with open questions: those that should be shown as waiting, and those that are.
struct AskingRuns {
    var due: Set<String> = []
    var shown: Set<String> = []
}
