import HeapModule
import Ledger

/// Runs that wait for their next attempt's moment.
///
/// Moments are counted from the start of the machine, so that a clock that is set changes none.
struct Delays {
    private struct Due: Comparable {
        var at: Duration
        var id: String

        static func < (left: Due, right: Due) -> Bool { (left.at, left.id) < (right.at, right.id) }
    }

    private var runs: [String: (at: Duration, run: Waiting)] = [:]
    private var queue = Heap<Due>()

    subscript(id: String) -> Waiting? { runs[id]?.run }

    /// When the first one is due; nil: nobody waits.
    var next: Duration? { queue.min?.at }

    mutating func add(_ run: Waiting, until moment: Duration) {
        runs[run.id] = (moment, run)
        queue.insert(Due(at: moment, id: run.id))
    }

    @discardableResult
    mutating func remove(_ id: String) -> Waiting? { runs.removeValue(forKey: id)?.run }

    /// Takes out those whose moment has come.
    mutating func takeDue(at now: Duration) -> [Waiting] {
        var due: [Waiting] = []
        while let first = queue.min, first.at <= now {
            queue.removeMin()
            guard runs[first.id]?.at == first.at, let run = remove(first.id) else { continue }
            due.append(run)
        }
        return due
    }
}
