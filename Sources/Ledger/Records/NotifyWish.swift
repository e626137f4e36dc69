/// When a person is told of a wrapped command: `belfry exec --notify`.
package enum NotifyWish: String, Hashable, Sendable, Codable {
    /// Of every end, also where no route asks for it: what has none goes where failures go.
    case always
    /// Of failures and what is over with them, of nothing else.
    case failure
    /// Of nothing.
    case never
}
