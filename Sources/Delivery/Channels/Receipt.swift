package import Timeline

/// What is known of a delivery: never more than the other side said.
package struct Receipt: Hashable, Codable, Sendable {
    /// When it was known.
    package var at: Moment
    /// How far it got.
    package var kind: ReceiptKind
    /// A word more, as the head of the answer; at most a line, without secrets.
    package var detail: String
    /// The HTTP status, where there is one.
    package var status: Int?

    /// A receipt.
    package init(at: Moment, kind: ReceiptKind, detail: String = "", status: Int? = nil) {
        self.at = at
        self.kind = kind
        self.detail = detail
        self.status = status
    }
}
