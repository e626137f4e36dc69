import Engine
import Ledger
import LedgerSQLite
import Synchronization
import TestSupport
import Testing
import Timeline

/// Zone data is replaced while the daemon runs: a law changed, and the package came with it.
@Suite struct `another release of the zone data` {
    /// One zone whose offset can be changed; none: it is not known.
    private final class Place: Sendable {
        let hours: Mutex<Int?>

        init(_ hours: Int) { self.hours = Mutex(hours) }

        var lookup: ZoneLookup {
            { name in
                guard name == "Test/Place", let hours = self.hours.withLock({ $0 }) else { return nil }
                return ZoneRules(name: name, offsetSeconds: hours * 3600)
            }
        }
    }

    private static func noon() -> JobSpec {
        JobSpec.cron("noon", "0 12 * * *").with { $0.schedule.zone = "Test/Place" }
    }

    @Test func `moves the slots that are to come, also to before the next wake-up`() async throws {
        let place = Place(1)
        try await SlotScene.run(at: at("09:30:00"), zones: place.lookup) { scene in
            try await scene.put(Self.noon())
            try await scene.sleeps(until: at("11:00:00"))
            place.hours.withLock { $0 = 2 }
            await scene.keeper.takeUpZones(release: "2026b")
            try await scene.sleeps(until: at("10:00:00"))
            #expect(await scene.keeper.summary().tzdata == "2026b")
            scene.clock.advance(to: at("10:00:00"))
            try await scene.settled()
            #expect(try await scene.slots(of: "noon") == [at("10:00:00")])
        }
    }

    @Test func `leaves what has passed as it was decided, also after a restart`() async throws {
        let folder = try TemporaryFolder()
        let place = Place(1)
        try await SlotScene.run(in: folder, at: at("10:30:00"), zones: place.lookup) { scene in
            try await scene.put(Self.noon())
            try await scene.sleeps(until: at("11:00:00"))
            scene.clock.advance(to: at("11:00:00"))
            try await scene.settled()
            scene.clock.advance(to: at("12:30:00"))
            place.hours.withLock { $0 = 0 }
            await scene.keeper.takeUpZones(release: "2026b")
            try await scene.settled()
            #expect(try await scene.slots(of: "noon") == [at("11:00:00")])
        }
        try await SlotScene.run(in: folder, at: at("12:40:00"), zones: place.lookup) { scene in
            try await scene.settled()
            #expect(try await scene.slots(of: "noon") == [at("11:00:00")])
            #expect(await scene.keeper.summary().tzdata == "2026b")
        }
    }

    @Test func `can remove a zone and bring it back`() async throws {
        let place = Place(1)
        try await SlotScene.run(at: at("09:30:00"), zones: place.lookup) { scene in
            try await scene.put(Self.noon())
            place.hours.withLock { $0 = nil }
            await scene.keeper.takeUpZones(release: "2026b")
            try await scene.settled()
            #expect(await scene.keeper.summary().faults.keys.sorted() == ["noon"])
            place.hours.withLock { $0 = 1 }
            await scene.keeper.takeUpZones(release: "2026c")
            try await scene.settled()
            #expect(await scene.keeper.summary().faults.isEmpty)
            #expect(try await scene.keeper.entry("noon")?.next == at("11:00:00"))
        }
    }

    @Test func `of the same rules commits nothing`() async throws {
        try await SlotScene.run(at: at("09:30:00"), zones: Place(1).lookup) { scene in
            try await scene.put(Self.noon())
            await scene.keeper.takeUpZones(release: "2026b")
            try await scene.settled()
            let before = try await scene.ledger.watermark()
            scene.clock.advance(to: at("09:40:00"))
            await scene.keeper.takeUpZones(release: "2026b")
            try await scene.settled()
            #expect(try await scene.ledger.watermark() == before)
        }
    }
}
