import Delivery
import Engine
import Ledger
import LedgerSQLite
import Synchronization
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a clock that is set back` {
    @Test func `by a little fires nothing twice`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.cron("tick", "0 * * * * *"))
            try await scene.sleeps(until: at("10:01:00"))
            scene.clock.advance(to: at("10:01:00"))
            try await scene.sleeps(until: at("10:02:00"))
            try await scene.end(try #require(try await scene.ledger.run(job: "tick", ordinal: 1)))
            scene.clock.set(to: at("09:00:00"))
            try await scene.sleeps(until: at("10:02:00"))
            for time in ["10:00:00", "10:01:00", "10:01:59"] {
                scene.clock.advance(to: at(time))
                try await scene.settled()
            }
            #expect(try await scene.slots(of: "tick") == [at("10:01:00")])
            #expect(try await scene.ledger.watermark()?.era == 0)
            scene.clock.advance(to: at("10:02:00"))
            try await scene.settled()
            #expect(try await scene.slots(of: "tick") == [at("10:01:00"), at("10:02:00")])
        }
    }

    @Test func `by more than three hours lets the hours it repeats fire again`() async throws {
        try await SlotScene.run(at: at("10:30:00")) { scene in
            // Made while the clock was five hours ahead.
            try await scene.put(.cron("hourly", "0 * * * *"))
            scene.clock.advance(to: at("11:00:00"))
            try await scene.settled()
            try await scene.end(try #require(try await scene.ledger.run(job: "hourly", ordinal: 1)))
            scene.clock.set(to: at("06:00:30"))
            try await scene.settled()
            #expect(try await scene.ledger.watermark() == Watermark(decidedUntil: at("06:00:30"), era: 1))
            let events = try await scene.ledger.events(after: 0, limit: .max).map(\.event)
            let back = Duration.seconds(4 * 3600 + 59 * 60 + 30)
            #expect(
                events.map(\.fact).filter { $0.type == .clockBack } == [.clockBack(Fact.ClockBack(by: back))])
            #expect(await scene.keeper.summary().setBack == at("11:00:00") - at("06:00:30"))
            for hour in ["07", "08", "09", "10", "11"] {
                scene.clock.advance(to: at("\(hour):00:00"))
                try await scene.settled()
                let runs = try await scene.ledger.runs(RunFilter(job: "hourly", states: [.queued]))
                #expect(runs.map(\.slot) == [at("\(hour):00:00")])
                for run in runs { try await scene.end(run) }
            }
            #expect(try await scene.slots(of: "hourly").filter { $0 == at("11:00:00") }.count == 2)
            #expect(try await scene.spans(of: "hourly").isEmpty)
        }
    }

    @Test func `by five hours after a day ahead loses nothing and doubles nothing in its era`() async throws {
        try await SlotScene.run(at: at("00:30:00")) { scene in
            try await scene.put(.cron("hourly", "0 * * * *"))
            // A day goes by on a clock that is five hours ahead.
            scene.clock.set(to: at("05:30:00"))
            try await scene.settled()
            try await scene.endNewest("hourly")
            for hour in 6..<24 {
                scene.clock.advance(to: at("00:00:00") + .seconds(3600 * hour))
                try await scene.settled()
                try await scene.endNewest("hourly")
            }
            let before = try await scene.slots(of: "hourly").count
            scene.clock.set(to: at("18:10:00"))
            try await scene.settled()
            for hour in 19..<24 {
                scene.clock.advance(to: at("00:00:00") + .seconds(3600 * hour))
                try await scene.settled()
                try await scene.endNewest("hourly")
            }
            #expect(try await scene.slots(of: "hourly").count == before + 5)
            let runs = try await scene.ledger.runs(RunFilter(job: "hourly"))
            #expect(Set(runs.map(\.cause)).count == runs.count)
            #expect(runs.prefix(5).allSatisfy { $0.era == 1 && $0.lateness == .zero })
        }
    }

    @Test func `shows until when slots wait`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.cron("tick", "0 * * * * *"))
            #expect(await scene.keeper.summary().behind == nil)
            scene.clock.set(to: at("09:00:00"))
            try await scene.settled()
            #expect(await scene.keeper.summary().behind == at("10:00:00"))
        }
    }

    @Test func `while the daemon was away begins the era at its start`() async throws {
        let folder = try TemporaryFolder()
        try await SlotScene.run(in: folder, at: at("15:00:30")) { scene in
            try await scene.put(.cron("hourly", "0 * * * *"))
        }
        try await SlotScene.run(in: folder, at: at("10:00:30")) { scene in
            try await scene.sleeps(until: at("11:00:00"))
            let watermark = try await scene.ledger.watermark()
            #expect(watermark?.era == 1)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a clock that jumps ahead` {
    @Test func `fires once for all it leapt over`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.cron("tick", "0 * * * * *"))
            try await scene.sleeps(until: at("10:01:00"))
            scene.clock.set(to: at("15:00:20"))
            try await scene.sleeps(until: at("15:01:00"))
            #expect(try await scene.slots(of: "tick") == [at("15:00:00")])
            #expect(try await scene.spans(of: "tick") == ["skipped superseded 10:01:00-14:59:00 x299"])
        }
    }

    @Test func `by an hour decides the hour by the policy of each job`() async throws {
        try await SlotScene.run(at: at("10:00:30")) { scene in
            try await scene.put(
                .cron("latest", "*/10 * * * *"),
                .cron("none", "*/10 * * * *").with { $0.catchUp.mode = .none },
                .cron("all", "*/10 * * * *").with { $0.catchUp.mode = .all }, .timed("grid", .every, "20m"))
            try await scene.sleeps(until: at("10:10:00"))
            scene.clock.set(to: at("11:05:00"))
            try await scene.sleeps(until: at("11:10:00"))
            #expect(try await scene.slots(of: "latest") == [at("11:00:00")])
            #expect(try await scene.slots(of: "none").isEmpty)
            #expect(try await scene.slots(of: "all").count == 6)
            #expect(try await scene.slots(of: "grid") == [at("11:00:30")])
            #expect(try await scene.spans(of: "none") == ["missed catchUpNone 10:10:00-11:00:00 x6"])
        }
    }

    @Test func `by ten years and back fires once, and continues as before`() async throws {
        try await SlotScene.run(at: at("10:00:30")) { scene in
            try await scene.put(.cron("tick", "* * * * * *"), .cron("hourly", "0 * * * *"))
            try await scene.sleeps(until: at("10:00:31"))
            let decade = Moment(seconds: at("10:00:30").seconds + 10 * 31_557_600)
            scene.clock.set(to: decade)
            try await scene.settled()
            #expect(try await scene.slots(of: "tick").count == 1)
            #expect(try await scene.slots(of: "hourly").count == 1)
            let spans = try await scene.ledger.spans(of: "tick", limit: .max)
            #expect(spans.count <= 3 && spans.reduce(0) { $0 + $1.count } == 10 * 31_557_600 - 1)
            for job in ["tick", "hourly"] { try await scene.endNewest(job) }
            scene.clock.set(to: at("10:01:00"))
            try await scene.settled()
            #expect(try await scene.keeper.entry("tick")?.next == at("10:01:01"))
            scene.clock.advance(to: at("10:01:01"))
            try await scene.settled()
            #expect(try await scene.newest("tick").slot == at("10:01:01"))
            #expect(try await scene.newest("tick").era == 1)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `eight hours of sleep` {
    @Test func `end with one run a job, not one a minute`() async throws {
        let slept = Sleep()
        let machine = ClockEdges(slept: { slept.duration })
        try await SlotScene.run(in: try TemporaryFolder(), at: at("01:00:00"), machine: machine) { scene in
            try await scene.put(.cron("minutely", "* * * * *"), .timed("grid", .every, "7m"))
            try await scene.sleeps(until: at("01:01:00"))
            slept.add(.seconds(8 * 3600))
            scene.clock.advance(by: .seconds(8 * 3600 + 90))
            try await scene.settled()
            #expect(try await scene.slots(of: "minutely") == [at("09:01:00")])
            #expect(try await scene.spans(of: "minutely") == ["skipped superseded 01:01:00-09:00:00 x480"])
            #expect(try await scene.slots(of: "grid") == [at("08:56:00")])
        }
    }
}

/// How long a machine has slept.
private final class Sleep: Sendable {
    private let microseconds = Atomic<Int64>(0)
    var duration: Duration { .microseconds(microseconds.load(ordering: .acquiring)) }
    func add(_ duration: Duration) {
        microseconds.add(duration.microseconds, ordering: .acquiringAndReleasing)
    }
}
