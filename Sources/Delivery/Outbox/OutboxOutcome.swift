package import Timeline

/// What an attempt made of an outbox entry.
package enum OutboxOutcome: Hashable, Sendable {
    /// It was taken; there is this receipt.
    case delivered(Receipt)
    /// It failed and is tried again at this moment.
    case retry(at: Moment, DeliveryError)
    /// It failed for good, or once too often.
    case dead(DeliveryError)
    /// It failed because its channel wants nothing more; it waits in case the channel is enabled again.
    case waiting(DeliveryError)
    /// The attempt was broken off by us and counts for nothing.
    case uncounted
}
