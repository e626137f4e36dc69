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
    /// What the desktop should show of items, as `key ring` or `key silent`, in the order of their keys.
    fileprivate func wanted() async throws -> [String] {
        try await ledger.surfaces(channel: "desk", all: true)
            .map { "\($0.item) \($0.ring ? "ring" : "silent")" }.sorted()
    }

    fileprivate func silence(_ matchers: [String], until time: String) async throws -> Silence {
        try await control.addSilence(SilenceDraft(matchers: matchers, until: at(time), by: "test"))
    }
}

@Suite(.timeLimit(.minutes(5))) struct `what a person silenced` {
    private let curl: CurlMulti
    private let channels: [any Channel]
    private let routes = [
        Route(when: [.failed, .recovered, .lost, .message], to: ["desk", "hook"])
    ]

    init() throws {
        curl = try CurlMulti()
        channels = try makeDeskAndHook(curl)
    }

    @Test func `is shown when the silence ends if it is still so, and is not sent elsewhere`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            let silence = try await tower.silence(["job=backup"], until: "11:00:00")
            let run = try await tower.end("backup", .failed, exitCode: 1)
            try await tower.end("other", .failed, exitCode: 1)
            try await tower.settled()
            #expect(try await tower.wanted() == ["job:other ring"])
            #expect(try await tower.entries(of: "hook").count == 1)
            let verdicts = try await tower.control.why(run.id, limit: 9).map(\.verdict)
            #expect(verdicts.map(\.action) == [.hold, .suppress])
            #expect(verdicts.map(\.stage) == [.silence, .silence])
            #expect(verdicts.allSatisfy { $0.rule == silence.rule && $0.until == at("11:00:00") })
            tower.clock.advance(to: at("11:00:00"))
            try await tower.until { try await tower.wanted().contains("job:backup ring") }
            #expect(try await tower.entries(of: "hook").count == 1, "a silence is no queue")
        }
    }

    @Test func `is forgotten when it is over before the silence is, with its recovery`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            _ = try await tower.silence(["job=backup"], until: "11:00:00")
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            tower.clock.advance(to: at("10:30:00"))
            try await tower.end("backup", .completed)
            try await tower.settled()
            tower.clock.advance(to: at("11:00:00"))
            try await tower.end("other", .failed, exitCode: 1)
            try await tower.until { try await tower.wanted().contains("job:other ring") }
            #expect(try await tower.wanted() == ["job:other ring"])
            #expect(try await tower.entries(of: "hook").map(\.type) == ["run.failed"])
        }
    }

    @Test func `goes on without a sound where it was shown before, and its recovery too`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            _ = try await tower.silence(["job=backup"], until: "12:00:00")
            tower.clock.advance(to: at("10:30:00"))
            let recovered = try await tower.end("backup", .completed)
            try await tower.until {
                guard case .job(let report)? = try await tower.shown(.job("backup"))?.content else {
                    return false
                }
                return report.news == .recovered
            }
            try await tower.settled()
            let desk = try await tower.control.why(recovered.id, limit: 9).map(\.verdict)
                .first { $0.channel == "desk" && $0.action == .send }
            #expect(desk?.stage == .silence && desk?.reason == "silenced")
            #expect(try await tower.entries(of: "hook").map(\.type) == ["run.failed", "run.recovered"])
        }
    }

    @Test func `is shown at once when the silence is ended by hand`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            let silence = try await tower.silence(["bot=ops"], until: "20:00:00")
            try await tower.say("hello")
            try await tower.settled()
            tower.clock.advance(by: .seconds(10))
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            #expect(try await tower.wanted().isEmpty)
            let ended = try await tower.control.endSilence(String(silence.id.suffix(8)))
            #expect(ended.until == tower.clock.now)
            try await tower.until { try await tower.wanted().count == 2 }
            #expect(try await tower.wanted() == ["job:backup ring", "thread:ops/main ring"])
            await #expect(throws: EngineError.silenceEnded(silence.id, ended.until)) {
                _ = try await tower.control.endSilence(silence.id)
            }
        }
    }

    @Test func `stays so through a restart and a reload, and is refused where it matches everything`()
        async throws
    {
        let folder = try TemporaryFolder()
        try await Tower.run(
            in: folder, keepers: [.items, .slots], channels: channels, routes: routes
        ) { tower in
            _ = try await tower.silence(["job=backup"], until: "11:00:00")
            _ = try await tower.control.reload()
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            #expect(try await tower.wanted().isEmpty)
            await #expect(throws: EngineError.badMatcher(.everything)) {
                _ = try await tower.silence(["job=~.*"], until: "11:00:00")
            }
            await #expect(throws: EngineError.self) {
                _ = try await tower.silence(["job=a"], until: "09:00:00")
            }
        }
        try await Tower.run(in: folder, at: at("10:10:00"), channels: channels, routes: routes) { tower in
            #expect(try await tower.control.silences(all: false).count == 1)
            tower.clock.advance(to: at("11:00:00"))
            try await tower.until { try await tower.wanted() == ["job:backup ring"] }
            #expect(try await tower.control.silences(all: false).isEmpty)
            #expect(try await tower.control.silences(all: true).count == 1)
        }
    }

    /// The law of the third item of `wishes.md`: recovered only if failed was delivered, on each channel.
    @Test func `never leads to a recovery without its failure`() async throws {
        var numbers = SystemRandomNumberGenerator()
        try await Tower.run(at: at("00:00:00"), channels: channels, routes: routes) { tower in
            for _ in 0..<250 {
                switch Int.random(in: 0..<10, using: &numbers) {
                case 0:
                    let job = "j\(Int.random(in: 0..<5, using: &numbers))"
                    let end = tower.clock.now + .seconds(Int.random(in: 1...900, using: &numbers))
                    _ = try await tower.control.addSilence(
                        SilenceDraft(matchers: ["job=\(job)"], until: end, by: "test"))
                case 1...4:
                    try await tower.end("j\(Int.random(in: 0..<5, using: &numbers))", .failed, exitCode: 1)
                case 5...7: try await tower.end("j\(Int.random(in: 0..<5, using: &numbers))", .completed)
                default: tower.clock.advance(by: .seconds(Int.random(in: 1...600, using: &numbers)))
                }
                try await tower.settled()
            }
            var failing: Set<String> = []
            for entry in try await tower.entries(of: "hook") {
                let run = try #require(try await tower.ledger.run(id: entry.run ?? ""))
                if entry.type == "run.failed" { failing.insert(run.job) }
                if entry.type == "run.recovered" {
                    #expect(failing.remove(run.job) != nil, "\(run.name) recovered without a failure")
                }
            }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `what quiet hours and budgets keep back` {
    private let curl: CurlMulti
    private let channels: [any Channel]
    private let routes = [Route(when: [.failed, .message], to: ["desk", "hook"])]

    init() throws {
        curl = try CurlMulti()
        channels = try makeDeskAndHook(curl)
    }

    private func bot(quiet: String? = nil, budget: Int? = nil) throws -> [String: BotProfile] {
        var bot = BotProfile(name: "ops", urgency: .normal)
        bot.restraint.quiet = try quiet.map { try DailyHours([$0], in: .utc) }
        bot.restraint.budget = budget
        return ["ops": bot]
    }

    @Test func `comes at their end, listed in one notice, the most relevant first`() async throws {
        try await Tower.run(
            channels: channels, routes: routes, bots: try bot(quiet: "09:00-12:00")
        ) { tower in
            try await tower.say("first", thread: "a")
            try await tower.say("second", thread: "b")
            try await tower.say("on fire", thread: "c", urgency: .critical)
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            tower.clock.advance(by: .seconds(5))
            try await tower.until { try await tower.wanted() == ["thread:ops/c ring"] }
            try await tower.until { try await tower.entries(of: "hook").count == 4 }
            #expect(try await tower.entries(of: "hook").filter { $0.state == .held }.count == 3)
            tower.clock.advance(to: at("12:00:00"))
            try await tower.until { try await tower.wanted().count == 5 }
            #expect(
                try await tower.wanted() == [
                    "job:backup silent", "thread:belfry/digest desk ring", "thread:ops/a silent",
                    "thread:ops/b silent", "thread:ops/c ring",
                ])
            let digest = try #require(
                try await tower.shown(.thread(bot: "belfry", thread: "digest desk"))?.content)
            guard case .messages(_, let last) = digest, let text = last.last?.text else {
                Issue.record("no digest")
                return
            }
            #expect(last.last?.title == "While it was quiet: 3 things")
            let lines = text.split(separator: "\n")
            #expect(lines.count == 3 && lines[0].hasPrefix("backup failed"), "\(text)")
        }
    }

    @Test func `comes by itself where it is one thing, and at once when somebody asks`() async throws {
        try await Tower.run(
            channels: channels, routes: routes, bots: try bot(quiet: "09:00-12:00")
        ) { tower in
            try await tower.say("first", thread: "a")
            try await tower.settled()
            tower.clock.advance(by: .seconds(5))
            try await tower.until { try await tower.entries(of: "hook").count == 1 }
            let held = try await tower.control.digest()
            #expect(held.map(\.channel).sorted() == ["desk", "hook"])
            #expect(held.allSatisfy { $0.until == at("12:00:00") })
            try await tower.until { try await tower.wanted() == ["thread:ops/a ring"] }
            try await tower.until { try await tower.entries(of: "hook").allSatisfy { $0.state != .held } }
            #expect(try await tower.control.digest().isEmpty)
        }
    }

    @Test func `counts interruptions through a restart, and drops nothing`() async throws {
        let folder = try TemporaryFolder()
        try await Tower.run(
            in: folder, channels: channels, routes: routes, bots: try bot(budget: 1)
        ) { tower in
            try await tower.say("first", thread: "a")
            try await tower.settled()
            tower.clock.advance(by: .seconds(5))
            try await tower.until { try await tower.wanted() == ["thread:ops/a ring"] }
        }
        try await Tower.run(
            in: folder, at: at("10:20:00"), channels: channels, routes: routes, bots: try bot(budget: 1)
        ) { tower in
            let message = try await tower.say("second", thread: "b")
            try await tower.settled()
            tower.clock.advance(by: .seconds(5))
            try await tower.until {
                try await tower.control.why(message.id, limit: 9).contains { $0.verdict.stage == .budget }
            }
            #expect(try await tower.wanted() == ["thread:ops/a ring"])
            tower.clock.advance(to: at("11:00:05"))
            try await tower.until {
                try await tower.wanted() == ["thread:ops/a ring", "thread:ops/b ring"]
            }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `failures that explain others` {
    @Test func `keep those quiet until they are over`() async throws {
        let curl = try CurlMulti()
        let channels = try makeDeskAndHook(curl)
        let routes = [Route(when: [.failed, .recovered], to: ["desk", "hook"])]
        try await Tower.run(channels: channels, routes: routes) { tower in
            let rule = Inhibition(
                failing: [try Matcher("job=ping")], silences: [try Matcher("event=failed")], equal: [])
            tower.activeConfiguration.change { $0.inhibitions = [rule] }
            try await tower.end("ping", .failed, exitCode: 1)
            try await tower.settled()
            let run = try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            #expect(try await tower.wanted() == ["job:ping ring"])
            let verdicts = try await tower.control.why(run.id, limit: 9).map(\.verdict)
            #expect(verdicts.allSatisfy { $0.action == .suppress && $0.rule == "ping fails" })
            try await tower.end("ping", .completed)
            try await tower.settled()
            tower.clock.advance(by: .seconds(60))
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.until { try await tower.wanted().contains("job:backup ring") }
            #expect(
                try await tower.entries(of: "hook").map(\.type)
                    == ["run.failed", "run.recovered", "run.failed"])
        }
    }
}
