/// A call that is not sent yet: posted to the connection's thread, then in line.
struct PendingCall: Sendable {
    var message: WireMessage
    var waiter: Waiter
}

/// Who waits for the answer to a call, in line and in flight.
///
/// Whoever removes it from the line or from the calls in flight answers it, so that it is answered once.
struct Waiter: Sendable {
    /// Covers the time in line and the answer.
    var deadline: ContinuousClock.Instant
    var continuation: CheckedContinuation<Result<[DBusValue], DBusError>, Never>

    func answer(_ answer: Result<[DBusValue], DBusError>) {
        continuation.resume(returning: answer)
    }
}
