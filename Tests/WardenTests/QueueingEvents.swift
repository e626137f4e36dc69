import Performing
import Synchronization
import Testing

@testable import WardenProtocol

@Suite(.timeLimit(.minutes(5))) struct `the queue of events` {
    private func event(_ number: Int) -> PerformerEvent {
        .unknown(RunKey(run: "r", attempt: number + 1))
    }

    @Test func `gives them out in order, then ends`() async {
        let queue = EventQueue {}
        for number in 0..<10_000 { queue.add(event(number)) }
        queue.finish()
        for number in 0..<10_000 { #expect(await queue.next() == event(number)) }
        #expect(await queue.next() == nil)
        #expect(await queue.next() == nil)
    }

    @Test func `gives all that wait at once, and reports each arrival once`() async {
        let queue = EventQueue {}
        queue.add((0..<1500).map(event))
        queue.add(event(1500))
        #expect(await queue.waitForNews())
        #expect(queue.takeAll() == (0...1500).map(event) && queue.takeAll().isEmpty)
        async let hasNews = queue.waitForNews()
        queue.add([event(7), event(8)])
        #expect(await hasNews)
        // What was reported and is not taken yet is not reported again.
        queue.finish()
        #expect(await queue.waitForNews() == false)
        #expect(queue.takeAll() == [event(7), event(8)])
    }

    @Test func `starts the thread again when all was taken at once`() {
        let rings = Mutex(0)
        let queue = EventQueue { rings.withLock { $0 += 1 } }
        queue.add((0..<EventQueue.high).map(event))
        #expect(!queue.mayReceive)
        _ = queue.takeAll()
        #expect(rings.withLock { $0 } == 1 && queue.mayReceive)
    }

    @Test func `wakes a reader that was there first`() async {
        let queue = EventQueue {}
        async let first = queue.next()
        queue.add(event(1))
        #expect(await first == event(1))
        async let second = queue.next()
        queue.finish()
        #expect(await second == nil)
    }

    @Test func `stops the thread when it is full, and starts it once when the reader has caught up`() async {
        let rings = Mutex(0)
        let queue = EventQueue { rings.withLock { $0 += 1 } }
        for number in 0..<EventQueue.high - 1 { queue.add(event(number)) }
        #expect(queue.mayReceive)
        queue.add(event(0))
        #expect(!queue.mayReceive)
        for _ in 0..<EventQueue.high - EventQueue.low { _ = await queue.next() }
        #expect(rings.withLock { $0 } == 0)
        for _ in 0..<10 { _ = await queue.next() }
        #expect(rings.withLock { $0 } == 1)
        #expect(queue.mayReceive)
    }

    @Test func `lets a canceled reader go, and keeps the event for the next`() async {
        let queue = EventQueue {}
        let reader = Task { await queue.next() }
        reader.cancel()
        #expect(await reader.value == nil)
        queue.add(event(7))
        #expect(await queue.next() == event(7))
    }
}
