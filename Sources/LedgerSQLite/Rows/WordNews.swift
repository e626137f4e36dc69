import Ledger
import Synchronization

/// Which messages the index of words may lack.
///
/// Entering the words of one message costs as much as all else that is written of it, and those of a hundred little
/// more: the writer enters them when they are many, or when somebody is about to search.
final class WordNews: Sendable {
    /// So many are entered without being asked for.
    private static let many = 256

    private let missing = Atomic<Int>(0)
    private let isAsked = Atomic<Bool>(false)
    private let isGivenUp = Atomic<Bool>(false)

    /// Whether the next transaction enters them.
    var areDue: Bool {
        if isGivenUp.load(ordering: .relaxed) { return false }
        let missing = missing.load(ordering: .relaxed)
        return missing >= Self.many || missing > 0 && isAsked.load(ordering: .relaxed)
    }

    /// Has the next transaction enter what is missing; false: nothing is.
    func ask() -> Bool {
        guard missing.load(ordering: .relaxed) > 0 else { return false }
        isAsked.store(true, ordering: .relaxed)
        return true
    }

    func add(_ count: Int) { missing.add(count, ordering: .relaxed) }

    /// Counts the messages among `changes`; those that were there before may be counted again.
    func add(_ changes: [Change]) {
        for case .insertMessage in changes { add(1) }
    }

    /// The index is damaged: nothing is entered any more.
    func giveUp() { isGivenUp.store(true, ordering: .relaxed) }

    /// They are entered.
    func forget() {
        missing.store(0, ordering: .relaxed)
        isAsked.store(false, ordering: .relaxed)
    }
}
