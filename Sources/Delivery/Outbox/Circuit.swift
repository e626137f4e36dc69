package import Timeline

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

/// When a channel that keeps failing is left alone, and when it is given up.
package struct CircuitPolicy: Hashable, Codable, Sendable {
    /// Opens after this many failures in a row.
    package var failuresInARow: Int
    /// Opens when more than half of the last this many failed; at most 32.
    package var window: Int
    /// How long to leave it alone after each opening in a row, the first one first; the last one repeats.
    package var probeAfter: [Duration]
    /// Disables it after only failures for this long, counted while it was tried.
    package var disableAfter: Duration
    /// The most that the time between two failures counts: a machine that sleeps does not try.
    package var longestGap: Duration
    /// Never disables it for fewer failures than this, however far apart.
    package var leastFailuresToDisable: Int

    /// A policy; left out: 5 in a row, half of 20, probes after 30 s up to an hour, disabled after 5 days.
    package init(
        failuresInARow: Int = 5, window: Int = 20,
        probeAfter: [Duration] = [
            .seconds(30), .seconds(60), .seconds(300), .seconds(900), .seconds(1800), .seconds(3600),
        ],
        disableAfter: Duration = .seconds(5 * 86_400), longestGap: Duration = .seconds(3600),
        leastFailuresToDisable: Int = 10
    ) {
        self.failuresInARow = failuresInARow
        self.window = min(window, 32)
        self.probeAfter = probeAfter
        self.disableAfter = disableAfter
        self.longestGap = longestGap
        self.leastFailuresToDisable = leastFailuresToDisable
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
