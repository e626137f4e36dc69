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

/// Whether a channel may be used: keeps one that fails from being hammered, and finds out when it is back.
package struct Circuit: Hashable, Codable, Sendable {
    /// Where a circuit is.
    package enum State: Hashable, Codable, Sendable {
        /// All is well. Becomes `.open` or `.disabled`.
        case closed
        /// Left alone until that moment. Becomes `.halfOpen`, or `.disabled` by a late answer.
        case open(until: Moment)
        /// One probe is out. Becomes `.closed`, `.open` again, or `.disabled`.
        case halfOpen
        /// Given up, for that reason. Becomes `.closed` when a person enables it.
        case disabled(DeliveryReason)
    }

    /// An answer to "may I send?".
    package enum Permission: Hashable, Sendable {
        /// Send.
        case granted
        /// Ask again at that moment.
        case waitUntil(Moment)
        /// A probe is out: ask again when its end is known.
        case waitForProbe
        /// Not before a person enables the channel.
        case refused
    }

    /// Where it is.
    package private(set) var state = State.closed
    /// When it last changed ``state`` between well and not well; absent while it never did.
    package private(set) var since: Moment?
    /// The last failure, one line; absent after a success.
    package private(set) var lastError: String?
    /// Its reason; absent after a success.
    package private(set) var lastReason: DeliveryReason?

    /// Failures since the last success.
    private(set) var failures = 0
    /// For how long there were only failures, as far as attempts can say; absent while there are none.
    private var failingFor: Duration?
    /// When the last failure was, since boot; absent where this daemon saw none.
    private var lastFailureAt: Duration?
    /// Whether the channel, and not only what it was sent, failed since its last success; absent in old records.
    private var isOut: Bool?
    private var openings = 0
    /// The last ends of attempts, the newest in the lowest bit; 1 is a failure.
    private var ends: UInt32 = 0
    private var knownEnds = 0

    /// A circuit of a channel that was never used.
    package init() {}

    /// Whether the channel failed, and has not worked since: its next success ends an outage.
    package var hasOutage: Bool { state != .closed || (isOut ?? (failures > 0)) }

    /// Whether anything may be sent now.
    ///
    /// The first to ask after the pause is let through as the probe; the others wait for its end.
    package mutating func ask(at now: Moment, policy: CircuitPolicy) -> Permission {
        switch state {
        case .closed: return .granted
        case .halfOpen: return .waitForProbe
        case .disabled: return .refused
        case .open(let until):
            let until = min(until, now + pause(policy))
            guard until <= now else {
                state = .open(until: until)
                return .waitUntil(until)
            }
            state = .halfOpen
            return .granted
        }
    }

    /// Goes on after a restart, as the last daemon left it.
    ///
    /// A probe that went out before has no end any more: the next one is let through at once. The time in which
    /// no daemon ran does not count as failing.
    package mutating func resume(at now: Moment) {
        forgetProbe(at: now)
        lastFailureAt = nil
    }

    /// Takes back a probe that came to no end: the next one is let through at once.
    package mutating func forgetProbe(at now: Moment) {
        if state == .halfOpen { state = .open(until: now) }
    }

    /// Lets the next one through as the probe, also where the channel was given up: somebody else is there now.
    package mutating func probe(at now: Moment) {
        if state != .closed { state = .open(until: now) }
    }

    /// Takes in the end of an attempt, and returns what people must know.
    ///
    /// `sinceBoot` is the time since the machine started: how long a channel fails is measured by it, whatever
    /// happens to the clock on the wall.
    package mutating func recorded(
        _ result: Result<Receipt, DeliveryError>, at now: Moment, sinceBoot: Duration, policy: CircuitPolicy
    ) -> CircuitNews? {
        if case .disabled = state { return nil }
        switch result {
        case .success: return succeeded(at: now, policy)
        case .failure(let error):
            switch error.reason {
            case .stopping, .unsendable, .channelClosed:
                forgetProbe(at: now)
                return nil
            case .gone: return disable(error, at: now)
            default: return failed(error, at: now, sinceBoot, policy)
            }
        }
    }

    /// A person enabled it again; what was held may go.
    package mutating func enable(at now: Moment) {
        self = Circuit()
        since = now
    }
}

extension Circuit {
    private mutating func succeeded(at now: Moment, _ policy: CircuitPolicy) -> CircuitNews? {
        let wasClosed = state == .closed
        failures = 0
        failingFor = nil
        lastFailureAt = nil
        isOut = nil
        lastError = nil
        lastReason = nil
        guard !wasClosed else {
            note(isFailure: false)
            return nil
        }
        self = Circuit()
        since = now
        return .restored
    }

