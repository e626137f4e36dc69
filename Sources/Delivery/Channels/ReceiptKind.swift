/// How far a delivery got; each case can only grow into a later one.
package enum ReceiptKind: String, Hashable, Codable, Sendable, CaseIterable {
    /// The other side took it (2xx). Becomes `.shown`, `.seen` or `.acted` where that can be known.
    case accepted
    /// It is on a screen. Becomes `.seen` or `.acted`.
    case shown
    /// A person closed or read it. Becomes `.acted`.
    case seen
    /// A person answered or pressed a button.
    case acted
}
