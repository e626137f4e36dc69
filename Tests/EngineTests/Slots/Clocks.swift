import Engine
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(2))) struct `a clock that is set back` {
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

@Suite(.timeLimit(.minutes(2))) struct `a clock that jumps ahead` {
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
}
