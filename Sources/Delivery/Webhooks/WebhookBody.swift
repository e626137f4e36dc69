package import Timeline
package import Tracking

/// What a webhook says: the event's type, when it happened, why it was sent, and what it is about.
///
/// - Source: Standard Webhooks 1.0.0, the payload.
package struct WebhookBody: Hashable, Sendable {
    /// The event's type, as `run.failed`.
    package var type: String
    /// When the event happened.
    package var timestamp: Moment
    /// Why it was sent.
    package var reason: String
    /// The objects it is about, by name: `run`, `item`, `question`, `channel`.
    package var objects: [JSON.Member]

    /// What a webhook says.
    package init(type: String, timestamp: Moment, reason: String, objects: [JSON.Member] = []) {
        self.type = type
        self.timestamp = timestamp
        self.reason = reason
        self.objects = objects
    }

    /// The bytes to sign and send; the same for the same value.
    package var bytes: [UInt8] {
        JSON.object([
            "type": .string(type),
            "timestamp": .string(timestamp.iso8601),
            "data": .members([JSON.Member("reason", .string(reason))] + objects),
        ]).bytes
    }
}
