package import Timeline

/// Where an outbox entry is, and what happens to it next.
///
/// Decides only; the ledger's guard makes sure that nobody else decided meanwhile.
package struct OutboxEntry: Hashable, Codable, Sendable {
    /// Its state so far.
    package private(set) var state: OutboxState
    /// How many attempts counted.
    ///
    /// An entry that was tried once is frozen: its bytes never change.
    package private(set) var attempts: Int
    /// When it is due, while it is pending; until when a rule keeps it, while it is held.
    package private(set) var nextAt: Moment?
    /// When it was made.
    package let createdAt: Moment
    /// When it came to its end; only once it is settled.
    package private(set) var settledAt: Moment?

    /// An entry as it is stored; a new one is pending and due at once.
    package init(
        state: OutboxState = .pending, attempts: Int = 0, nextAt: Moment? = nil, createdAt: Moment,
        settledAt: Moment? = nil
    ) {
        self.state = state
        self.attempts = attempts
        switch state {
        case .pending: self.nextAt = nextAt ?? createdAt
        case .held: self.nextAt = nextAt
        case .waiting, .delivered, .dead, .suppressed, .superseded, .expired, .discarded: self.nextAt = nil
        }
        self.createdAt = createdAt
        self.settledAt = settledAt
    }

    /// When to try it: `nextAt`, unless a clock that was set left it further away than any wait is long.
    package func dueAt(_ now: Moment, policy: RetryPolicy) -> Moment? {
        nextAt.map { min($0, now + policy.longestWait) }
    }

    /// Takes in the end of an attempt.
    ///
    /// - Parameters:
    ///   - result: how the attempt ended.
    ///   - now: when.
    ///   - policy: how often and when to try again.
    ///   - random: where in the jitter's range to land, 0..<1.
    /// - Returns: how it ended; the entry has changed accordingly.
    package mutating func attempted(
        _ result: Result<Receipt, DeliveryError>, at now: Moment, policy: RetryPolicy, random: Double
    ) -> OutboxOutcome {
        precondition(state == .pending, "only a pending entry is attempted")
        switch result {
        case .success(let receipt):
            attempts += 1
            settle(.delivered, at: now)
            return .delivered(receipt)
        case .failure(let error) where error.reason == .stopping:
            return .uncounted
        case .failure(.giveUp(let reason, let detail, let status)):
            attempts += 1
            let error = DeliveryError.giveUp(reason, detail: detail, status: status)
            guard reason == .gone || reason == .channelClosed else {
                settle(.dead, at: now)
                return .dead(error)
            }
            state = .waiting
            nextAt = nil
            return .waiting(error)
        case .failure(let error):
            attempts += 1
            guard let wait = policy.wait(afterAttempt: attempts, error, random: random) else {
                settle(.dead, at: now)
                return .dead(error)
            }
            nextAt = now + wait
            return .retry(at: now + wait, error)
        }
    }

    /// Puts it in line for an attempt now, by a person's word or because its channel is enabled again.
    ///
    /// Says whether that is possible.
    /// Attempts go on counting: a dead entry gets one more, not a new schedule.
    package mutating func retry(at now: Moment) -> Bool {
        guard state == .pending || state.canBecome(.pending) else { return false }
        state = .pending
        nextAt = now
        settledAt = nil
        return true
    }

    /// Gives it up, by a person's word or with its channel; says whether that is possible.
    package mutating func discard(at now: Moment) -> Bool {
        guard state.canBecome(.discarded) else { return false }
        settle(.discarded, at: now)
        return true
    }

    private mutating func settle(_ end: OutboxState, at now: Moment) {
        state = end
        nextAt = nil
        settledAt = now
    }
}

/// The state of an outbox entry.
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
    /// Not sent, by a rule. Only in rows of earlier versions: never written, a verdict says it now. Stays so.
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
