import Glibc
import Host
import Synchronization
import Testing

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
