import Glibc
import Host
import Testing
import Timeline

@Suite struct `the system clock` {
    @Test func `returns at once for a moment that has passed`() async throws {
        let clock = try SystemClock()
        try await clock.sleep(until: clock.now - .seconds(1))
    }

    @Test func `never returns before its moment`() async throws {
        let clock = try SystemClock()
        for microseconds in [1, 100, 5000, 20_000] {
            let moment = clock.now + .microseconds(microseconds)
            try await clock.sleep(until: moment)
            #expect(clock.now >= moment)
        }
    }

    @Test func `wakes every one of many sleepers, whatever their order, and none early`() async throws {
        let clock = try SystemClock()
        let start = clock.now
        let woken = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<500 {
                let moment = start + .microseconds(number * 7919 % 100_000)
                group.addTask {
                    try await clock.sleep(until: moment)
                    return clock.now >= moment
                }
            }
            return try await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(woken.count == 500)
        #expect(!woken.contains(false))
    }

    @Test func `lets a canceled sleeper go and keeps the others`() async throws {
        let clock = try SystemClock()
        let canceled = Task { try await clock.sleep(until: clock.now + .seconds(3600)) }
        let kept = Task { try await clock.sleep(until: clock.now + .milliseconds(30)) }
        canceled.cancel()
        await #expect(throws: CancellationError.self) { try await canceled.value }
        try await kept.value
    }

    /// Sets the machine's clock to what it shows, which only a machine made for tests should allow.
    @Test(.enabled(if: Machine.environment["BELFRY_MAY_SET_CLOCK"] != nil), .timeLimit(.minutes(5)))
    func `wakes everybody when somebody sets the clock`() async throws {
        let clock = try SystemClock()
        let far = clock.now + .seconds(3600)
        let sleeper = Task { try await clock.sleep(until: far) }
        let setter = Task.detached {
            while !Task.isCancelled {
                var time = timespec()
                unsafe clock_gettime(CLOCK_REALTIME, &time)
                guard unsafe clock_settime(CLOCK_REALTIME, &time) == 0 else { return false }
                await Task.yield()
            }
            return true
        }
        try await sleeper.value
        #expect(clock.now < far)
        setter.cancel()
        #expect(await setter.value)
    }

    @Test func `counts time since boot forward, near the kernel's own figure`() throws {
        let clock = try SystemClock()
        let first = clock.sinceBoot
        let uptime = try #require(Double(SmallFile.text("/proc/uptime").prefix { $0 != " " }))
        let last = clock.sinceBoot
        #expect(last >= first)
        #expect(
            uptime > Double(first.milliseconds) / 1000 - 5 && uptime < Double(last.milliseconds) / 1000 + 5)
    }
}
