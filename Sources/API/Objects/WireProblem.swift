/// Something that is wrong with the house, and its mend.
package struct WireProblem: Hashable, Sendable, Codable {
    /// A stable word, such as `noRoute`.
    package var kind: String
    /// One sentence.
    package var message: String
    /// What to do about it, where something can be done.
    package var hint: String?

    /// A problem of a kind.
    package init(kind: String, message: String, hint: String? = nil) {
        self.kind = kind
        self.message = message
        self.hint = hint
    }
}
