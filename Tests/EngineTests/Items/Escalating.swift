import Curl
import Delivery
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite(.timeLimit(.minutes(5))) struct `a channel that waits for somebody to see it elsewhere` {
    private let curl: CurlMulti
    private let channels: [any Channel]
    private let routes: [Route]

    init() throws {
        curl = try CurlMulti()
        channels = try makeDeskAndHook(curl)
        var later = Route(when: [.failed, .message, .question], to: ["hook"])
        later.after = .seconds(900)
        routes = [
            Route(when: [.failed, .recovered, .message], to: ["desk"]),
            Route(when: [.recovered], to: ["hook"]), later,
        ]
    }

    private func states(_ tower: Tower) async throws -> [String] {
        try await tower.entries(of: "hook").map { "\($0.type) \($0.state)" }
    }

    @Test func `is not notified of what is over, nor of its recovery`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            #expect(try await states(tower) == ["run.failed held"])
            tower.clock.advance(by: .seconds(600))
            try await tower.end("backup", .completed)
            try await tower.settled()
            #expect(try await states(tower) == ["run.failed superseded"])
        }
    }

    @Test func `is notified of the recovery where the failure was sent`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
            tower.clock.advance(by: .seconds(901))
            try await tower.end("backup", .completed)
            try await tower.settled()
            #expect(try await states(tower) == ["run.failed held", "run.recovered pending"])
        }
    }

    @Test func `is not notified of what somebody has put away, or read`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            let said = try await tower.say("hello")
            try await tower.settled()
            tower.clock.advance(by: .seconds(2))
            try await tower.until { try await tower.entries(of: "hook").count == 2 }
            #expect(try await states(tower) == ["run.failed held", "message.group held"])
            let shown = try #require(try await tower.shown(.job("backup")))
            let dismissal = Fact.Dismissal("\(ItemKey.job("backup"))", on: "desk", revision: shown.revision)
            try await tower.ledger.commit([.append(NewEvent(.itemDismissed(dismissal), at: tower.clock.now))])
            try await tower.settled()
            #expect(try await states(tower) == ["run.failed superseded", "message.group held"])
            _ = try await tower.control.read(said.id)
            try await tower.settled()
            #expect(try await states(tower) == ["run.failed superseded", "message.group superseded"])
        }
    }

    @Test func `waits through a restart`() async throws {
        let folder = try TemporaryFolder()
        try await Tower.run(in: folder, channels: channels, routes: routes) { tower in
            try await tower.end("backup", .failed, exitCode: 1)
            try await tower.settled()
        }
        try await Tower.run(in: folder, at: at("10:05:00"), channels: channels, routes: routes) { tower in
            try await tower.end("backup", .completed)
            try await tower.settled()
            #expect(try await states(tower) == ["run.failed superseded"])
        }
    }

    @Test func `asks no question that was answered before`() async throws {
        let id = "0199a000-0000-7000-8000-00007a11c0de"
        try await Tower.run(channels: channels, routes: routes) { tower in
            var draft = QuestionDraft(id: id, "Go?", choices: ["yes", "no"])
            draft.grace = .seconds(60)
            _ = try await tower.control.ask(draft)
            try await tower.settled()
            #expect(try await states(tower) == ["question.asked held"])
            _ = try await tower.control.answer(id, "yes", by: "desk")
            try await tower.settled()
            #expect(try await states(tower) == ["question.asked superseded"])
        }
    }

    @Test func `takes an answer again that is trusted for a while, for the same alone`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            func ask(_ number: Int, _ subject: String) async throws -> QuestionEnd? {
                var draft = QuestionDraft(
                    id: "0199a000-0000-7000-8000-00000000000\(number)", "Go?",
                    choices: ["allow", "deny", "hour"])
                draft.trust = (subject, "hour", .seconds(3600))
                return try await tower.control.ask(draft).end
            }
            #expect(try await ask(1, "ls") == nil)
            _ = try await tower.control.answer("0199a000-0000-7000-8000-000000000001", "hour", by: "desk")
            #expect(try await ask(2, "ls")?.by == "trust 00000001")
            #expect(try await ask(2, "ls")?.answer == "allow")
            #expect(try await ask(3, "ls;") == nil)
            tower.clock.advance(by: .seconds(3600))
            #expect(try await ask(4, "ls") == nil)
            try await tower.settled()
            // What is only given again is shown to nobody.
            #expect(try await tower.entries(of: "hook").count == 3)
        }
    }
}
