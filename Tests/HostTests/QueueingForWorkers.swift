import Glibc
import Synchronization
import Testing

@testable import Host

@Suite struct `a queue for workers` {
    private var queue = WorkerQueue<String>()

    @Test mutating func `gives jobs out in the order they came`() {
        for name in ["a", "b", "c"] { _ = queue.add(name, from: nil) }
        #expect((0..<3).map { _ in taken(by: 0) } == ["a", "b", "c"])
        #expect(taken(by: 0) == nil)
    }

    @Test mutating func `wakes a sleeping worker for a job from outside, and only once`() {
        rest(0)
        #expect(queue.add("a", from: nil) == 0)
        #expect(queue.add("b", from: nil) == nil)
    }

    @Test mutating func `wakes nobody for the one job a worker hands out, and another for the second`() {
        rest(1)
        #expect(queue.add("a", from: 0) == nil)
        #expect(queue.add("b", from: 0) == 1)
    }

    @Test mutating func `has a worker that takes a job wake another when there is more`() {
        for name in ["a", "b"] { _ = queue.add(name, dueAt: .seconds(5)) }
        rest(0)
        rest(1)
        let (step, wake) = queue.next(for: 0, at: .seconds(5))
        guard case .run = step else {
            Issue.record("it sleeps on")
            return
        }
        #expect(wake == 1)
        #expect(taken(by: 1, at: .seconds(5)) != nil)
    }

    @Test mutating func `lets one worker sleep until the first job is due, the others without end`() {
        _ = queue.add("late", dueAt: .seconds(9))
        _ = queue.add("early", dueAt: .seconds(5))
        #expect(slept(by: 0, at: .zero) == .some(.seconds(5)))
        #expect(slept(by: 1, at: .zero) == .some(nil))
        #expect(taken(by: 0, at: .seconds(5)) == "early")
        #expect(slept(by: 0, at: .seconds(5)) == .some(.seconds(9)))
        #expect(taken(by: 1, at: .seconds(10)) == "late")
    }

    @Test mutating func `wakes the worker that watches when a job is due earlier`() {
        _ = queue.add("late", dueAt: .seconds(9))
        #expect(slept(by: 1, at: .zero) == .some(.seconds(9)))
        rest(0)
        #expect(queue.add("early", dueAt: .seconds(5)) == 1)
        #expect(slept(by: 1, at: .zero) == .some(.seconds(5)))
        #expect(queue.add("latest", dueAt: .seconds(10)) == nil)
    }

    @Test mutating func `leaves the one that watches asleep while there is another`() {
        _ = queue.add("late", dueAt: .seconds(9))
        #expect(slept(by: 1, at: .zero) == .some(.seconds(9)))
        rest(0)
        #expect(queue.add("now", from: nil) == 0)
        #expect(queue.add("too", from: nil) == 1)
    }

    @Test mutating func `loses and doubles nothing in a long random life`() {
        var random = SystemRandomNumberGenerator()
        var (given, got) = (0, [Int]())
        var numbers = WorkerQueue<Int>()
        for step in 0..<20_000 {
            let now = Duration.milliseconds(step)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                _ = numbers.add(given, from: Bool.random(using: &random) ? 0 : nil)
                given += 1
            case 1:
                _ = numbers.add(given, dueAt: now + .milliseconds(Int.random(in: 0..<50, using: &random)))
                given += 1
            default:
                let worker = Int.random(in: 0..<3, using: &random)
                if case .run(let job) = numbers.next(for: worker, at: now).step { got.append(job) }
            }
        }
        while case .run(let job) = numbers.next(for: 0, at: .seconds(99)).step { got.append(job) }
        #expect(got.sorted() == Array(0..<given))
    }

    private mutating func taken(by worker: Int, at now: Duration = .zero) -> String? {
        guard case .run(let job) = queue.next(for: worker, at: now).step else { return nil }
        return job
    }

    /// Until when it sleeps; nil when it runs something instead.
    private mutating func slept(by worker: Int, at now: Duration) -> Duration?? {
        guard case .rest(let until) = queue.next(for: worker, at: now).step else { return nil }
        return .some(until)
    }

    private mutating func rest(_ worker: Int) {
        if case .run(let job) = queue.next(for: worker, at: .zero).step { Issue.record("runs \(job)") }
    }
}

@Suite struct `a serial thread` {
    @Test func `runs what it is given in order, on one thread`() async throws {
        let thread = try SerialThread(named: "serial test")
        let (done, doing) = AsyncStream.makeStream(of: (number: Int, thread: pthread_t).self)
        for number in 0..<1000 {
            thread.run {
                doing.yield((number, pthread_self()))
                if number == 999 { doing.finish() }
            }
        }
        var numbers: [Int] = []
        var threads: Set<pthread_t> = []
        for await (number, thread) in done {
            numbers.append(number)
            threads.insert(thread)
        }
        #expect(numbers == Array(0..<1000))
        #expect(threads.count == 1)
    }

    @Test func `does what it was given before it ends with its last holder`() async throws {
        let (done, doing) = AsyncStream.makeStream(of: Int.self)
        // Held back until the thread is no longer held.
        let gate = Mutex(())
        try gate.withLock { _ in
            let thread = try SerialThread(named: "serial test")
            for number in 0..<3 {
                thread.run {
                    gate.withLock { _ in }
                    doing.yield(number)
                    if number == 2 { doing.finish() }
                }
            }
        }
        var numbers: [Int] = []
        for await number in done { numbers.append(number) }
        #expect(numbers == [0, 1, 2])
    }
}
