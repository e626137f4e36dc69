import Ledger
import Synchronization

/// Who decides in every transaction that appends events.
final class Followers: Sendable {
    private let turns = Mutex<[any Turn & AnyObject]>([])

    /// All of them, in the order they came.
    var all: [any Turn & AnyObject] { turns.withLock(\.self) }

    func add(_ turn: any Turn & AnyObject) {
        turns.withLock { $0.append(turn) }
    }

    func remove(_ turn: any Turn & AnyObject) {
        turns.withLock { $0.removeAll { $0 === turn } }
    }
}
