import CLinux
import Glibc
import Synchronization
import Timeline

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

    /// At the latest so long after the last look the clocks are looked at again: a kernel, or whoever stands in
    /// for it, may not say that the clock was set.
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
        var due: [CheckedContinuation<Void, any Error>] = []
        for (ticket, entry) in state.waiting where all || entry.until <= now {
            due.append(entry.sleeper)
            state.waiting[ticket] = nil
        }
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
    /// When the clock was set since the last look the kernel says so once, here or in the read; here the timer is set
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
