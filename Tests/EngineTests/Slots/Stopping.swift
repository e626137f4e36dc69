import Delivery
import Engine
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a stop of the daemon` {
    @Test func `of three hours is spans and one run`() async throws {
        let folder = try TemporaryFolder()
        try await SlotScene.run(in: folder, at: at("10:00:00")) { scene in
            try await scene.put(.cron("minutely", "* * * * *"))
            try await scene.sleeps(until: at("10:01:00"))
        }
        try await SlotScene.run(in: folder, at: at("13:00:30")) { scene in
            try await scene.sleeps(until: at("13:01:00"))
            #expect(try await scene.slots(of: "minutely") == [at("13:00:00")])
            #expect(try await scene.spans(of: "minutely") == ["skipped superseded 10:01:00-12:59:00 x179"])
        }
    }

    @Test func `is missed where nothing is caught up, and said each time`() async throws {
        let folder = try TemporaryFolder()
        let spec = JobSpec.cron("hourly", "0 * * * *").with { $0.catchUp.mode = .none }
        try await SlotScene.run(in: folder, at: at("10:30:00")) { try await $0.put(spec) }
        for time in ["12:30:00", "14:30:00"] {
            try await SlotScene.run(in: folder, at: at(time)) { try await $0.settled() }
        }
        try await SlotScene.run(in: folder, at: at("14:30:00")) { scene in
            #expect(try await scene.slots(of: "hourly").isEmpty)
            #expect(
                try await scene.spans(of: "hourly") == [
                    "missed catchUpNone 11:00:00-12:00:00 x2", "missed catchUpNone 13:00:00-14:00:00 x2",
                ])
            let events = try await scene.ledger.events(after: 0, limit: 100).map(\.event)
            #expect(events.map(\.type) == [.runMissed, .runMissed])
            let span = Fact.Slots.Span(first: at("13:00:00"), last: at("14:00:00"), count: 2)
            #expect(
                events.last?.fact
                    == .runMissed(Fact.Slots(job: "hourly", bot: "belfry", reason: .catchUpNone, span)))
        }
    }

    @Test func `decides a slot once, however often it happens`() async throws {
        let folder = try TemporaryFolder()
        try await SlotScene.run(in: folder, at: at("10:00:00")) { scene in
            try await scene.put(.cron("tick", "0 * * * * *"))
        }
        for _ in 1...3 {
            try await SlotScene.run(in: folder, at: at("10:01:10")) { scene in
                try await scene.sleeps(until: at("10:02:00"))
                #expect(try await scene.slots(of: "tick") == [at("10:01:00")])
                #expect(try await scene.spans(of: "tick").isEmpty)
            }
        }
    }

    @Test func `starts no slot of a job that left the file meanwhile, or changed in it`() async throws {
        let folder = try TemporaryFolder()
        let old = ["removed", "changed", "same", "held"].map { JobSpec.cron($0, "* * * * *", "old") }
        try await SlotScene.run(in: folder, at: at("10:00:30")) { scene in
            _ = try await scene.keeper.change(old.map { .put($0, origin: .file, place: "f:1") })
            _ = try await scene.keeper.change([.pause("held", note: nil)])
            try await scene.put(.cron("typed", "* * * * *"))
        }
        try await SlotScene.run(in: folder, at: at("10:03:10"), awaitsJobs: true) { scene in
            // Nothing is decided before it is known what the file says.
            async let typed = scene.keeper.request(
                RequestedRun(job: "changed", kind: .manual, cause: RunCause.key("k")))
            try await scene.keeper.takeUp([
                .put(.cron("changed", "* * * * *", "new"), origin: .file, place: "f:1"),
                .put(old[2], origin: .file, place: "f:9"),
                .remove("removed"), .remove("held"),
            ])
            _ = try await typed
            for job in ["removed", "changed"] {
                #expect(try await scene.slots(of: job).isEmpty)
                #expect(
                    try await scene.spans(of: job) == ["missed definitionChanged 10:01:00-10:03:00 x3"])
            }
            #expect(try await scene.spans(of: "held") == ["skipped paused 10:01:00-10:03:00 x3"])
            for job in ["same", "typed"] { #expect(try await scene.slots(of: job) == [at("10:03:00")]) }
            #expect(try await scene.newest("changed").revision == 2)
            let reported = try await scene.ledger.events(after: 0, limit: 99).map(\.event)
            #expect(reported.count { $0.type == .runMissed && $0.reason == "definitionChanged" } == 2)
            try await scene.end(try await scene.newest("changed"))
            scene.clock.advance(to: at("10:04:00"))
            try await scene.settled()
            #expect(try await scene.slots(of: "changed") == [at("10:04:00")])
        }
    }

    @Test func `withdraws what waited of a job that left or changed in the file`() async throws {
        let folder = try TemporaryFolder()
        let spread = JobSpec.cron("spread", "0 10 * * *").with { $0.spread = .seconds(7200) }
        let edited = JobSpec.cron("edited", "0 10 * * *", "old").with { $0.spread = .seconds(7200) }
        try await SlotScene.run(in: folder, at: at("09:59:59")) { scene in
            _ = try await scene.keeper.change([
                .put(spread, origin: .file, place: "f:1"),
                .put(.cron("retried", "0 10 * * *"), origin: .file, place: "f:2"),
                .put(edited, origin: .file, place: "f:3"),
            ])
            scene.clock.advance(to: at("10:00:00"))
            try await scene.settled()
            let run = try await scene.newest("retried")
            var retry = RunMove(run, from: [.starting], to: .queued, reason: .retryWait)
            retry.nextAttempt = 2
            try await scene.ledger.commit([
                .moveRun(RunMove(run, from: [.queued], to: .starting)), .moveRun(retry),
            ])
            #expect(try await scene.newest("spread").state == .scheduled)
        }
        try await SlotScene.run(in: folder, at: at("13:00:00"), awaitsJobs: true) { scene in
            try await scene.keeper.takeUp([
                .remove("spread"), .remove("retried"),
                .put(.cron("edited", "0 10 * * *", "new"), origin: .file, place: "f:3"),
            ])
            let old = try await scene.newest("edited")
            #expect(old.state == .canceled && old.reason == .definitionChanged)
            for job in ["spread", "retried"] {
                let run = try await scene.newest(job)
                #expect(run.state == .canceled && run.reason == .jobRemoved)
            }
            #expect(await scene.keeper.summary().active == 0)
        }
    }

    @Test func `keeps the jobs, their pauses, and who is busy`() async throws {
        let folder = try TemporaryFolder()
        try await SlotScene.run(in: folder, at: at("10:00:00")) { scene in
            try await scene.put(.cron("busy", "0 * * * * *"), .cron("held", "0 * * * * *"))
            _ = try await scene.keeper.change([.pause("held", note: "holiday")])
            scene.clock.advance(to: at("10:01:00"))
            try await scene.settled()
        }
        try await SlotScene.run(in: folder, at: at("10:01:30")) { scene in
            scene.clock.advance(to: at("10:02:00"))
            try await scene.settled()
            #expect(try await scene.spans(of: "busy") == ["skipped overlap 10:02:00-10:02:00 x1"])
            let held = try await scene.spans(of: "held")
            #expect(held.map { $0.hasPrefix("skipped paused") } == [true, true])
            #expect(try await scene.keeper.entry("held")?.record.pause?.note == "holiday")
        }
    }
}
