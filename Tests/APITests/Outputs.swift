import Engine
import Host
import TestSupport
import Testing
import Timeline

@testable import APIServer

@Suite(.timeLimit(.minutes(5))) struct `whoever waits for more output` {
    @Test func `looks again after the pause, also when the clock was set back`() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock(now: Moment(seconds: 1_800_000_000))
        let notices = WriteNotices()
        async let occasion = wait(for: OutputLog(path: folder.file("job/log")), notices, clock)
        let until = await clock.nextSleeper()
        let pause = until - clock.now
        clock.set(to: clock.now - .seconds(3600))
        #expect(await clock.nextSleeper() == clock.now + pause)
        clock.advance(by: pause)
        #expect(try await occasion == .unknown)
    }

    private func wait(
        for log: OutputLog, _ notices: WriteNotices, _ clock: ManualClock
    ) async throws -> OutputGrowth.Occasion {
        try await OutputGrowth(of: log, notices, clock: clock).wait()
    }
}
