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

    /// Takes in a job, from worker `current` or from a thread that is none.
    ///
    /// - Returns: the worker to wake; nil also when `current` will take it as soon as it is done.
    mutating func add(_ job: Job, from current: Int?) -> Int? {
        jobs.append(job)
        return current == nil || waiting > 1 ? popIdle() : nil
    }

    /// Takes in a job that is due later.
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
        if let job = take() { return (.run(job), waiting > 0 ? popIdle() : nil) }
        idle.append(worker)
        guard watch == nil, let until = sleepers.last?.dueAt else { return (.rest(until: nil), nil) }
        watch = (worker, until)
        return (.rest(until: until), nil)
    }

    private mutating func take() -> Job? {
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
