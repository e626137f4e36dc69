import TestSupport
import Testing
import Timeline

@testable import GatewayClient

@Suite(.timeLimit(.minutes(5))) struct `a watch over connections` {
    private let start = Moment(seconds: 1_793_000_000)

    @Test func `wakes for the first that is due, and for each again when it says so`() async throws {
        let clock = ManualClock(now: start)
        let watch = LinkWatch(clock: clock)
        let boot = clock.sinceBoot
        let (looks, look) = AsyncStream.makeStream(of: String.self)
        await watch.add(at: boot + .seconds(20)) {
            look.yield("late")
            return nil
        }
        await watch.add(at: boot + .seconds(10)) {
            look.yield("soon")
            return clock.sinceBoot < boot + .seconds(15) ? boot + .seconds(15) : nil
        }
        var seen = looks.makeAsyncIterator()
        for (seconds, name) in [(10, "soon"), (15, "soon"), (20, "late")] {
            let due = start + .seconds(seconds)
            while await clock.nextSleeper() != due {}
            clock.advance(to: due)
            #expect(await seen.next() == name)
        }
    }

    @Test func `looks together at those that are due soon where there are many`() async throws {
        let clock = ManualClock(now: start)
        let watch = LinkWatch(clock: clock)
        let boot = clock.sinceBoot
        let (looks, look) = AsyncStream.makeStream(of: Int.self)
        for number in 0..<40 {
            await watch.add(at: boot + .milliseconds(10_000 + number)) {
                look.yield(number)
                return nil
            }
        }
        // The first was alone when it came, and is punctual.
        #expect(await clock.nextSleeper() == start + .seconds(10))
        clock.advance(to: start + .seconds(10))
        #expect(await clock.nextSleeper() == start + .milliseconds(11_001))
        clock.advance(to: start + .milliseconds(11_001))
        var seen: Set<Int> = []
        for await number in looks {
            seen.insert(number)
            if seen.count == 40 { break }
        }
        #expect(seen == Set(0..<40))
    }
}

@Suite struct `the pulse of a connection` {
    private let tick = Duration.seconds(30)

    @Test func `is looked at again after the patience with a ping, and after an answer with the next ping`() {
        var pulse = GatewayPulse()
        pulse.heard(at: .seconds(100))
        #expect(pulse.ping(at: .seconds(100)) != nil)
        #expect(pulse.nextCheck(tick: tick) == .seconds(105))
        pulse.heard(at: .seconds(101))
        #expect(pulse.answered(Array("belfry 1".utf8), at: .seconds(101)) == .seconds(1))
        #expect(pulse.nextCheck(tick: tick) == .seconds(130))
    }

    /// It was looked at a thousand times a second until the next ping.
    @Test func `is never looked at again in the past, though no ping is answered while other things come`() {
        var pulse = GatewayPulse()
        pulse.heard(at: .seconds(100))
        for second in stride(from: 100, to: 400, by: 1) {
            let now = Duration.seconds(second)
            _ = pulse.ping(at: now)
            #expect(pulse.silence(at: now, tick: tick) == nil)
            #expect(pulse.nextCheck(tick: tick) > now)
            pulse.heard(at: now + .milliseconds(500))
        }
    }
}
