import Synchronization

/// The state of the store between the commits.
package enum StoreCondition: Hashable, Sendable {
    /// It accepts everything. Becomes any other.
    case sound
    /// The disk is full, and the reserve is freed: new work is refused, changes that end old work are not.
    /// Becomes `.sound` when the space could be reserved again.
    case short
    /// The last commit failed for this reason. Becomes `.sound` by the next one that does not.
    case refusing(LedgerError)
}

/// The store's condition, published when it changes.
final class StoreHealth: Sendable {
    private let current = Mutex(StoreCondition.sound)
    private let changes = Broadcast<StoreCondition>()

    var condition: StoreCondition { current.withLock { $0 } }

    func note(_ condition: StoreCondition) {
        current.withLock { current in
            guard current != condition else { return }
            current = condition
            changes.publish(condition)
        }
    }

    /// The condition at once, then each change; a slow listener sees the newest.
    func listen() -> AsyncStream<StoreCondition> {
        current.withLock { changes.listen(first: $0) }
    }

    func end() { changes.end() }
}
