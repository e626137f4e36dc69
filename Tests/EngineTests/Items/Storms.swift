import Curl
import Delivery
import Engine
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

extension Tower {
    fileprivate func wanted(_ item: String) async throws -> Int64? {
        try await ledger.surface(channel: "cache", item: item)?.wanted
    }

    fileprivate func storm(_ number: Int = 1) async throws -> StormReport? {
        guard case .storm(let report)? = try await shown(.storm(number))?.content else { return nil }
        return report
    }

    fileprivate func fail(_ jobs: String..., code: Int = 1) async throws {
        for job in jobs { try await end(job, .failed, exitCode: code) }
        try await settled()
    }

    fileprivate func succeed(_ jobs: String...) async throws {
        for job in jobs { try await end(job, .completed) }
        try await settled()
    }
}

@Suite(.timeLimit(.minutes(5))) struct `jobs that fail alike within a minute` {
    let curl: CurlMulti
    let channels: [any Channel]
    let routes = [Route(when: [.failed, .recovered, .lost], to: ["cache", "hook"])]

    init() throws {
        curl = try CurlMulti()
        channels = [
            makeDesk("cache", clock: ManualClock(now: at("10:00:00"))), try makeHook("hook", curl: curl),
        ]
    }

    @Test func `are one item, while each is known to have failed and each webhook is sent`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            try await tower.fail("a", "b")
            #expect(try await tower.storm() == nil)
            #expect(try await tower.shown(.job("a"))?.reason == .failed)
            tower.clock.advance(by: .seconds(20))
            try await tower.fail("c")
            let report = try #require(try await tower.storm())
            #expect(report.jobs == ["a", "b", "c"] && report.total == 3 && report.text == "exit code 1")
            #expect(try await tower.ledger.surface(channel: "cache", item: "storm:1")?.ring == false)
            for job in ["a", "b", "c"] {
                #expect(try await tower.shown(.job(job)) == nil, "\(job)")
                let record = try #require(try await tower.ledger.item(.job(job)))
                #expect(String(decoding: record.state, as: UTF8.self).contains("\"failures\":1"))
            }
            #expect(try await tower.entries(of: "hook").count == 3)
            tower.clock.advance(by: .seconds(2))
            try await tower.fail("d")
            #expect(try await tower.storm()?.total == 4)
            // One that fails in another way is a failure of its own.
            try await tower.fail("e", code: 2)
            #expect(try await tower.shown(.job("e"))?.reason == .failed)
            let why = try await tower.control.why("job:d", limit: 9).filter { $0.verdict.channel == "cache" }
            #expect(why.map(\.verdict.reason) == ["joined"])
        }
    }

    @Test func `recover together, and a failure after that is one of its own`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            try await tower.fail("a", "b", "c")
            tower.clock.advance(by: .seconds(600))
            // They fail again, one by one, and are listed still.
            try await tower.fail("b")
            #expect(try await tower.shown(.job("b")) == nil)
            tower.clock.advance(by: .seconds(2))
            try await tower.succeed("a", "b")
            #expect(try await tower.shown(.job("a")) == nil)
            tower.clock.advance(by: .seconds(2))
            try await tower.until { try await tower.storm()?.failing == 1 }
            tower.clock.advance(by: .seconds(2))
            try await tower.succeed("c")
            #expect(try await tower.storm()?.failing == 0)
            #expect(try await tower.shown(.storm(1))?.reason == .recovered)
            for job in ["a", "b", "c"] { #expect(try await tower.shown(.job(job)) == nil, "\(job)") }
            #expect(try await tower.entries(of: "hook").filter { $0.type == "run.recovered" }.count == 3)
            tower.clock.advance(by: .seconds(600))
            try await tower.fail("a")
            #expect(try await tower.shown(.job("a"))?.reason == .failed)
        }
    }

    @Test func `are counted through the death of the daemon`() async throws {
        let folder = try TemporaryFolder()
        for (number, jobs) in [["a"], ["b"], ["c"], ["d"]].enumerated() {
            let now = at("10:00:00") + .seconds(10 * number)
            try await Tower.run(in: folder, at: now, channels: channels, routes: routes) { tower in
                try await tower.settled()
                try await tower.fail(jobs[0])
                #expect(try await tower.storm()?.total == (number < 2 ? nil : number + 1))
            }
        }
        try await Tower.run(in: folder, at: at("10:30:00"), channels: channels, routes: routes) { tower in
            for job in ["a", "b"] { #expect(try await tower.shown(.job(job)) == nil) }
            // Long after: another job's failure is its own.
            try await tower.fail("e")
            #expect(try await tower.shown(.job("e"))?.reason == .failed)
            try await tower.succeed("a", "b", "c", "d")
            tower.clock.advance(by: .seconds(2))
            try await tower.until { try await tower.storm()?.failing == 0 }
        }
    }

    @Test func `name the label that they share`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            for job in ["a", "b", "c"] {
                var spec = JobSpec.manual(job)
                spec.labels = ["host": "db1", "name": job]
                try await tower.ledger.commit([
                    .putJob(
                        JobRecord(spec: spec, origin: .cli, revision: 1, since: tower.clock.now),
                        replacing: nil)
                ])
            }
            try await tower.fail("a", "b", "c")
            let shown = try #require(try await tower.shown(.storm(1)))
            let notice = NoticeComposer.compose(shown)
            #expect(notice.title == "3 jobs failed on host db1")
            #expect(notice.body == "exit code 1\na, b, c")
        }
    }

    @Test func `lose one that is removed, and recover without it`() async throws {
        try await Tower.run(keepers: [.items, .slots], channels: channels, routes: routes) { tower in
            for job in ["a", "b", "c"] { _ = try await tower.control.add(.manual(job)) }
            try await tower.fail("a", "b", "c")
            tower.clock.advance(by: .seconds(2))
            try await tower.succeed("b", "c")
            tower.clock.advance(by: .seconds(2))
            try await tower.until { try await tower.storm()?.failing == 1 }
            tower.clock.advance(by: .seconds(2))
            try await tower.control.remove("a")
            try await tower.until { try await tower.storm()?.failing == 0 }
            #expect(try await tower.storm()?.jobs == ["b", "c"])
        }
    }

    @Test func `are not joined by a run whose job was removed while it was under way`() async throws {
        try await Tower.run(keepers: [.items, .slots], channels: channels, routes: routes) { tower in
            for job in ["a", "b", "c"] { _ = try await tower.control.add(.manual(job)) }
            let last = try await tower.begin("a")
            try await tower.control.remove("a")
            try await tower.fail("b", "c")
            try await tower.end(last, .failed, exitCode: 1)
            try await tower.settled()
            #expect(try await tower.storm() == nil)
            for job in ["a", "b", "c"] {
                #expect(try await tower.shown(.job(job))?.reason == .failed, "\(job)")
            }
        }
    }

    @Test func `lose one that was removed while no daemon ran, and keep one that is paused`() async throws {
        let folder = try TemporaryFolder()
        try await Tower.run(in: folder, keepers: [.items, .slots], channels: channels, routes: routes) {
            tower in
            for job in ["a", "b", "c"] { _ = try await tower.control.add(.manual(job)) }
            try await tower.fail("a", "b", "c")
            #expect(try await tower.storm()?.total == 3)
        }
        let ledger = try folder.ledger()
        try await ledger.commit([
            .removeJob(name: "a", revision: 1), .pauseJob(name: "b", Pause(since: at("10:00:10"))),
        ])
        await ledger.close()
        try await Tower.run(in: folder, at: at("10:01:00"), channels: channels, routes: routes) { tower in
            try await tower.until { try await tower.storm()?.jobs == ["b", "c"] }
        }
    }

    @Test func `put away stay away, and what fails after that is news`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            try await tower.fail("a", "b", "c")
            let revision = try #require(try await tower.wanted("storm:1"))
            let dismissal = Fact.Dismissal("storm:1", on: "cache", revision: Int(revision))
            try await tower.ledger.commit([.append(NewEvent(.itemDismissed(dismissal), at: tower.clock.now))])
            try await tower.settled()
            #expect(try await tower.storm() == nil)
            tower.clock.advance(by: .seconds(5))
            try await tower.fail("a")
            #expect(try await tower.storm() == nil)
            #expect(try await tower.shown(.job("a")) == nil)
            try await tower.fail("d")
            #expect(try await tower.shown(.job("d"))?.reason == .failed)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a storm on a notification server` {
    @Test func `takes the place of the first failure, and the others go`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let clock = ManualClock(now: at("10:00:00"))
        let desk = makeDesk("cache", at: bus.address, clock: clock)
        let routes = [Route(when: [.failed, .recovered], to: ["cache"])]
        try await Tower.run(keepers: [.items, .surfaces], channels: [desk], routes: routes) { tower in
            try await tower.fail("a")
            let first = try #require(try await server.next())
            try await tower.fail("b")
            let second = try #require(try await server.next())
            #expect(first.hints["suppress-sound"] == nil && second.replacesID == 0)
            try await tower.fail("c")
            let storm = try #require(try await server.next())
            #expect(storm.replacesID == first.id && storm.summary == "3 jobs failed")
            #expect(storm.hints["suppress-sound"] != nil)
            #expect(try await server.next("CloseNotification")?.id == second.id)
            try await tower.until {
                try await tower.ledger.surfaces(channel: "cache", all: false).isEmpty
            }
            let surfaces = try await tower.ledger.surfaces(channel: "cache", all: true)
            #expect(surfaces.filter { $0.remote != nil }.map(\.item) == ["storm:1"])
        }
    }
}
