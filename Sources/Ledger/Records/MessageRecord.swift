package import Grouping

/// A message as stored.
package struct MessageRecord: Hashable, Sendable {
    package var message: Message
    package var read: Bool
    package var pinned: Bool
    /// The id of the run that said it.
    package var run: String?

    package init(message: Message, read: Bool = false, pinned: Bool = false, run: String? = nil) {
        self.message = message
        self.read = read
        self.pinned = pinned
        self.run = run
    }
}
