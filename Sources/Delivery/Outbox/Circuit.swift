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

    private mutating func forgetProbe(at now: Moment) {
        if state == .halfOpen { state = .open(until: now) }
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
