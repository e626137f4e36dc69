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

/// What a server calls the thing it shows for us.
package struct RemoteID: Hashable, Codable, Sendable {
    /// The life of the server that gave the id, as the unique name of its bus connection.
    ///
    /// Ids die with the server; an id of another generation must never be used, it may hit a stranger.
    package var generation: String
    /// The id within that generation.
    package var id: String

    /// An id given by the server of that generation.
    package init(generation: String, id: String) {
        self.generation = generation
        self.id = id
    }
}
