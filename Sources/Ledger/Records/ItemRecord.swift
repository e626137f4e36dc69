package import Grouping
package import Timeline

/// An item as stored: its decider's state between two events, and its timer.
package struct ItemRecord: Hashable, Sendable {
    package var key: ItemKey
    /// Rises with every write.
    package var revision: Int64
    /// The decider's whole state as JSON (a `ThreadItem` or a `JobItem`).
    package var state: [UInt8]
    /// When the decider wants to be woken; nil: not before the next event.
    package var flushAt: Moment?
    package var updatedAt: Moment

    package init(key: ItemKey, revision: Int64, state: [UInt8], flushAt: Moment?, updatedAt: Moment) {
        self.key = key
        self.revision = revision
        self.state = state
        self.flushAt = flushAt
        self.updatedAt = updatedAt
    }
}
