/// What is known of a delivery.
package struct WireReceipt: Hashable, Sendable, Codable {
    /// The outbox entry's id.
    package var outbox: String
    /// When it came.
    package var at: Timestamp
    /// `accepted`, `shown`, `seen` or `acted`.
    package var kind: String
    /// What the other side said with it.
    package var detail: String?

    /// A receipt of a kind.
    package init(outbox: String, at: Timestamp, kind: String, detail: String? = nil) {
        self.outbox = outbox
        self.at = at
        self.kind = kind
        self.detail = detail
    }
}
