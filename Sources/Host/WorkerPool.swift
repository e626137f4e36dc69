import CLinux
import Glibc
import Synchronization
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

/// The threads that run a daemon's tasks, in place of the pool of the Swift runtime.
///
/// The runtime's own pool is libdispatch's, which looks after its workers once a second for as long as the
/// process lives. These threads sleep in the kernel until there is a job or a sleeper is due, so that a daemon
/// with nothing to do is not woken at all. Jobs are taken in the order they came, whatever their priority.
///
/// A worker that hands out one job and goes on wakes nobody for it: it takes it itself in a moment, which saves
/// a chain of short jobs the way through the kernel. A job that blocks its thread delays that one job.
package final class WorkerPool: TaskExecutor {
    private let state = Mutex(WorkerQueue<UnownedJob>())
    private let workers: [Worker]

    /// Makes this process's tasks run on threads of ours from here on.
    ///
    /// To be called once, before the first task is made; what runs on the main actor stays on the main thread.
    package static func install() {
        _createExecutors(factory: Factory.self)
    }

    private init(threads: Int) throws(HostError) {
        workers = (0..<threads).map { _ in Worker() }
        for number in workers.indices {
            try BackgroundThread.start(named: "task-\(number)", stackBytes: 8 << 20) { [self] in
                work(as: number)
            }
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let current = Worker.current
        wake(state.withLock { $0.add(job, from: current) })
    }

    private func work(as number: Int) {
        Worker.current = number
        let executor = unsafe asUnownedTaskExecutor()
        while true {
            let (step, another) = state.withLock { $0.next(for: number, at: .sinceStart) }
            wake(another)
            switch step {
            case .run(let job): unsafe job.runSynchronously(on: executor)
            case .rest(let until): workers[number].sleep(until: until)
            }
        }
    }

    private func wake(_ number: Int?) {
        if let number { workers[number].wake() }
    }

    /// What the runtime asks for its executors.
    private struct Factory: ExecutorFactory {
        static var mainExecutor: any MainExecutor { PlatformExecutorFactory.mainExecutor }
        static let defaultExecutor: any TaskExecutor = makeDefault()

        private static func makeDefault() -> any TaskExecutor {
            // A machine that can't give two threads is left to the runtime, which says so in its own way.
            (try? WorkerPool(threads: max(2, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))))
                ?? PlatformExecutorFactory.defaultExecutor
        }
    }
}

extension WorkerPool: SchedulingExecutor {
    /// Runs the job when `instant` has come on `clock`, whose time is measured by ``Swift/Duration``.
    ///
    /// The time a machine sleeps does not count: a long wait ends late after it.
    package func enqueue<C: Clock>(
        _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
        let job = UnownedJob(job)
        let rest = clock.now.duration(to: instant) as? Duration ?? .zero
        wake(state.withLock { $0.add(job, dueAt: .sinceStart + rest) })
    }
}

/// A thread's place to sleep.
@safe private final class Worker: Sendable {
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
    func wake() {
        unsafe sem_post(semaphore)
    }

    /// May return early.
    func sleep(until moment: Duration?) {
        guard let moment else {
            unsafe sem_wait(semaphore)
            return
        }
        let (seconds, attoseconds) = moment.components
        var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        unsafe clinux_sem_clockwait(semaphore, CLOCK_MONOTONIC, &time)
    }

    /// The number of the worker that this thread is, nil for any other thread.
    static var current: Int? {
        get {
            let value = unsafe Int(bitPattern: pthread_getspecific(key))
            return value == 0 ? nil : value - 1
        }
        set { unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: (newValue ?? -1) + 1)) }
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key, nil)
        return key
    }()
}

extension Duration {
    /// Time since the machine started, its sleep left out, as a waiting thread counts it.
    fileprivate static var sinceStart: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
