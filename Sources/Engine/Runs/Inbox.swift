import Synchronization

/// What came while its owner was busy, in order, taken all at once.
///
/// One commit for many events is what keeps the ledger's syncs few.
final class Inbox<Element: Sendable>: Sendable {
    private let waiting = Mutex<[Element]>([])

    func put(_ element: Element) {
        waiting.withLock { $0.append(element) }
    }

    func takeAll() -> [Element] {
        waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }
}
