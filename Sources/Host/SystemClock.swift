import CLinux
import Glibc
package import Timeline

/// The machine's clock.
///
/// All who wait for a time share one thread, which sleeps in the kernel until the
/// earliest of them is due or somebody sets the clock: no wake-up happens for nothing.
package final class SystemClock: WallClock {
    private let alarm: Alarm

    /// Opens the timer; the thread starts with the first sleeper.
    package init() throws(HostError) {
        alarm = try Alarm()
    }

    deinit {
        alarm.close()
    }

    /// The wall-clock time now.
    ///
    /// The corresponding C function is `clock_gettime(CLOCK_REALTIME)`.
    package var now: Moment { Moment.now }

    /// Time since the machine started, sleep included.
    ///
    /// The corresponding C function is `clock_gettime(CLOCK_BOOTTIME)`.
    package var sinceBoot: Duration { Duration.sinceBoot }

    /// Waits until the wall clock shows `moment`; returns early only when the clock was set.
    ///
    /// - Throws: `CancellationError`, also when the clock's owner let go of it meanwhile.
    package func sleep(until moment: Moment) async throws {
        try Task.checkCancellation()
        guard now < moment else { return }
        let ticket = alarm.makeTicket()
        defer { alarm.forget(ticket) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { sleeper in
                alarm.add(ticket, until: moment, sleeper)
            }
        } onCancel: {
            alarm.cancel(ticket)
        }
    }
}

extension Moment {
    /// The wall-clock time now, for owners that hold no clock (the warden's single thread).
    package static var now: Moment {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Moment(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}

extension Duration {
    /// How long the machine has slept since it started: what one clock counts and the other does not.
    ///
    /// The corresponding C functions are `clock_gettime(CLOCK_BOOTTIME)` and `clock_gettime(CLOCK_MONOTONIC)`.
    package static var slept: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        let awake = Duration.seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
        return max(.zero, sinceBoot - awake)
    }

    /// Time since the machine started, sleep included.
    package static var sinceBoot: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
