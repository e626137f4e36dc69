import OpenClaw
import Tracking

/// One connection of a link: how far it is, and what was seen on it.
struct LinkConnection {
    /// How far it is.
    enum Phase {
        case closed
        /// Since a time since boot; the gateway has sent its challenge or not.
        case opening(since: Duration, isChallenged: Bool)
        case open(GatewayHello)
    }

    var phase = Phase.closed
    var wire: GatewayWire?
    /// Why this side ends it.
    var verdict: GatewayTrouble?
    var sequence = SequenceWatch()
    var pulse = GatewayPulse()
    /// How long the gateway will be away, as it said before a restart.
    var announcedRestart: Duration?
    var usesDeviceToken = false

    /// None.
    init() {}

    /// One that the gateway has accepted, at a time since boot, and has not greeted yet.
    init(_ wire: GatewayWire, openedAt now: Duration) {
        self.wire = wire
        phase = .opening(since: now, isChallenged: false)
        pulse.heard(at: now)
    }
}

/// The calls of a link that wait for their answers.
struct LinkCalls {
    typealias Answer = Result<JSON, GatewayLink.CallFailure>

    private struct Pending {
        let continuation: CheckedContinuation<Answer, Never>
        var timer: Task<Void, Never>
        /// How long the second answer may take that an answer `accepted` announces; nil: the first is the result.
        let end: Duration?
    }

    private var pending: [String: Pending] = [:]
    private var last = 0

    /// A number that was not used before on this link.
    mutating func makeNumber() -> Int {
        last += 1
        return last
    }

    /// A call was sent: `timer` fails it.
    mutating func begin(
        _ id: String, _ continuation: CheckedContinuation<Answer, Never>, timer: Task<Void, Never>,
        endingWithin end: Duration?
    ) {
        pending[id] = Pending(continuation: continuation, timer: timer, end: end)
    }

    /// How long the second answer to the call may take, where it waits for one.
    func end(of id: String) -> Duration? { pending[id]?.end }

    /// The call waits longer: another timer fails it.
    mutating func setTimer(_ timer: Task<Void, Never>, of id: String) {
        pending[id]?.timer.cancel()
        pending[id]?.timer = timer
    }

    /// The call is over; the second answer to one request, and one that came too late, find nobody.
    mutating func settle(_ id: String, _ answer: Answer) {
        guard let entry = pending.removeValue(forKey: id) else { return }
        entry.timer.cancel()
        entry.continuation.resume(returning: answer)
    }

    /// None of them is answered any more.
    mutating func failAll(_ failure: GatewayLink.CallFailure) {
        for id in pending.keys { settle(id, .failure(failure)) }
    }
}

/// Who is notified of what happens on a link: the followers of runs, one each, and one of everything else.
struct LinkListeners {
    var note: @Sendable (GatewayLink.Signal) -> Void = { _ in }
    private var followers: [String: AsyncStream<GatewayLink.RunSignal>.Continuation] = [:]

    /// Reports what concerns everybody, in the words of each.
    func report(_ runs: GatewayLink.RunSignal, _ signal: GatewayLink.Signal) {
        for follower in followers.values { follower.yield(runs) }
        note(signal)
    }

    /// Reports what an agent said to the follower of its run; the end of a reply that nobody follows to the other one.
    func report(_ event: ChatEvent) {
        if let follower = followers[event.run] {
            follower.yield(.chat(event))
        } else if event.state != .delta {
            note(.foreignReply(session: event.session))
        }
    }

    /// What happens to the run from now on, to one at a time.
    mutating func follow(_ run: String) -> AsyncStream<GatewayLink.RunSignal> {
        let (signals, follower) = AsyncStream.makeStream(of: GatewayLink.RunSignal.self)
        followers[run] = follower
        return signals
    }

    /// Nothing more is reported of the run.
    mutating func unfollow(_ run: String) { followers.removeValue(forKey: run)?.finish() }

    /// Nothing more is reported of any run.
    mutating func finish() {
        for follower in followers.values { follower.finish() }
        followers = [:]
    }
}
