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
    /// `.held` by a rule; `.suppressed` where it is a recovery whose failure never arrived; `.superseded` while it was never tried; `.discarded` by hand.
    case pending
    /// Its channel is given up, or missing from the configuration.
    /// Becomes `.pending` when the channel may be used again, `.superseded`, `.expired` or `.discarded`.
    case waiting
    /// The other side took it; there is a receipt. Stays so.
    case delivered
    /// It failed for good, or too often. Becomes `.pending` by `outbox retry`, or `.discarded`.
    case dead
    /// A rule keeps it back until its moment; nothing that happens to its channel releases it.
    /// Becomes `.pending` at that moment or by `outbox retry`, `.suppressed` by a rule that came meanwhile,
    /// `.superseded`, `.expired` or `.discarded`.
    case held
    /// Held or pending, and then not sent by a rule; a verdict says which. Stays so.
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
        case .pending:
            [.delivered, .dead, .waiting, .held, .suppressed, .superseded, .expired, .discarded].contains(
                next)
        case .waiting: [.pending, .superseded, .expired, .discarded].contains(next)
        case .held: [.pending, .suppressed, .superseded, .expired, .discarded].contains(next)
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

/// How often an outbox entry is tried, and how long it waits in between.
///
/// - Source: Standard Webhooks 1.0.0, the recommended schedule; Svix for the jitter and the clamp.
package struct RetryPolicy: Hashable, Codable, Sendable {
    /// The waits after each failed attempt, the first one first; after the last of them it is dead.
    package var schedule: [Duration]
    /// The part, 0...1, by which each wait is made longer or shorter, so that many do not return at once.
    package var jitter: Double
    /// The least wait after an answer that says "too many".
    package var leastAfterThrottle: Duration
    /// A server may ask for a longer wait than scheduled: up to twice that, or up to this.
    package var longestAsked: Duration

    /// A policy; left out, that of Standard Webhooks: 10 attempts within 76 hours, jitter 20 %.
    package init(
        schedule: [Duration] = RetryPolicy.standardSchedule, jitter: Double = 0.2,
        leastAfterThrottle: Duration = .seconds(60), longestAsked: Duration = .seconds(3600)
    ) {
        self.schedule = schedule
        self.jitter = jitter
        self.leastAfterThrottle = leastAfterThrottle
        self.longestAsked = longestAsked
    }

    /// 5 s, 5 min, 30 min, then 2, 5, 10, 14, 20 and 24 hours.
    package static let standardSchedule: [Duration] = [
        .seconds(5), .seconds(300), .seconds(1800), .seconds(7200), .seconds(18_000), .seconds(36_000),
        .seconds(50_400), .seconds(72_000), .seconds(86_400),
    ]

    /// The longest wait there can be; a timer further away was left behind by a clock that was set.
    package var longestWait: Duration {
        let scheduled = (schedule.max() ?? .zero) * (1 + jitter)
        return max(scheduled, leastAfterThrottle * (1 + jitter), longestAsked, (schedule.max() ?? .zero) * 2)
    }

    /// How long to wait after `attempt` (from 1) failed; `nil` when no attempt is left.
    ///
    /// - Parameters:
    ///   - attempt: which attempt it was, from 1.
    ///   - error: why it failed, and what the other side asked for.
    ///   - random: where in the jitter's range to land, 0..<1.
    /// - Returns: never less than what was asked for, as far as that is heeded.
    package func wait(afterAttempt attempt: Int, _ error: DeliveryError, random: Double) -> Duration? {
        guard schedule.indices.contains(attempt - 1) else { return nil }
        let scheduled = schedule[attempt - 1]
        let base = error.reason == .throttled ? max(scheduled, leastAfterThrottle) : scheduled
        let spread = base * (1 + jitter * (2 * random - 1))
        guard case .retry(_, let asked?, _, _) = error else { return spread }
        return max(spread, min(asked, max(scheduled * 2, longestAsked)))
    }
}

/// Entries that fail although their channel works: a success of others must not hurry them at full speed.
///
/// When a channel works again, all that waits for it becomes due at once. An entry that its receiver refuses with
/// an answer like an outage's (500 for this one only) makes each of its failures look like an outage, and each
/// success of another like the end of one. It gets less of that the more often it fails while the channel works,
/// and in the end only its own schedule.
///
/// Kept by the channel, so that a restart does not hurry them again.
package struct Stragglers: Hashable, Codable, Sendable {
    private struct Entry: Hashable, Codable {
        var failures: Int
        var last: Moment
    }

    private var entries: [String: Entry] = [:]

    /// How long an entry is left alone after its second, third and fourth such failure; after that it is not hurried.
    private static let pauses: [Duration] = [.seconds(30), .seconds(300), .seconds(1800)]

    /// Nobody yet.
    package init() {}

    /// The entries that failed while the channel worked.
    package var ids: Set<String> { Set(entries.keys) }

    /// Notes a failure of an entry that is to be tried again.
    ///
    /// Only one that was sent while the channel worked speaks against the entry.
    package mutating func failed(_ id: String, whileWorking: Bool, at now: Moment) {
        guard whileWorking || entries[id] != nil else { return }
        entries[id] = Entry(failures: (entries[id]?.failures ?? 0) + (whileWorking ? 1 : 0), last: now)
    }

    /// Forgets an entry that came to its end.
    package mutating func settled(_ id: String) { entries[id] = nil }

    /// The entries that do not become due at once when the channel works again, with their earliest moment;
    /// nil: their own.
    package func notBefore() -> [String: Moment?] {
        entries.filter { $0.value.failures > 1 }.mapValues { entry in
            let place = entry.failures - 2
            return place < Self.pauses.count ? entry.last + Self.pauses[place] : nil
        }
    }
}
