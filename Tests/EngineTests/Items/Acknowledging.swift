import Curl
import Delivery
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking
import WebhookChannel

@testable import Engine

@Suite(.timeLimit(.minutes(5))) struct `whoever does something about a failure` {
    private let curl: CurlMulti
    private let channels: [any Channel]
    private let routes: [Route]

    init() throws {
        curl = try CurlMulti()
        channels = try makeDeskAndHook(curl)
        var later = Route(when: [.failed, .message], to: ["hook"])
        later.after = .seconds(900)
        routes = [Route(when: [.failed, .recovered, .message], to: ["desk"]), later]
    }

    private func states(_ tower: Tower) async throws -> [String] {
        try await tower.entries(of: "hook").map { "\($0.type) \($0.state)" }
    }

    private var bots: [String: BotProfile] {
        var bot = BotProfile(name: "ops")
        bot.restraint.acknowledgedFor = .seconds(3600)
        return ["ops": bot]
    }

    @Test func `acknowledges it: by a button, by reading the job, and by reading its run`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            try await tower.end("a", .failed, exitCode: 1)
            try await tower.end("b", .failed, exitCode: 1)
            let last = try await tower.end("c", .failed, exitCode: 1)
            try await tower.settled()
            #expect(try await states(tower) == Array(repeating: "run.failed held", count: 3))
            let press = Fact.Action("job:a", on: "desk", key: "run-again")
            try await tower.ledger.commit([.append(NewEvent(.itemActed(press), at: tower.clock.now))])
            try await tower.control.readItem("job:b", by: "laptop")
            try await tower.control.readItem(last.name, by: "laptop")
            try await tower.settled()
            #expect(try await states(tower) == Array(repeating: "run.failed superseded", count: 3))
            let why = try await tower.control.why(last.id, limit: 9).map(\.verdict)
            #expect(why.first(where: { $0.channel == "hook" })?.rule == "seen by laptop")
        }
    }

    @Test func `does not by reading a run that a later one followed, nor by a name that is none`()
        async throws
    {
        try await Tower.run(channels: channels, routes: routes) { tower in
            let first = try await tower.end("a", .failed, exitCode: 1)
            tower.clock.advance(by: .seconds(60))
            try await tower.end("a", .failed, exitCode: 2)
            try await tower.settled()
            try await tower.control.readItem(first.name)
            try await tower.settled()
            #expect(try await !states(tower).contains("run.failed superseded"))
            await #expect(throws: EngineError.noSuchJob("nothing")) {
                try await tower.control.readItem("job:nothing")
            }
            await #expect(throws: EngineError.noSuchRun("a#9")) { try await tower.control.readItem("a#9") }
            await #expect(throws: EngineError.nothingToExplain("word")) {
                try await tower.control.readItem("word")
            }
        }
    }

    @Test func `is named in one reminder when that has expired and the job still fails`() async throws {
        try await Tower.run(channels: channels, routes: routes, bots: bots) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            try await tower.control.readItem("job:backup", by: "laptop")
            try await tower.settled()
            tower.clock.advance(by: .seconds(3600))
            try await tower.until {
                try await tower.shown(.job("backup"))?.reason == .acknowledgementExpired
            }
            guard case .job(let report)? = try await tower.shown(.job("backup"))?.content else {
                Issue.record("no report")
                return
            }
            #expect(report.fact.text == "acknowledged by laptop 1h ago")
            // It escalates again, from now on.
            let entries = try await tower.entries(of: "hook")
            #expect(entries.map(\.state) == [.superseded, .held])
            #expect(entries.last?.nextAt == at("11:15:00"))
            let body = String(decoding: entries.last?.body ?? [], as: UTF8.self)
            #expect(body.contains("acknowledgementExpired"), "\(body)")
            #expect(body.contains(#""note":"acknowledged by laptop 1h ago""#), "\(body)")
            // Once.
            tower.clock.advance(by: .seconds(7200))
            try await tower.say("later")
            try await tower.settled()
            #expect(try await tower.entries(of: "hook").filter { $0.type == "run.failed" }.count == 2)
        }
    }

    @Test func `is reminded where only a channel that sends once hears of failures`() async throws {
        let routes = [
            Route(when: [.failed], to: ["hook"]), Route(when: [.message], to: ["desk"]),
        ]
        try await Tower.run(channels: channels, routes: routes, bots: bots) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            try await tower.control.readItem("job:backup", by: "laptop")
            try await tower.settled()
            tower.clock.advance(by: .seconds(3600))
            try await tower.until { try await tower.entries(of: "hook").count == 2 }
            let body = String(decoding: try await tower.entries(of: "hook").last?.body ?? [], as: UTF8.self)
            #expect(body.contains("acknowledgementExpired"), "\(body)")
            let onDesk = try await tower.ledger.surface(channel: "desk", item: "job:backup")
            #expect(onDesk == nil, "the desktop does not hear of it")
            // Once.
            tower.clock.advance(by: .seconds(7200))
            try await tower.say("later")
            try await tower.settled()
            #expect(try await tower.entries(of: "hook").filter { $0.type == "run.failed" }.count == 2)
        }
    }

    @Test func `is not reminded of what is over`() async throws {
        try await Tower.run(channels: channels, routes: routes, bots: bots) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            try await tower.control.readItem("job:backup", by: "laptop")
            tower.clock.advance(by: .seconds(60))
            try await tower.end("backup", .completed)
            try await tower.settled()
            #expect(try await tower.ledger.item(.job("backup"))?.flushAt == nil)
            tower.clock.advance(by: .seconds(3600))
            try await tower.end("other", .failed, exitCode: 1)
            try await tower.settled()
            #expect(try await tower.entries(of: "hook").filter { $0.item == "job:backup" }.count == 1)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `failures that people are sent` {
    private let curl: CurlMulti
    private let channels: [any Channel]
    private let routes = [Route(when: [.failed, .recovered], to: ["hook", "phone"])]

    init() throws {
        curl = try CurlMulti()
        var ntfy = FormValues()
        ntfy["url"] = .address(try HTTPAddress("https://ntfy.sh/alerts"))
        channels = [
            try makeHook("hook", curl: curl),
            try HTTPSender(name: "phone", form: try NtfyForm(ntfy), userAgent: "Belfry/test", curl: curl),
        ]
    }

    /// A run of the job that its schedule began.
    private func end(
        _ job: String, _ state: RunState, exitCode: Int? = nil, _ tower: Tower
    ) async throws -> RunRecord {
        let begun = try await tower.begin(job, bySchedule: true)
        let ended = try await tower.end(begun, state, exitCode: exitCode)
        try await tower.settled()
        tower.clock.advance(by: .seconds(60))
        return ended
    }

    private func types(_ channel: String, _ tower: Tower) async throws -> [String] {
        try await tower.entries(of: channel).map(\.type)
    }

    @Test func `are those that changed something; programs are sent each`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            _ = try await end("backup", .failed, exitCode: 1, tower)
            let again = try await end("backup", .failed, exitCode: 1, tower)
            _ = try await end("backup", .failed, exitCode: 2, tower)
            _ = try await end("backup", .completed, tower)
            _ = try await end("backup", .failed, exitCode: 2, tower)
            #expect(
                try await types("phone", tower) == [
                    "run.failed", "run.failed", "run.recovered", "run.failed",
                ])
            #expect(
                try await types("hook", tower) == [
                    "run.failed", "run.failed", "run.failed", "run.recovered", "run.failed",
                ])
            let why = try await tower.control.why(again.id, limit: 9).map(\.verdict)
            let phone = why.first { $0.channel == "phone" }
            #expect(phone?.stage == .change && phone?.reason == "unchanged")
        }
    }

    @Test func `are sent once where they wait for somebody to see them elsewhere`() async throws {
        var later = Route(when: [.failed], to: ["phone"])
        later.after = .seconds(900)
        let routes = [Route(when: [.failed], to: ["hook"]), later]
        try await Tower.run(channels: channels, routes: routes) { tower in
            for _ in 1...3 { _ = try await end("backup", .failed, exitCode: 1, tower) }
            #expect(
                try await tower.entries(of: "phone").map { "\($0.type) \($0.state)" } == ["run.failed held"])
        }
    }

    @Test func `are all, where the bot says so or a person asked for the run`() async throws {
        var bot = BotProfile(name: "ops")
        bot.restraint.sendsEachFailure = true
        try await Tower.run(channels: channels, routes: routes, bots: ["ops": bot]) { tower in
            for _ in 1...3 { _ = try await end("backup", .failed, exitCode: 1, tower) }
            #expect(try await types("phone", tower).count == 3)
        }
        try await Tower.run(channels: channels, routes: routes) { tower in
            for _ in 1...3 {
                try await tower.end("backup", .failed, exitCode: 1)
                try await tower.settled()
            }
            #expect(try await types("phone", tower).count == 3)
        }
    }

    @Test func `are sent again where the first one came to nothing`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            _ = try await end("backup", .failed, exitCode: 1, tower)
            let entry = try #require(try await tower.entries(of: "phone").first)
            _ = try await tower.control.discardEntry(entry.id)
            _ = try await end("backup", .failed, exitCode: 1, tower)
            _ = try await end("backup", .failed, exitCode: 1, tower)
            #expect(try await tower.entries(of: "phone").map(\.state) == [.discarded, .pending])
        }
    }

    @Test func `are known by what happened to them: lost, open, arrived, also in a digest`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            _ = try await end("backup", .failed, exitCode: 1, tower)
            let recovered = try await end("backup", .completed, tower)
            func arrival() async throws -> FailureArrival? {
                try await tower.ledger.failureArrivals(before: recovered.id)["phone"]
            }
            let failure = try #require(try await tower.entries(of: "phone").first)
            #expect(try await arrival() == .open)
            var move = OutboxMove(
                id: failure.id, from: .pending, attempts: 0, to: .superseded, nextAttempts: 0)
            let digest = OutboxRecord(
                id: freshID(), channel: "phone", cause: "digest:1:phone", type: "message.group",
                reason: "digest", state: .delivered, createdAt: tower.clock.now, nextAt: nil, body: [])
            move.listedIn = digest.id
            try await tower.ledger.commit([.insertOutbox(digest), .moveOutbox(move)])
            #expect(try await arrival() == .arrived)
            let hook = try #require(try await tower.entries(of: "hook").first)
            _ = try await tower.control.discardEntry(hook.id)
            #expect(try await tower.ledger.failureArrivals(before: recovered.id)["hook"] == .lost)
            // Nothing of an outage that was over before counts.
            _ = try await end("backup", .failed, exitCode: 1, tower)
            let again = try await end("backup", .completed, tower)
            #expect(try await tower.ledger.failureArrivals(before: again.id)["hook"] == .open)
        }
    }
}
