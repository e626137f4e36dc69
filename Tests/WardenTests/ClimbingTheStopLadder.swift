import Testing

@testable import Warden

@Suite struct `the stop ladder` {
    @Test func `asks at the timeout, kills after the grace, and gives up when nothing helps`() {
        var ladder = StopLadder(startedAt: .seconds(100), timeout: .seconds(60), grace: .seconds(10))
        #expect(ladder.deadline == .seconds(160))
        #expect(ladder.advance(to: .seconds(159)) == nil)
        #expect(!ladder.isStopping)
        #expect(ladder.advance(to: .seconds(160)) == .terminate)
        #expect(ladder.cause == .timeout)
        #expect(ladder.advance(to: .seconds(169)) == nil)
        var now = Duration.seconds(170)
        for _ in 0..<10 {
            #expect(ladder.advance(to: now) == .kill)
            now = ladder.deadline ?? .zero
        }
        #expect(ladder.advance(to: now) == .giveUp)
        #expect(ladder.rung == .given)
        #expect(ladder.deadline == nil)
        #expect(ladder.advance(to: .seconds(1000)) == nil)
    }

    @Test func `never ends a run without a timeout by itself`() {
        var ladder = StopLadder(startedAt: .zero, timeout: nil, grace: .seconds(10))
        #expect(ladder.deadline == nil)
        #expect(ladder.advance(to: .seconds(1_000_000)) == nil)
    }

    @Test func `keeps the first cause`() {
        var ladder = StopLadder(startedAt: .zero, timeout: .seconds(5), grace: .seconds(10))
        #expect(ladder.cancel("replaced", at: .seconds(4)) == .terminate)
        #expect(ladder.cancel("requested", at: .seconds(4)) == nil)
        #expect(ladder.advance(to: .seconds(5)) == nil)
        #expect(ladder.cause == .canceled("replaced"))
        #expect(ladder.deadline == .seconds(14))
    }

    @Test func `asks and kills what a lost run left, and is not needed by one that is ended already`() {
        var lost = StopLadder(startedAt: .zero, timeout: .seconds(5), grace: .seconds(10))
        #expect(lost.lose(at: .seconds(1)) == .terminate)
        #expect(lost.cause == .lost && lost.isStopping)
        #expect(lost.advance(to: .seconds(11)) == .kill)
        var late = StopLadder(startedAt: .zero, timeout: .seconds(5), grace: .seconds(10))
        #expect(late.advance(to: .seconds(5)) == .terminate)
        #expect(late.lose(at: .seconds(6)) == nil)
        #expect(late.cause == .timeout)
    }

    @Test func `kills at once without a grace`() {
        var ladder = StopLadder(startedAt: .zero, timeout: nil, grace: .zero)
        #expect(ladder.cancel("requested", at: .seconds(1)) == .kill)
    }
}
