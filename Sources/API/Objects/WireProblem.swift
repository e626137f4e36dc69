/// Something that is wrong with the daemon or its state, and a hint.
package struct WireProblem: Hashable, Sendable, Codable {
    /// How bad it is.
    package enum Severity: String, Hashable, Sendable, Codable, CaseIterable {
        /// Something fails by it.
        case problem
        /// Worth a look; nothing fails by it.
        case warning
    }

    /// A stable word, such as `noRoute`.
    package var kind: String
    /// One sentence.
    package var message: String
    /// What to do about it, where something can be done.
    package var hint: String?
    /// Absent from an older daemon, which knows only problems.
    package var severity: Severity?

    /// A problem of a kind.
    package init(kind: String, message: String, hint: String? = nil, severity: Severity = .problem) {
        self.kind = kind
        self.message = message
        self.hint = hint
        self.severity = severity
    }

    /// Whether it is only worth a look.
    package var isWarning: Bool { severity == .warning }
}
