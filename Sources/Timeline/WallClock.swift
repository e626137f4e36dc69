/// The clock on the wall: what time it is, and a way to wait for a time.
///
/// Owners hold `any WallClock`; nothing in the package asks the system for the time itself, so that a
/// test can own the clock.
public protocol WallClock: Sendable {
    /// The wall-clock time now. May go back when somebody sets the clock.
    var now: Moment { get }

    /// Time since the machine started, sleep included; never goes back.
    ///
    /// Durations, time-outs and leases are measured on this, never as a difference of two moments.
    /// - Source: clock_gettime(2), `CLOCK_BOOTTIME`.
    var sinceBoot: Duration { get }

    /// Waits until the wall clock shows `moment`, and returns never before it.
    ///
    /// Returns at once when `moment` has passed. Returns early, before `moment`, only when the clock
    /// was set meanwhile: a caller looks at ``now`` again after every return.
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    func sleep(until moment: Moment) async throws
}
