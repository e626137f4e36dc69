package import Grouping
package import Timeline

/// A message as stored.
package struct MessageRecord: Hashable, Sendable {
    package var message: Message
    package var read: Bool
    package var pinned: Bool
    /// The id of the run that posted it.
    package var run: String?

    package init(message: Message, read: Bool = false, pinned: Bool = false, run: String? = nil) {
        self.message = message
        self.read = read
        self.pinned = pinned
        self.run = run
    }
}

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
