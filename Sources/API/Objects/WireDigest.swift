/// What quiet hours or a budget kept back of an item from a channel.
package struct WireHeldItem: Hashable, Sendable, Codable {
    /// The channel.
    package var channel: String
    /// The item as it is shown now.
    package var item: WireItem
    /// When it would have been shown by itself.
    package var until: Timestamp?

    /// An item of a channel.
    package init(channel: String, item: WireItem, until: Timestamp?) {
        self.channel = channel
        self.item = item
        self.until = until
    }
}