    private mutating func failed(
        _ error: DeliveryError, at now: Moment, _ sinceBoot: Duration, _ policy: CircuitPolicy
    ) -> CircuitNews? {
        note(isFailure: true)
        // Asked before this failure counts.
        let wasOut = hasOutage
        failures += 1
        lastError = error.sentence
        lastReason = error.reason
        isOut = wasOut || error.reason.isOutage
        let gap = lastFailureAt.map { max(.zero, sinceBoot - $0) } ?? .zero
        let failingFor = (failingFor ?? .zero) + min(gap, policy.longestGap)
        self.failingFor = failingFor
        lastFailureAt = sinceBoot
        if failingFor >= policy.disableAfter, failures >= policy.leastFailuresToDisable {
            return disable(error, at: now)
        }
        switch state {
        case .closed where failures >= policy.failuresInARow || mostFailed(policy):
            open(at: now, policy)
            since = now
            return .failing
        case .halfOpen:
            open(at: now, policy)
            return nil
        case .closed, .open, .disabled:
            return nil
        }
    }

    private mutating func open(at now: Moment, _ policy: CircuitPolicy) {
        openings += 1
        state = .open(until: now + pause(policy))
    }

    private mutating func disable(_ error: DeliveryError, at now: Moment) -> CircuitNews {
        state = .disabled(error.reason)
        since = now
        lastError = error.sentence
        lastReason = error.reason
        return .disabled
    }

    private func pause(_ policy: CircuitPolicy) -> Duration {
        guard !policy.probeAfter.isEmpty else { return .zero }
        return policy.probeAfter[min(max(openings, 1), policy.probeAfter.count) - 1]
    }

    private mutating func note(isFailure: Bool) {
        ends = ends << 1 | (isFailure ? 1 : 0)
        knownEnds = min(knownEnds + 1, 32)
    }

    private func mostFailed(_ policy: CircuitPolicy) -> Bool {
        guard policy.window > 0, knownEnds >= policy.window else { return false }
        let window = policy.window == 32 ? ends : ends & (1 << UInt32(policy.window) - 1)
        return window.nonzeroBitCount * 2 > policy.window
    }
}

/// A change of a circuit that people are notified of, on another channel.
package enum CircuitNews: String, Hashable, Codable, Sendable, CaseIterable {
    /// It opened: entries for it wait.
    case failing
    /// It was given up: entries for it wait.
    case disabled
    /// It works again: what waited goes out now.
    case restored

    /// The fact of it.
    package func fact(_ channel: Fact.Channel) -> Fact {
        switch self {
        case .failing: .channelFailing(channel)
        case .disabled: .channelDisabled(channel)
        case .restored: .channelRestored(channel)
        }
    }

    /// The sentence for a person: which channel, what went wrong in `error`, and for what `reason`.
    ///
    /// Of a level, which edits in place, nothing waits in the outbox.
    package func words(
        of channel: String, _ error: String, reason: DeliveryReason?, isLevel: Bool = false
    ) -> String {
        let why = error.isEmpty ? "" : ": \(error)"
        switch self {
        case .failing where isLevel: return "Channel \"\(channel)\" fails\(why). Its notices are held."
        case .disabled where isLevel:
            return "Channel \"\(channel)\" was given up\(why). Its notices are held until "
                + "belfry channel test \(channel) reaches it."
        case .restored where isLevel:
            return "Channel \"\(channel)\" works again; what waited is shown now."
        case .failing where reason?.isFinal == true:
            return "Channel \"\(channel)\" rejects deliveries\(why). Rejected entries are dead; "
                + "see: belfry outbox --state dead. New ones wait."
        case .failing: return "Channel \"\(channel)\" fails\(why). Entries for it wait; see: belfry outbox"
        case .disabled:
            return "Channel \"\(channel)\" was given up\(why). Entries for it wait until "
                + "belfry channel test \(channel) reaches it."
        case .restored: return "Channel \"\(channel)\" works again; what waited for it is sent now."
        }
    }

    /// What a person reads when `channel` edits in place and the news is of one `item` there.
    package func words(of item: String, on channel: String, _ error: String) -> String {
        switch self {
        case .failing, .disabled:
            let why = error.isEmpty ? "" : ": \(error)"
            return "Channel \"\(channel)\" does not show \(item)\(why). It is tried again when it changes."
        case .restored: return "Channel \"\(channel)\" shows \(item) again."
        }
    }
}
