import CLinux
import Glibc
import Synchronization

/// A thread that runs what it is given, one closure after the other, and sleeps in the kernel between them.
///
/// For work that must stay on one thread and that others wait for: waking it is one system call, and it is never
/// started anew, as the workers of a pool are after a rest. It ends when nobody holds it any more, after what it was
/// given.
package final class SerialThread: Sendable {
    private let inbox = WorkInbox()

    /// Starts the thread; `name` is what `top -H` shows, at most 15 bytes.
    package init(named name: String) throws(HostError) {
        try BackgroundThread.start(named: name, stackBytes: 8 << 20) { [inbox] in
            while let work = inbox.next() { work() }
        }
    }

    deinit { inbox.end() }

    /// Runs `work` after everything given before; returns at once.
    package func run(_ work: @escaping @Sendable () -> Void) { inbox.put(work) }
}

/// What a thread was given, and its place to sleep.
private final class WorkInbox: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        /// The rest of what was taken last, in reverse.
        var taken: [@Sendable () -> Void] = []
        var isEnded = false
    }

    private let state = Mutex(State())
    private let semaphore = ThreadSemaphore()

    func put(_ work: @escaping @Sendable () -> Void) {
        state.withLock { $0.waiting.append(work) }
        semaphore.post()
    }

    func end() {
        state.withLock { $0.isEnded = true }
        semaphore.post()
    }

    /// The next work, waited for; nil: there will be none.
    func next() -> (@Sendable () -> Void)? {
        while true {
            let (work, isEnded) = state.withLock { state in
                if state.taken.isEmpty {
                    state.taken = state.waiting.reversed()
                    state.waiting.removeAll(keepingCapacity: true)
                }
                return (state.taken.popLast(), state.isEnded)
            }
            if let work { return work }
            if isEnded { return nil }
            semaphore.wait()
        }
    }
}

/// A thread's place to sleep.
@safe final class ThreadSemaphore: Sendable {
    nonisolated(unsafe) private let semaphore: UnsafeMutablePointer<sem_t>  // SAFE: made for many threads,
    // and its place in memory never changes.

    init() {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe sem_init(semaphore, 0, 0)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    /// Ends the sleep under way, or the next one.
    func post() {
        unsafe sem_post(semaphore)
    }

    /// Sleeps until ``post()``, or until that time since the machine started; may return early.
    func wait(until moment: Duration? = nil) {
        guard let moment else {
            unsafe sem_wait(semaphore)
            return
        }
        let (seconds, attoseconds) = moment.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        unsafe clinux_sem_clockwait(semaphore, CLOCK_MONOTONIC, &time)
    }
}
