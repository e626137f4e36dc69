/// What quiet hours or a budget kept back of an item from a channel.
package struct WireHeldItem: Hashable, Sendable, Codable {
    /// The channel.
    package var channel: String
    /// The item as it is shown now; of what waits in the outbox, its reason is how a digest lists it.
    package var item: WireItem
    /// When it would have been shown by itself.
    package var until: Timestamp?
    /// The id of the outbox entry, on a channel that is sent each thing once.
    package var outbox: String?

    /// An item of a channel.
    package init(channel: String, item: WireItem, until: Timestamp?) {
        self.channel = channel
        self.item = item
        self.until = until
    }
}
