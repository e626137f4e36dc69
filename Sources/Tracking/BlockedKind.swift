/// What a blocked run waits for.
///
/// - Source: OSC 7501 (Program Status Protocol), key `kind`.
public enum BlockedKind: String, Hashable, Sendable, Codable, CaseIterable {
    /// Leave to do something.
    case permission
    /// An answer.
    case question
    /// A login or a password.
    case auth
}
