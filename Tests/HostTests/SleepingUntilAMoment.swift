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

    @Test func `wakes many sleepers, the earliest first`() async throws {
        let clock = try SystemClock()
        let start = clock.now + .milliseconds(30)
        let order = try await withThrowingTaskGroup(of: Int.self) { group in
            for step in [4, 2, 0, 3, 1] {
                group.addTask {
                    try await clock.sleep(until: start + .milliseconds(40 * step))
                    return step
                }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(order == [0, 1, 2, 3, 4])
    }

    @Test func `lets a canceled sleeper go and keeps the others`() async throws {
        let clock = try SystemClock()
        let canceled = Task { try await clock.sleep(until: clock.now + .seconds(3600)) }
        let kept = Task { try await clock.sleep(until: clock.now + .milliseconds(30)) }
        canceled.cancel()
        await #expect(throws: CancellationError.self) { try await canceled.value }
        try await kept.value
    }

    @Test func `counts time since boot forward, near the kernel's own figure`() throws {
        let clock = try SystemClock()
        let first = clock.sinceBoot
        let uptime = try #require(Double(SmallFile.text("/proc/uptime").prefix { $0 != " " }))
        #expect(abs(Double(first.milliseconds) / 1000 - uptime) < 5)
        #expect(clock.sinceBoot >= first)
    }
}
