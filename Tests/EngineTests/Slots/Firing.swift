import Delivery
import Engine
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a cron job` {
    @Test func `fires on its second and not before`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.cron("tick", "*/15 * * * * *"))
            try await scene.sleeps(until: at("10:00:15"))
            scene.clock.advance(to: at("10:00:14.999999"))
            try await scene.settled()
            #expect(try await scene.slots(of: "tick").isEmpty)
            scene.clock.advance(to: at("10:00:15"))
            try await scene.sleeps(until: at("10:00:30"))
            #expect(try await scene.slots(of: "tick") == [at("10:00:15")])
            let run = try #require(try await scene.ledger.run(job: "tick", ordinal: 1))
            #expect(run.state == .queued && run.kind == .scheduled && run.lateness == .zero)
        }
    }

    @Test func `that was late shows by how much`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.cron("tick", "0 * * * * *"))
            try await scene.sleeps(until: at("10:01:00"))
            scene.clock.advance(to: at("10:01:02.5"))
            try await scene.sleeps(until: at("10:02:00"))
            let run = try #require(try await scene.ledger.run(job: "tick", ordinal: 1))
            #expect(run.slot == at("10:01:00") && run.lateness == .milliseconds(2500))
        }
    }

    @Test func `that is still at it skips, and all skipped slots share a row and an event`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.cron("slow", "0 * * * * *"))
            for minute in 1...4 {
                try await scene.sleeps(until: at("10:0\(minute):00"))
                scene.clock.advance(to: at("10:0\(minute):00"))
            }
            try await scene.sleeps(until: at("10:05:00"))
            #expect(try await scene.slots(of: "slow") == [at("10:01:00")])
            #expect(try await scene.spans(of: "slow") == ["skipped overlap 10:02:00-10:04:00 x3"])
            let events = try await scene.ledger.events(after: 0, limit: 100).map(\.event.type)
            #expect(events == [.runSkipped])

            let run = try #require(try await scene.ledger.run(job: "slow", ordinal: 1))
            try await scene.end(run)
            scene.clock.advance(to: at("10:05:00"))
            try await scene.sleeps(until: at("10:06:00"))
            #expect(try await scene.slots(of: "slow") == [at("10:01:00"), at("10:05:00")])
            scene.clock.advance(to: at("10:06:00"))
            try await scene.sleeps(until: at("10:07:00"))
            #expect(
                try await scene.spans(of: "slow") == [
                    "skipped overlap 10:02:00-10:04:00 x3", "skipped overlap 10:06:00-10:06:00 x1",
                ])
        }
    }

    @Test func `keeps its second in a zone that changes its clock`() async throws {
        // In New York the night of 2026-03-08 has no 02:30.
        let now = try Moment(iso8601: "2026-03-08T06:00:00Z")
        try await SlotScene.run(at: now) { scene in
            var spec = JobSpec.cron("night", "30 2 * * *")
            spec.schedule.zone = "America/New_York"
            try await scene.put(spec)
            let slot = try Moment(iso8601: "2026-03-08T07:00:00Z")
            try await scene.sleeps(until: slot)
            scene.clock.advance(to: slot)
            try await scene.sleeps(until: try Moment(iso8601: "2026-03-09T06:30:00Z"))
            #expect(try await scene.slots(of: "night") == [slot])
        }
    }

    @Test func `does not keep an idle daemon awake`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            try await scene.put(.manual("asked"), .cron("rare", "0 0 1 1 *"))
            let sleep = await scene.clock.nextSleeper()
            #expect(sleep.iso8601 == "2027-01-01T00:00:00Z")
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a disk that is full` {
    @Test(.enabled("needs the right to mount a file system") { await SmallDisk.mayMount() })
    func `delays slots, loses none, and refuses what people ask`() async throws {
        let disk = try SmallDisk(megabytes: 16)
        try await SlotScene.run(in: disk.folder, at: at("10:00:00")) { scene in
            try await scene.put(.cron("one", "0 * * * * *"), .cron("two", "0 * * * * *"))
            try await scene.sleeps(until: at("10:01:00"))
            try disk.fill()
            scene.clock.advance(to: at("10:01:00"))
            // Asks again a second later, then two.
            try await scene.sleeps(until: at("10:01:01"))
            await #expect(throws: EngineError.ledger(.full)) {
                try await scene.keeper.change([.remove("one")])
            }
            #expect(try await scene.ledger.runs(RunFilter()).isEmpty)
            scene.clock.advance(to: at("10:01:10"))
            try disk.free()
            try await scene.settled()
            for job in ["one", "two"] {
                #expect(try await scene.slots(of: job) == [at("10:01:00")])
                #expect(try await scene.spans(of: job).isEmpty)
            }
            scene.clock.advance(to: at("10:02:00"))
            try await scene.settled()
            #expect(try await scene.spans(of: "one") == ["skipped overlap 10:02:00-10:02:00 x1"])
        }
    }

    @Test(.enabled("needs the right to mount a file system") { await SmallDisk.mayMount() })
    func `shows that slots are late, and records them as soon as there is room`() async throws {
        let disk = try SmallDisk(megabytes: 16)
        try await SlotScene.run(in: disk.folder, at: at("10:00:00")) { scene in
            try await scene.put(.cron("one", "0 * * * * *"))
            try await scene.sleeps(until: at("10:01:00"))
            try disk.fill()
            #expect(await scene.keeper.summary().late == nil)
            let tries = ["10:01:00", "10:01:01", "10:01:03", "10:01:06"]
            for (time, next) in zip(tries, tries.dropFirst()) {
                scene.clock.advance(to: at(time))
                try await scene.sleeps(until: at(next))
            }
            #expect(await scene.keeper.summary().late == at("10:01:00"))
            try disk.free()
            // Whoever writes first finds that there is room: nobody waits for 10:01:06.
            try await scene.ledger.commit([.setFact(name: "touched", value: "now")])
            while try await scene.ledger.runs(RunFilter()).isEmpty { try Task.checkCancellation() }
            #expect(try await scene.slots(of: "one") == [at("10:01:00")])
            #expect(scene.clock.now == at("10:01:03"))
            #expect(await scene.keeper.summary().late == nil)
        }
    }
}
