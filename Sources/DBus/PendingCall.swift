/// A call that is not sent yet: posted to the connection's thread, then in line.
struct PendingCall: Sendable {
    var message: WireMessage
    var waiter: Waiter
}

/// Who waits for the answer to a call, in line and in flight.
///
/// Whoever removes it from the line or from the calls in flight answers it, so that it is answered once.
struct Waiter: Sendable {
    typealias Answer = Result<[DBusValue], DBusError>

    /// Covers the time in line and the answer; nil once it has passed and a late answer is still wanted.
    private(set) var deadline: ContinuousClock.Instant?
    private let continuation: CheckedContinuation<Answer, Never>
    private let late: (@Sendable (Answer) -> Void)?

    /// Waits until `deadline`; `late` is called once with an answer that comes after it.
    init(
        deadline: ContinuousClock.Instant, continuation: CheckedContinuation<Answer, Never>,
        late: (@Sendable (Answer) -> Void)? = nil
    ) {
        self.deadline = deadline
        self.continuation = continuation
        self.late = late
    }

    func answer(_ answer: Answer) {
        if deadline == nil { late?(answer) } else { continuation.resume(returning: answer) }
    }

    func isDue(at now: ContinuousClock.Instant) -> Bool { deadline.map { $0 <= now } ?? false }

    /// Answers that the deadline has passed; who still waits for a late answer to a call that was sent.
    func expired() -> Waiter? {
        continuation.resume(returning: .failure(.timedOut))
        guard late != nil else { return nil }
        var waiter = self
        waiter.deadline = nil
        return waiter
    }
}
