import Engine
import Ledger
import LedgerSQLite
import Synchronization
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a machine that has just started` {
    static let early = Moment(seconds: 3600)

    /// A machine whose clock is in step once the flag is up.
    private func machine(_ isSynchronised: Flag) -> ClockEdges {
        ClockEdges(isSynchronised: { isSynchronised.isUp })
    }

    /// A ledger with an hourly job, decided up to ten o'clock.
    private func ledger() async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try await SlotScene.run(in: folder, at: at("09:30:00")) { scene in
            try await scene.put(.cron("hourly", "0 * * * *"), .timed("start", .startup))
            scene.clock.advance(to: at("10:00:00"))
            try await scene.settled()
            try await scene.endNewest("hourly")
        }
        return folder
    }

    @Test func `in a wrong year decides no slots until the clock is set, then what it missed`() async throws {
        let folder = try await ledger()
        let set = Flag()
        try await SlotScene.run(in: folder, at: Self.early, sinceBoot: .seconds(20), machine: machine(set)) {
            scene in
            try await scene.sleeps(until: Self.early + .seconds(1))
            #expect(await scene.keeper.summary().isHeld)
            // What needs no clock does not wait.
            try await scene.keeper.takeUp(boot: "two")
            #expect(try await scene.newest("start").state == .queued)
            _ = try await scene.keeper.request(RequestedRun(job: "hourly", kind: .manual, cause: "key:1"))
            try await scene.endNewest("hourly")
            set.raise()
            scene.clock.set(to: at("12:10:00"))
            try await scene.settled()
            #expect(await scene.keeper.summary().isHeld == false)
            #expect(try await scene.slots(of: "hourly") == [at("10:00:00"), at("12:00:00")])
            #expect(try await scene.spans(of: "hourly") == ["skipped superseded 11:00:00-11:00:00 x1"])
            #expect(try await scene.ledger.watermark() == Watermark(decidedUntil: at("12:10:00"), era: 0))
        }
    }

    @Test func `without any time source continues after five minutes, and comes back without a flood`()
        async throws
    {
        let folder = try await ledger()
        try await SlotScene.run(
            in: folder, at: Self.early, sinceBoot: .seconds(20), machine: machine(Flag())
        ) { scene in
            try await scene.settled()
            scene.clock.advance(by: .seconds(300))
            try await scene.settled()
            #expect(try await scene.ledger.watermark()?.era == 1)
            #expect(await scene.keeper.summary().isHeld == false)
            #expect(try await scene.keeper.entry("hourly")?.next == Self.early + .seconds(3600))
            // Somebody sets it by hand: what counts is what was decided before the clock was wrong.
            scene.clock.set(to: at("12:10:00"))
            try await scene.settled()
            #expect(try await scene.slots(of: "hourly") == [at("10:00:00"), at("12:00:00")])
            #expect(try await scene.spans(of: "hourly") == ["skipped superseded 11:00:00-11:00:00 x1"])
            #expect(try await scene.ledger.watermark()?.era == 2)
        }
    }

    @Test func `far ahead decides nothing until the clock is set back`() async throws {
        let folder = try await ledger()
        let set = Flag()
        let year2098 = Moment(seconds: 4_050_000_000)
        try await SlotScene.run(in: folder, at: year2098, sinceBoot: .seconds(5), machine: machine(set)) {
            scene in
            try await scene.settled()
            set.raise()
            scene.clock.set(to: at("10:20:00"))
            try await scene.settled()
            #expect(try await scene.keeper.entry("hourly")?.next == at("11:00:00"))
            #expect(try await scene.spans(of: "hourly").isEmpty)
            #expect(try await scene.ledger.watermark()?.era == 0)
        }
    }

    @Test(arguments: [
        // What the clock shows, seconds since boot, in step, and the verdict.
        ("10:30:00", 20, false, false), ("10:30:00", 20, true, false), ("09:00:00", 20, false, false),
        ("06:59:59", 20, false, true), ("06:59:59", 20, true, false), ("06:59:59", 300, false, false),
        ("06:59:59", 299, false, true),
    ])
    func `is doubted only while nobody can have set its clock`(
        time: String, uptime: Int, isSynchronised: Bool, holds: Bool
    ) {
        #expect(
            ClockDoubt.holds(
                at(time), sinceBoot: .seconds(uptime), isSynchronised: isSynchronised,
                decidedUntil: at("10:00:00")) == holds)
        let later = at("10:00:00") + .seconds(86_401)
        #expect(
            ClockDoubt.holds(
                later, sinceBoot: .seconds(uptime), isSynchronised: isSynchronised,
                decidedUntil: at("10:00:00"))
                == (!isSynchronised && uptime < 300))
    }
}

/// A flag that a test raises while others look at it.
final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isUp: Bool { value.load(ordering: .acquiring) }
    func raise() { value.store(true, ordering: .releasing) }
}
