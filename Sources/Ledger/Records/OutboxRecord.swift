package import Delivery
package import Timeline

/// An outbox entry as stored: an edge for one webhook-like channel.
package struct OutboxRecord: Hashable, Sendable {
    /// Also the webhook-id of every attempt; holds no `.`.
    package var id: String
    package var channel: String
    /// What made it; one entry a cause.
    ///
    /// `event:SEQ:CHANNEL` or `item:KEY:REVISION:CHANNEL`.
    package var cause: String
    /// The event type it is about.
    package var type: String
    /// Why it rang.
    package var reason: String
    package var state: OutboxState
    package var attempts: Int
    package var nextAt: Moment?
    package var lastError: String?
    package var status: Int?
    package var createdAt: Moment
    package var settledAt: Moment?
    /// The id of the run it is about.
    package var run: String?
    /// The text form of the key of the item it is about.
    package var item: String?
    /// The very bytes that are signed and sent.
    package var body: [UInt8]

    package init(
        id: String, channel: String, cause: String, type: String, reason: String,
        state: OutboxState = .pending, createdAt: Moment, nextAt: Moment?, run: String? = nil,
        item: String? = nil, body: [UInt8]
    ) {
        self.id = id
        self.channel = channel
        self.cause = cause
        self.type = type
        self.reason = reason
        self.state = state
        self.attempts = 0
        self.nextAt = nextAt
        self.createdAt = createdAt
        self.run = run
        self.item = item
        self.body = body
    }
}

/// What is known of a delivery.
package struct ReceiptRecord: Hashable, Sendable {
    /// The outbox entry's id, or `CHANNEL/ITEMKEY` for a surface.
    package var outbox: String
    package var receipt: Receipt

    package init(outbox: String, receipt: Receipt) {
        self.outbox = outbox
        self.receipt = receipt
    }
}
