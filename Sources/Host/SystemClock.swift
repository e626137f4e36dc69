import CLinux
import Glibc
import Synchronization
package import Timeline

/// The machine's clock.
///
/// All who wait for a time share one thread, which sleeps in the kernel until the
/// earliest of them is due or the clock is set: there is no wake-up without a reason.
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

/// The sleepers of one clock, and the timer that wakes the earliest of them.
final class Alarm: Sendable {
    private struct Sleepers {
        var waiting: [UInt64: (until: Moment, sleeper: CheckedContinuation<Void, any Error>)] = [:]
        var canceled: Set<UInt64> = []
        var lastTicket: UInt64 = 0
        /// When the thread wakes next.
        var armed: Moment?
        /// How far the wall clock was ahead of the time since boot at the last look.
        var ahead: Duration?
        var hasThread = false
        var clockWasSet = false
        var isClosed = false
    }

    /// The longest time between two looks at the clocks: a kernel, or a library that stands in
    /// for it, may not report that the clock was set.
    private static let longestNap: Duration = .seconds(60)
    /// The wall clock is steered by less than this between two looks; what moves further was set.
    private static let steer: Duration = .seconds(1)

    private let timer: Descriptor
    private let sleepers = Mutex(Sleepers())

    init() throws(HostError) {
        timer = try Descriptor(
            timerfd_create(CLOCK_REALTIME, Int32(TFD_CLOEXEC)), call: "timerfd_create")
    }

    func makeTicket() -> UInt64 {
        sleepers.withLock {
            $0.lastTicket += 1
            return $0.lastTicket
        }
    }

    func add(_ ticket: UInt64, until moment: Moment, _ sleeper: CheckedContinuation<Void, any Error>) {
        let refused: (any Error)? = sleepers.withLock { state in
            if state.isClosed || state.canceled.remove(ticket) != nil { return CancellationError() }
            if !state.hasThread {
                do throws(HostError) {
                    try BackgroundThread.start(named: "clock") { [self] in wait() }
                } catch {
                    return error
                }
                state.hasThread = true
            }
            let wasSet = noteClocks(&state)
            state.waiting[ticket] = (moment, sleeper)
            if wasSet {
                state.clockWasSet = true
                fire(&state)
            } else if state.armed.map({ moment < $0 }) ?? true {
                arm(moment, &state)
            }
            return nil
        }
        if let refused { sleeper.resume(throwing: refused) }
    }

    func cancel(_ ticket: UInt64) {
        let sleeper = sleepers.withLock { state in
            let waiting = state.waiting.removeValue(forKey: ticket)
            if waiting == nil { state.canceled.insert(ticket) }
            return waiting?.sleeper
        }
        sleeper?.resume(throwing: CancellationError())
    }

    /// Drops what a cancellation that came after the end of the sleep left behind.
    func forget(_ ticket: UInt64) {
        sleepers.withLock { _ = $0.canceled.remove(ticket) }
    }

    func close() {
        let waiting = sleepers.withLock { state in
            state.isClosed = true
            fire(&state)
            defer { state.waiting = [:] }
            return state.waiting
        }
        for (_, sleeper) in waiting.values { sleeper.resume(throwing: CancellationError()) }
    }

    /// The thread: blocks until the timer fires or the clock is set, wakes who is due, arms the next.
    private func wait() {
        var count: UInt64 = 0
        while true {
            let size = unsafe read(timer.raw, &count, MemoryLayout<UInt64>.size)
            let wasCanceled = size < 0 && errno == ECANCELED
            let (due, isClosed) = sleepers.withLock { state in
                let wasSet = noteClocks(&state)
                return (takeDue(&state, all: wasCanceled || wasSet || state.clockWasSet), state.isClosed)
            }
            for sleeper in due { sleeper.resume() }
            if isClosed { return }
        }
    }

    private func takeDue(
        _ state: inout Sleepers, all: Bool
    ) -> [CheckedContinuation<Void, any Error>] {
        let now = Moment.now
        // Those that are due are found first: to remove one while the others are read copies them all.
        let tickets = state.waiting.compactMap { all || $0.value.until <= now ? $0.key : nil }
        let due = tickets.compactMap { state.waiting.removeValue(forKey: $0)?.sleeper }
        state.armed = nil
        state.clockWasSet = false
        if let next = state.waiting.values.map(\.until).min() { arm(next, &state) }
        return due
    }

    /// Looks at both clocks; whether the one was set against the other since the last look.
    private func noteClocks(_ state: inout Sleepers) -> Bool {
        let ahead = Moment.now - Moment(microseconds: Duration.sinceBoot.microseconds)
        defer { state.ahead = ahead }
        return state.ahead.map { ahead - $0 > Self.steer || $0 - ahead > Self.steer } ?? false
    }

    /// Arms the timer for `moment`, or for an earlier look at the clocks.
    ///
    /// When the clock was set since the last look the kernel reports it once, here or in the read; here the timer is set
    /// to fire at once, so that the thread wakes everybody. So it is when the kernel does not take the moment, as a
    /// library that stands in for the clock may turn it into one before 1970.
    private func arm(_ moment: Moment, _ state: inout Sleepers) {
        let moment = min(moment, Moment.now + Self.longestNap)
        state.armed = moment
        let flags = Int32(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)
        var setting = itimerspec()
        let microseconds = max(1, moment.microseconds)
        setting.it_value.tv_sec = Int(microseconds / 1_000_000)
        setting.it_value.tv_nsec = Int(microseconds % 1_000_000) * 1000
        if unsafe timerfd_settime(timer.raw, flags, &setting, nil) != 0 {
            state.clockWasSet = true
            fire(&state)
        }
    }

    /// Makes the timer fire at once, whatever any clock shows.
    private func fire(_ state: inout Sleepers) {
        state.armed = Moment(microseconds: 1)
        var setting = itimerspec()
        setting.it_value = timespec(tv_sec: 0, tv_nsec: 1)
        unsafe timerfd_settime(timer.raw, 0, &setting, nil)
    }
}
