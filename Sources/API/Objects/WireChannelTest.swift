/// What came of a test notice.
package struct WireChannelTest: Hashable, Sendable, Codable {
    /// The name of the channel.
    package var channel: String
    /// `delivered`, `failed`, or `pending` when nothing is known yet.
    package var outcome: String
    /// What is known beyond that: a status, an error, a receipt; one line.
    package var detail: String?
    /// The outbox entry's id, of a channel that has an outbox.
    package var outbox: String?

    /// A test of a channel with its outcome.
    package init(channel: String, outcome: String, detail: String? = nil, outbox: String? = nil) {
        self.channel = channel
        self.outcome = outcome
        self.detail = detail
        self.outbox = outbox
    }
}
