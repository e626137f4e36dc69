import Ledger
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct `a broadcast` {
    @Test func `reaches every listener from its beginning on`() async {
        let numbers = Broadcast<Int>()
        var (early, first) = (
            numbers.values().makeAsyncIterator(), numbers.values(first: 0).makeAsyncIterator()
        )
        #expect(await first.next() == 0)
        numbers.publish(1)
        var late = numbers.values().makeAsyncIterator()
        #expect(await early.next() == 1)
        #expect(await first.next() == 1)
        numbers.publish(2)
        #expect(await late.next() == 2)
    }

    @Test func `gives a slow listener the newest value`() async {
        let numbers = Broadcast<Int>()
        var slow = numbers.values(first: 0).makeAsyncIterator()
        for number in 1...9 { numbers.publish(number) }
        #expect(await slow.next() == 9)
        numbers.publish(10)
        #expect(await slow.next() == 10)
    }

    @Test func `gives a slow listener all that it missed as one value, where values are merged`() async {
        let letters = Broadcast<Set<String>> { $0.formUnion($1) }
        var slow = letters.values().makeAsyncIterator()
        letters.publish(["a"])
        letters.publish(["b", "a"])
        #expect(await slow.next() == ["a", "b"])
    }

    @Test func `ends after what was published before, also when nobody holds it any more`() async {
        var numbers: Broadcast<Int>? = Broadcast<Int>()
        var listener = numbers?.values().makeAsyncIterator()
        numbers?.publish(1)
        numbers?.end()
        #expect(await listener?.next() == 1)
        #expect(await listener?.next() == Int?.none)
        var late = numbers?.values(first: 7).makeAsyncIterator()
        #expect(await late?.next() == 7)
        #expect(await late?.next() == Int?.none)
        numbers = Broadcast<Int>()
        let waiting = Task { [stream = numbers?.values()] in
            guard let stream else { return }
            for await _ in stream {}
        }
        numbers = nil
        await waiting.value
    }

    @Test func `lets a cancelled listener go`() async {
        let numbers = Broadcast<Int>()
        let waiting = Task { [stream = numbers.values()] in for await _ in stream {} }
        waiting.cancel()
        await waiting.value
    }

    @Test func `passes every value on to an observer, in order, before it is published to the end`() async {
        let numbers = Broadcast<Int>()
        let seen = Mutex<[Int]>([])
        numbers.publish(0)
        let observation = numbers.observe { number in seen.withLock { $0.append(number) } }
        for number in 1...3 {
            numbers.publish(number)
            #expect(seen.withLock { $0.last } == number)
        }
        numbers.end()
        await observation.waitForEnd()
        #expect(seen.withLock(\.self) == [1, 2, 3])
    }

    @Test func `passes nothing on once the observer is cancelled`() async {
        let numbers = Broadcast<Int>()
        let seen = Mutex<[Int]>([])
        let observation = numbers.observe { number in seen.withLock { $0.append(number) } }
        numbers.publish(1)
        let waiting = Task { await observation.waitForEnd() }
        waiting.cancel()
        await waiting.value
        numbers.publish(2)
        #expect(seen.withLock(\.self) == [1])
    }
}
