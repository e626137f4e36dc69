import Engine
import Ledger
import LedgerSQLite
import Synchronization
import TestSupport
import Testing
import Timeline

@Suite(.timeLimit(.minutes(5))) struct `a job with several schedules` {
    /// The members in UTC, unless they name another zone.
    private func several(_ members: [ScheduleSpec]) -> JobSpec {
        JobSpec(
            name: "s", action: .shell("true"), schedule: ScheduleSpec(several: members, zone: "UTC")
        ).with {
            $0.overlap = .allow
            $0.catchUp = CatchUpPolicy(mode: .all, within: .seconds(30 * 86_400), burst: 1000)
        }
    }

    private func cron(_ text: String, _ zone: String = "UTC") -> ScheduleSpec {
        ScheduleSpec(kind: .cron, text: text, zone: zone)
    }

    private func every(_ text: String) -> ScheduleSpec { ScheduleSpec(kind: .every, text: text, zone: "UTC") }

    @Test func `is written alike whenever its members became active`() {
        let written = several([cron("0 9 * * *"), every("20s")])
        var stored = written
        stored.schedule.note(made: at("10:00:00"), replacing: nil, activeSince: at("10:00:00"))
        #expect(stored != written && stored.isWritten(as: written) && written.isWritten(as: stored))
        #expect(!stored.isWritten(as: several([cron("0 9 * * *"), every("30s")])))
        #expect(!stored.isWritten(as: written.with { $0.overlap = .skip }))
    }

    @Test func `runs at the slots of all, and once where they coincide`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(several([cron("0 11,12 * * *"), every("40m"), cron("20 11 * * *")]))
            for time in ["10:40:00", "11:00:00", "11:20:00", "12:00:00"] {
                try await scene.sleeps(until: at(time))
                scene.clock.advance(to: at(time))
                try await scene.settled()
            }
            let times = ["10:40:00", "11:00:00", "11:20:00", "12:00:00"].map(at)
            #expect(try await scene.slots(of: "s") == times)
        }
    }

    /// The daemon is stopped at random moments; between them each minute is asked of each member by itself.
    @Test(arguments: [1 as UInt64, 2, 3])
    func `misses and doubles nothing across restarts`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let start = at("00:00:30")
        let minutes = (0..<2).map { _ in Int.random(in: 0..<60, using: &random) }
        let size = Int.random(in: 7...90, using: &random)
        let members = [
            cron("\(minutes[0]) * * * *"), cron("\(minutes[1]) */3 * * *", "Asia/Kolkata"),
            every("\(size)m"),
        ]
        var now = start
        try await SlotScene.run(in: folder, at: now) { scene in try await scene.put(several(members)) }
        for _ in 0..<6 {
            now = now + .seconds(Int64.random(in: 30...20_000, using: &random))
            try await SlotScene.run(in: folder, at: now) { scene in
                try await scene.settled()
                let later = now + .seconds(Int64.random(in: 1...4000, using: &random))
                scene.clock.advance(to: later)
                try await scene.settled()
                now = later
            }
        }
        let wanted = stride(from: start.seconds + 1, through: now.seconds, by: 1).filter { second in
            let (utc, kolkata) = (second, second + 19_800)
            return utc % 3600 == Int64(minutes[0]) * 60
                || kolkata % 10_800 == Int64(minutes[1]) * 60
                || (utc - start.seconds) % Int64(size * 60) == 0
        }
        try await SlotScene.run(in: folder, at: now) { scene in
            let slots = try await scene.slots(of: "s")
            #expect(slots == wanted.map(Moment.init(seconds:)), "seed \(seed)")
            #expect(try await scene.spans(of: "s").isEmpty)
        }
    }

    @Test func `counts what it passes over once`() async throws {
        let folder = try TemporaryFolder()
        try await SlotScene.run(in: folder, at: at("10:00:00")) { scene in
            try await scene.put(
                several([cron("0,30 * * * *"), cron("*/20 * * * *")]).with { $0.catchUp = .standard })
        }
        try await SlotScene.run(in: folder, at: at("12:10:00")) { scene in
            try await scene.settled()
            #expect(try await scene.slots(of: "s") == [at("12:00:00")])
            #expect(try await scene.spans(of: "s") == ["skipped superseded 10:20:00-11:40:00 x7"])
        }
    }

    @Test func `keeps the grid that it had before another schedule was added`() async throws {
        try await SlotScene.run(at: at("10:00:07")) { scene in
            try await scene.put(JobSpec.timed("s", .every, "15m"))
            scene.clock.advance(to: at("10:09:00"))
            try await scene.put(several([cron("0 23 * * *"), every("15m")]))
            #expect(try await scene.keeper.entry("s")?.next == at("10:15:07"))
            scene.clock.advance(to: at("10:12:00"))
            try await scene.put(several([cron("0 22 * * *"), every("15m"), every("50m")]))
            #expect(try await scene.keeper.entry("s")?.next == at("10:15:07"))
        }
    }

    @Test func `has runs by the clock beside those of the machine's start`() async throws {
        let folder = try TemporaryFolder()
        let startup = ScheduleSpec(kind: .startup, text: "", zone: "UTC")
        try await SlotScene.run(in: folder, at: at("10:00:00")) { scene in
            try await scene.put(several([cron("0 11 * * *"), startup]))
            try await scene.keeper.takeUp(boot: "one")
            #expect(try await scene.newest("s").cause == "boot:one")
            try await scene.sleeps(until: at("11:00:00"))
        }
        try await SlotScene.run(in: folder, at: at("11:00:00")) { scene in
            try await scene.keeper.takeUp(boot: "one")
            try await scene.settled()
            #expect(try await scene.ledger.runs(RunFilter(job: "s")).count == 2)
            #expect(try await scene.slots(of: "s") == [at("11:00:00")])
        }
    }

    @Test func `follows new rules of each of its zones`() async throws {
        let hours = Offsets()
        try await SlotScene.run(at: at("06:30:00"), zones: hours.lookup) { scene in
            try await scene.put(several([cron("0 12 * * *", "Test/One"), cron("0 12 * * *", "Test/Two")]))
            try await scene.sleeps(until: at("11:00:00"))
            hours.set(5, of: "Test/Two")
            await scene.keeper.takeUpZones(release: "2026b")
            try await scene.sleeps(until: at("07:00:00"))
            hours.set(nil, of: "Test/Two")
            await scene.keeper.takeUpZones(release: "2026c")
            try await scene.settled()
            #expect(await scene.keeper.summary().faults.keys.sorted() == ["s"])
            hours.set(2, of: "Test/Two")
            await scene.keeper.takeUpZones(release: "2026d")
            try await scene.sleeps(until: at("10:00:00"))
        }
    }

    /// Zones whose offsets can be changed; those without one are not known.
    private final class Offsets: Sendable {
        private let hours = Mutex<[String: Int]>(["Test/One": 1, "Test/Two": 1])

        func set(_ hours: Int?, of zone: String) { self.hours.withLock { $0[zone] = hours } }

        var lookup: ZoneLookup {
            { name in
                if name == "UTC" { return .utc }
                return self.hours.withLock { $0[name] }.map {
                    ZoneRules(name: name, offsetSeconds: $0 * 3600)
                }
            }
        }
    }
}
