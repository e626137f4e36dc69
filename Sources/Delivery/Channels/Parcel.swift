package import Timeline

/// What an edge channel sends: finished bytes under an id.
package struct Parcel: Hashable, Codable, Sendable {
    /// The outbox entry's id, the same on every attempt; contains no dot.
    package var id: String
    /// The event's type, as `run.failed`.
    package var type: String
    /// When the event happened, not when it is sent.
    package var timestamp: Moment
    /// The very bytes to sign and send: UTF-8 JSON.
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
