package import Delivery
package import Timeline

/// What one item should look like on a channel that edits in place, and what it does look like.
package struct SurfaceRecord: Hashable, Sendable {
    package var channel: String
    /// The text form of the item's key.
    package var item: String
    /// The item's revision it should show.
    package var wanted: Int64
    /// Whether showing it should ring.
    package var ring: Bool
    package var wantedAt: Moment
    /// The revision it shows; 0: none yet.
    package var shown: Int64
    package var remote: RemoteID?
    /// A person closed it: it stays closed until the item rings again.
    package var dismissed: Bool
    /// The revision that the far end refused for good, as long as nothing newer was shown; 0: none.
    package var refused: Int64
    /// Why it was refused, one line.
    package var refusal: String?

    package init(channel: String, item: String, wanted: Int64, ring: Bool, wantedAt: Moment) {
        self.channel = channel
        self.item = item
        self.wanted = wanted
        self.ring = ring
        self.wantedAt = wantedAt
        self.shown = 0
        self.remote = nil
        self.dismissed = false
        self.refused = 0
        self.refusal = nil
    }
}

/// A channel's memory between starts.
package struct ChannelRecord: Hashable, Sendable {
    package var name: String
    /// The circuit's state as JSON (a `Circuit`).
    package var circuit: [UInt8]
    /// Whose circuit it is: the channel's ``EdgeChannel/identity``; nil in records of older versions.
    package var identity: String?
    package var updatedAt: Moment

    package init(name: String, circuit: [UInt8], identity: String? = nil, updatedAt: Moment) {
        self.name = name
        self.circuit = circuit
        self.identity = identity
        self.updatedAt = updatedAt
    }
}
