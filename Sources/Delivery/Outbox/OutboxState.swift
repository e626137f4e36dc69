/// What became of an outbox entry.
///
/// `sending` is not among them: it is shown by whoever holds the connection, and never stored.
package enum OutboxState: String, Hashable, Codable, Sendable, CaseIterable {
    /// To be sent at its moment, or again after a failed attempt.
    /// Becomes `.delivered`, `.dead` or `.expired`; `.waiting` when its channel is given up or missing;
    /// `.held` by a rule; `.superseded` while it was never tried; `.discarded` by hand.
    case pending
    /// Its channel is given up, or missing from the configuration.
    /// Becomes `.pending` when the channel may be used again, `.superseded`, `.expired` or `.discarded`.
    case waiting
    /// The other side took it; there is a receipt. Stays so.
    case delivered
    /// It failed for good, or too often. Becomes `.pending` by `outbox retry`, or `.discarded`.
    case dead
    /// A rule keeps it back until its moment; nothing that happens to its channel releases it.
    /// Becomes `.pending` at that moment or by `outbox retry`, `.superseded`, `.expired` or `.discarded`.
    case held
    /// Not sent, by a silence, a budget or a setting; kept to say why not. Stays so.
    case suppressed
    /// A newer entry of the same item says more; this one was never tried. Stays so.
    case superseded
    /// Too old to be of use when its turn came. Becomes `.pending` by `outbox retry`, or `.discarded`.
    case expired
    /// Given up by a person. Stays so.
    case discarded

    /// Whether nothing more happens by itself.
    package var isSettled: Bool {
        switch self {
        case .pending, .waiting, .held: false
        case .delivered, .dead, .suppressed, .superseded, .expired, .discarded: true
        }
    }

    /// Whether an entry may go from this state to `next`; never to the same.
    package func canBecome(_ next: OutboxState) -> Bool {
        switch self {
        case .pending: [.delivered, .dead, .waiting, .held, .superseded, .expired, .discarded].contains(next)
        case .waiting, .held: [.pending, .superseded, .expired, .discarded].contains(next)
        case .dead, .expired: [.pending, .discarded].contains(next)
        case .delivered, .suppressed, .superseded, .discarded: false
        }
    }
}
