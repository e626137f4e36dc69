import CLinux
import Glibc
import Synchronization
import Timeline
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency

/// The threads that run a daemon's tasks, in place of the pool of the Swift runtime.
///
/// The runtime's own pool is libdispatch's, which looks after its workers once a second for as long as the
/// process lives. These threads sleep in the kernel until there is a job or a sleeper is due, so that a daemon
/// with nothing to do is not woken at all. Jobs are taken in the order they came, whatever their priority.
///
/// A worker that hands out one job and continues wakes nobody for it: it takes it itself in a moment, which saves
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

    /// What runs this process's tasks: the pool where it is installed, else that of the Swift runtime.
    ///
    /// To be preferred inside of a task that prefers another executor, for work that takes long or blocks.
    package static var current: any TaskExecutor { Task<Never, Never>.defaultExecutor }

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
            // A machine that can't give two threads is left to the runtime, which reports it in its own way.
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

/// One of the pool's threads.
private final class Worker: Sendable {
    private let semaphore = ThreadSemaphore()

    /// Ends the sleep under way, or the next one.
    func wake() { semaphore.post() }

    /// May return early.
    func sleep(until moment: Duration?) { semaphore.wait(until: moment) }

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

/// Which job is next, which worker takes it, and which worker must be woken for it.
///
/// Pure: a fact in, and what follows out; ``WorkerPool`` does it.
struct WorkerQueue<Job: Sendable> {
    /// What a worker does next.
    enum Step: Sendable {
        /// Run it, then ask again.
        case run(Job)
        /// Sleep until woken, or until that time, and ask again.
        case rest(until: Duration?)
    }

    private struct Sleeper {
        var dueAt: Duration
        var job: Job
    }

    /// Jobs in the order they came; those before `first` are taken.
    private var jobs: [Job?] = []
    private var first = 0
    /// Jobs that wait for their time, the latest first.
    private var sleepers: [Sleeper] = []
    /// The workers that sleep, and nobody has woken yet.
    private var idle: [Int] = []
    /// The one of them that wakes by itself, and when.
    private var watch: (worker: Int, until: Duration)?

    private var waiting: Int { jobs.count - first }

    /// Adds a job, from worker `current` or from a thread that is none.
    ///
    /// - Returns: the worker to wake; nil also when `current` will take it as soon as it is done.
    mutating func add(_ job: Job, from current: Int?) -> Int? {
        jobs.append(job)
        return current == nil || waiting > 1 ? popIdle() : nil
    }

    /// Adds a job that is due later.
    ///
    /// - Returns: the worker to wake, so that it sleeps no longer than that.
    mutating func add(_ job: Job, dueAt: Duration) -> Int? {
        let place = sleepers.firstIndex { $0.dueAt <= dueAt } ?? sleepers.endIndex
        sleepers.insert(Sleeper(dueAt: dueAt, job: job), at: place)
        if let watch, watch.until <= dueAt { return nil }
        guard let watch else { return popIdle() }
        idle.removeAll { $0 == watch.worker }
        self.watch = nil
        return watch.worker
    }

    /// What `worker`, which is awake, does now, and the worker to wake because there is more to do.
    mutating func next(for worker: Int, at now: Duration) -> (step: Step, wake: Int?) {
        idle.removeAll { $0 == worker }
        if watch?.worker == worker { watch = nil }
        while let sleeper = sleepers.last, sleeper.dueAt <= now {
            jobs.append(sleeper.job)
            sleepers.removeLast()
        }
        if let job = nextJob() { return (.run(job), waiting > 0 ? popIdle() : nil) }
        idle.append(worker)
        guard watch == nil, let until = sleepers.last?.dueAt else { return (.rest(until: nil), nil) }
        watch = (worker, until)
        return (.rest(until: until), nil)
    }

    private mutating func nextJob() -> Job? {
        guard first < jobs.count else { return nil }
        defer {
            jobs[first] = nil
            first += 1
            if first == jobs.count {
                jobs.removeAll(keepingCapacity: jobs.capacity <= 4096)
                first = 0
            } else if first >= 1024 {
                jobs.removeFirst(first)
                first = 0
            }
        }
        return jobs[first]
    }

    /// The one that fell asleep last, whose caches are warm; of two the one that watches sleeps on.
    private mutating func popIdle() -> Int? {
        let place = idle.lastIndex { $0 != watch?.worker } ?? idle.indices.last
        guard let place else { return nil }
        return idle.remove(at: place)
    }
}

/// A thread of the package's own, outside Swift's pool, for work that blocks in the kernel.
package enum BackgroundThread {
    /// Has the thread that calls it, which must run no tasks, do nothing for this long.
    package static func pause(for duration: Duration) {
        usleep(UInt32(clamping: duration.milliseconds * 1000))
    }

    /// Starts a detached thread that runs `body` once, with every signal blocked.
    ///
    /// `name` is what `top -H` shows, at most 15 bytes. Of the stack only what is used is ever in memory.
    package static func start(
        named name: String, stackBytes: Int = 512 << 10, _ body: @escaping @Sendable () -> Void
    ) throws(HostError) {
        let box = unsafe Unmanaged.passRetained(ThreadBody(name: name, run: body))
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        unsafe pthread_attr_setstacksize(&attributes, stackBytes)
        var thread = pthread_t()
        let code = unsafe pthread_create(&thread, &attributes, threadMain, box.toOpaque())
        guard code == 0 else {
            unsafe box.release()
            throw .system(call: "pthread_create", code: code, path: nil)
        }
    }
}

private final class ThreadBody: Sendable {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }
}

private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let body = unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
    // A signal must find the thread that expects it, never one that holds a lock here.
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
    unsafe clinux_set_thread_name(body.name)
    body.run()
    return nil
}

/// A thread that runs what it is given, one closure after the other, and sleeps in the kernel between them.
///
/// For work that must stay on one thread and that others wait for: waking it is one system call, and it is never
/// started again, as the workers of a pool are after a rest. It ends when nobody holds it any more, after what it was
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
