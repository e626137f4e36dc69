/// What a run waits for, as a word for programs.
///
/// The raw values are stable.
package enum WaitKind: String, Hashable, Sendable, Codable, CaseIterable {
    /// For the part of its spread that its name gave it, or for the delay after a boot.
    case spread
    /// For the next attempt's moment after one that failed.
    case retry
    /// For the same, of an attempt that met no network, or nobody at the other end.
    case network
    /// For others to end, because as many runs as allowed are under way.
    case cap
    /// For its turn with its bot.
    case lane
    /// For the runs of its job before it.
    case overlap
    /// For others of its concurrency key.
    case concurrency
    /// For a warden that could start it.
    case warden
    /// For an answer of a person.
    case question
    /// For a person's leave to do something.
    case permission
    /// For a login or a password.
    case auth

    /// The reason of a run that waits for this before it starts; nil: it has started.
    package var reason: RunReason? {
        switch self {
        case .spread: .spread
        case .retry, .network: .retryWait
        case .cap: .runningCap
        case .lane: .lane
        case .overlap: .overlap
        case .concurrency: .concurrency
        case .warden: .wardenAway
        case .question, .permission, .auth: nil
        }
    }

    /// What a blocked run waits for; an answer, where it did not report which kind.
    package init(_ kind: BlockedKind?) {
        self =
            switch kind {
            case .question, nil: .question
            case .permission: .permission
            case .auth: .auth
            }
    }
}
