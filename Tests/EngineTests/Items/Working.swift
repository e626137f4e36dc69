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

@Suite(.timeLimit(.minutes(5))) struct `what a person sees of a job` {
    static let backup = ItemKey.job("backup")
    let curl: CurlMulti
    let channels: [any Channel]

    init() throws {
        curl = try CurlMulti()
        channels = try makeDeskAndHook(curl)
    }

    private func tower(
        _ when: Set<RouteWord>, to: [String] = ["desk", "hook"], _ body: (Tower) async throws -> Void
    ) async throws {
        try await Tower.run(channels: channels, routes: [Route(when: when, to: to)], body)
    }

    @Test func `counts failures, rings for the first, and ends with the recovery`() async throws {
        try await tower([.failed, .recovered]) { tower in
            func end(_ state: RunState, at time: String, code: Int? = nil) async throws -> ItemSnapshot? {
                tower.clock.advance(to: at(time))
                try await tower.end("backup", state, exitCode: code)
                try await tower.settled()
                return try await tower.shown(Self.backup)
            }
            let first = try #require(try await end(.failed, at: "10:00:00", code: 1))
            let second = try #require(try await end(.failed, at: "10:10:00", code: 1))
            let third = try #require(try await end(.failed, at: "10:20:00", code: 2))
            #expect([first, second, third].map(\.reason) == [.failed, .sameFailure, .failedDifferently])
            let last = try #require(try await end(.completed, at: "10:50:00"))
            #expect(last.reason == .recovered)
            guard case .job(let report) = last.content else {
                Issue.record("not a job")
                return
            }
            #expect(report.news == .recovered && report.outage == .seconds(3000) && report.failures == 3)
            let reported = try await tower.entries(of: "hook").map { try $0.said }
            #expect(reported.map(\.type) == ["run.failed", "run.failed", "run.failed", "run.recovered"])
            #expect(reported.last?.data.outageSeconds == 3000)
            #expect(reported.last?.data.run?.name == "backup#4")
            #expect(try await tower.ledger.surfaces(channel: "desk", all: true).map(\.wanted) == [4])
        }
    }

    @Test func `is counted also where only webhooks are sent`() async throws {
        try await tower([.failed, .recovered], to: ["hook"]) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            tower.clock.advance(by: .seconds(60))
            try await tower.end("backup", .completed)
            try await tower.settled()
            let reported = try await tower.entries(of: "hook").map { try $0.said }
            #expect(reported.map(\.type) == ["run.failed", "run.recovered"])
            #expect(reported.last?.data.outageSeconds == 60)
            // A success after a success is no news.
            try await tower.end("backup", .completed)
            try await tower.settled()
            #expect(try await tower.entries(of: "hook").count == 2)
            #expect(try await tower.ledger.surfaces(channel: "desk", all: true).isEmpty)
        }
    }

    @Test func `of its progress is edited once a second, and no event`() async throws {
        try await tower([.progress, .failed]) { tower in
            let task = LiveTask(id: "r", botID: "ops", run: "backup#1", name: "backup", botName: "ops")
            await tower.board.enter(task, attempt: 1, state: .running, saved: nil, at: tower.clock.now)
            func wanted() async throws -> Int64? {
                try await tower.ledger.surface(channel: "desk", item: "\(Self.backup)")?.wanted
            }
            func report(_ part: Double) async {
                _ = await tower.board.receive(
                    ProgressReport(fraction: part), of: "r", at: tower.clock.now)
            }
            func shown() async throws -> Double? {
                guard case .job(let report) = try await tower.shown(Self.backup)?.content else { return nil }
                return report.fact.progress
            }
            await report(0.1)
            try await tower.until { try await shown() == 0.1 }
            // Nobody looks at these before a second has passed.
            for part in 2...80 { await report(Double(part) / 100) }
            tower.clock.advance(by: .seconds(1))
            try await tower.until { try await shown() == 0.8 }
            // One second, so two looks.
            #expect(try await wanted() ?? .max <= 2)
            #expect(try await tower.eventTypes().isEmpty)
            #expect(try await tower.entries(of: "hook").isEmpty)
        }
    }

    @Test func `disturbs by a failure as much as its bot may`() async throws {
        let bots = ["ops": BotProfile(name: "ops", urgency: .low)]
        let routes = [Route(when: [.failed], to: ["desk"])]
        let desk: [any Channel] = [makeDesk("desk", clock: ManualClock(now: at("10:00:00")))]
        for (bots, urgency) in [([:], Urgency.critical), (bots, .low)] {
            try await Tower.run(channels: desk, routes: routes, bots: bots) { tower in
                try await tower.end("backup", .failed, exitCode: 1)
                try await tower.settled()
                let shown = try #require(try await tower.shown(Self.backup))
                #expect(shown.urgency == urgency && shown.reason.rings == (urgency == .critical))
            }
        }
    }

    /// Issue 10, number 21.
    @Test func `is shown on each desktop as if that were the only one`() async throws {
        let desks: [any Channel] = ["desk", "tv"].map {
            makeDesk($0, clock: ManualClock(now: at("10:00:00")))
        }
        let routes = [
            Route(when: [.progress, .failed, .completed], to: ["desk"]),
            Route(when: [.progress], to: ["tv"]),
        ]
        try await Tower.run(channels: desks, routes: routes) { tower in
            func shown(_ channel: String) async throws -> JobReport? {
                guard let record = try await tower.ledger.item(Self.backup),
                    case .job(let report)? = shownItem(record, on: channel)?.content
                else { return nil }
                return report
            }
            func wanted(_ channel: String) async throws -> Int64? {
                try await tower.ledger.surface(channel: channel, item: "\(Self.backup)")?.wanted
            }
            let run = try await tower.begin("backup")
            let task = LiveTask(id: run.id, botID: "ops", run: run.name, name: "backup", botName: "ops")
            await tower.board.enter(task, attempt: 1, state: .running, saved: nil, at: tower.clock.now)
            _ = await tower.board.receive(
                ProgressReport(fraction: 0.8), of: run.id, at: tower.clock.now)
            tower.clock.advance(by: .seconds(2))
            try await tower.until {
                let parts = (try await shown("desk")?.fact.progress, try await shown("tv")?.fact.progress)
                return parts == (0.8, 0.8)
            }
            let before = try #require(try await wanted("tv"))

            try await tower.end(run, .completed)
            try await tower.settled()
            tower.clock.advance(by: .seconds(2))
            try await tower.until { try await shown("desk")?.news == .completed }
            // The other one has nothing left to show, and was not notified of the end.
            #expect(try await shown("tv") == nil)
            #expect(try #require(try await wanted("tv")) > before)
            #expect(try await tower.shown(Self.backup) != nil)

            // A failure is shown where failures go, and puts nothing on the other.
            tower.clock.advance(by: .seconds(600))
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            tower.clock.advance(by: .seconds(2))
            try await tower.until { try await shown("desk")?.news == .failed }
            #expect(try await shown("tv") == nil)
        }
    }

    @Test func `is put away on each desktop that shows the same`() async throws {
        let desks: [any Channel] = ["desk", "tv", "wall"].map {
            makeDesk($0, clock: ManualClock(now: at("10:00:00")))
        }
        let routes = [
            Route(when: [.failed, .completed], to: ["desk"]), Route(when: [.failed], to: ["tv"]),
            Route(when: [.completed], to: ["wall"]),
        ]
        try await Tower.run(channels: desks, routes: routes) { tower in
            func shown(_ channel: String) async throws -> JobNews? {
                guard let record = try await tower.ledger.item(Self.backup),
                    case .job(let report)? = shownItem(record, on: channel)?.content
                else { return nil }
                return report.news
            }
            try await tower.end("backup", .completed)
            try await tower.settled()
            tower.clock.advance(by: .seconds(600))
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            let before = (try await shown("desk"), try await shown("tv"), try await shown("wall"))
            #expect(before == (.failed, .failed, .completed))
            let revision = try #require(
                try await tower.ledger.surface(channel: "tv", item: "\(Self.backup)")?.wanted)
            try await tower.ledger.commit([
                .append(
                    NewEvent(
                        .itemDismissed(
                            Fact.Dismissal("\(Self.backup)", on: "tv", revision: Int(revision))),
                        at: tower.clock.now))
            ])
            try await tower.settled()
            let after = (try await shown("desk"), try await shown("tv"), try await shown("wall"))
            #expect(after == (nil, nil, .completed))
        }
    }

    @Test func `is shown again after a restart of the daemon, with what came meanwhile`() async throws {
        let folder = try TemporaryFolder()
        let routes = [Route(when: [.failed], to: ["hook", "desk"])]
        // Nobody follows the events while they are written.
        try await Tower.run(in: folder, keepers: [], channels: channels, routes: routes) { tower in
            for _ in 1...3 { try await tower.end("backup", .failed, exitCode: 1) }
        }
        try await Tower.run(in: folder, channels: channels, routes: routes) { tower in
            try await tower.settled()
            #expect(try await tower.entries(of: "hook").count == 3)
            // The first is shown at once, the others a second later.
            tower.clock.advance(by: .seconds(1))
            try await tower.until {
                guard case .job(let report) = try await tower.shown(Self.backup)?.content else {
                    return false
                }
                return report.failures == 3
            }
        }
    }

    @Test func `missed or skipped is reported with its slots`() async throws {
        try await tower([.missed, .skipped, .failed]) { tower in
            let span = Fact.Slots.Span(
                first: at("01:00:00"), last: at("03:00:00"), count: 3)
            let slots = Fact.Slots(job: "backup", bot: "ops", reason: .catchUpNone, span)
            try await tower.ledger.commit([.append(NewEvent(.runMissed(slots), at: tower.clock.now))])
            try await tower.settled()
            let said = try #require(try await tower.entries(of: "hook").first?.said)
            #expect(said.type == "run.missed" && said.data.reason == "catchUpNone")
            #expect(said.data.run?.count == 3 && said.data.run?.state == "missed")
            #expect(try await tower.shown(Self.backup)?.reason == .missed)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a keeper of items that is killed anywhere` {
    @Test func `neither loses nor doubles a notice`() async throws {
        let curl = try CurlMulti()
        let folder = try TemporaryFolder()
        let channels: [any Channel] = [try makeHook("hook", curl: curl)]
        let routes = [Route(when: [.failed, .message], to: ["hook"])]
        var runs: Set<String> = []
        for round in 0..<25 {
            try await Tower.run(in: folder, channels: channels, routes: routes) { tower in
                for number in 0..<4 {
                    runs.insert(try await tower.end("job-\(number)", .failed, exitCode: round).id)
                    // The keeper gets a little further each round before it is stopped.
                    for _ in 0..<round { await Task.yield() }
                }
            }
        }
        try await Tower.run(in: folder, channels: channels, routes: routes) { tower in
            try await tower.settled()
            let reported = try await tower.entries(of: "hook").compactMap(\.run)
            #expect(reported.count == 100 && Set(reported) == runs)
            for number in 0..<4 {
                guard let record = try await tower.ledger.item(.job("job-\(number)")) else {
                    Issue.record("no item")
                    return
                }
                #expect(String(decoding: record.state, as: UTF8.self).contains("\"failures\":25"))
            }
        }
    }
}
