package import Timeline

/// A way to a person or a program.
package protocol Channel: Sendable {
    /// The name it has in the config file.
    var name: String { get }
    /// What it was made of.
    var form: any ChannelForm { get }
    /// Stands for its address, its secrets and whom it may reach, and gives none of them away.
    ///
    /// What is known of a channel's troubles counts only for the same identity.
    var identity: String { get }
}

extension Channel {
    /// The kind of its form.
    package var kind: ChannelKind { form.kind }
}

/// A channel that sends each thing once.
package protocol EdgeChannel: Channel {
    /// Sends `parcel` one time, without a retry of its own.
    ///
    /// `now` goes into the signature and is another one on each attempt.
    /// - Returns: that it was accepted, with the status.
    /// - Throws: how the attempt failed; see ``DeliveryError``.
    func deliver(_ parcel: Parcel, at now: Moment) async throws(DeliveryError) -> Receipt
}

/// What an edge channel sends: finished bytes under an id.
package struct Parcel: Hashable, Codable, Sendable {
    /// The outbox entry's id, the same on every attempt; contains no dot.
    package var id: String
    /// The event's type, as `run.failed`.
    package var type: String
    /// When the event happened, not when it is sent.
    package var timestamp: Moment
    /// The very bytes that its form rendered when it was queued.
    package var body: [UInt8]
    /// Which attempt this is, from 1.
    package var attempt: Int

    /// A parcel for one attempt.
    package init(id: String, type: String, timestamp: Moment, body: [UInt8], attempt: Int) {
        self.id = id
        self.type = type
        self.timestamp = timestamp
        self.body = body
        self.attempt = attempt
    }
}
