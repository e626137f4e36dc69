import TestSupport
import Testing
import Timeline

@testable import Engine

@Suite struct `what the keeper of slots sees of the clocks` {
    private func watch(_ clock: ManualClock, slept: Mutexed<Duration> = Mutexed(.zero)) -> SlotClock {
        SlotClock(clock, machine: ClockEdges(isSynchronised: { true }, slept: { slept.value }))
    }

    @Test func `is nothing while they run on`() {
        let clock = ManualClock(now: at("10:00:00"))
        var watch = watch(clock)
        clock.advance(by: .seconds(3600))
        #expect(watch.readClocks() == SlotClock.Change())
    }

    @Test func `is a sleep of the machine, and a clock that was set back, once each`() {
        let clock = ManualClock(now: at("10:00:00"))
        let slept = Mutexed(Duration.zero)
        var watch = watch(clock, slept: slept)
        slept.value = .seconds(60)
        clock.set(to: at("09:59:00"))
        #expect(watch.readClocks() == SlotClock.Change(slept: .seconds(60), wentBack: .seconds(60)))
        #expect(watch.readClocks() == SlotClock.Change())
        clock.set(to: at("09:58:59"))
        #expect(watch.readClocks() == SlotClock.Change())
    }

    @Test func `shows a new era for a day`() {
        let clock = ManualClock(now: at("10:00:00"))
        var watch = watch(clock)
        #expect(watch.recentSetBack == nil)
        watch.noteEra(by: .seconds(4 * 3600))
        clock.advance(by: .seconds(86_399))
        #expect(watch.recentSetBack == .seconds(4 * 3600))
        clock.advance(by: .seconds(1))
        #expect(watch.recentSetBack == nil)
    }
}
