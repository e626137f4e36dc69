import Curl
import Delivery
import Engine
import Foundation
import Grouping
import Ledger
import TestSupport
import Testing
import Timeline
import Tracking
import WebhookChannel

@Suite(.timeLimit(.minutes(5))) struct `what a service is sent` {
    /// A topic that nobody serves, beside a desktop without a server.
    private func channels() throws -> [any Channel] {
        var values = FormValues()
        values["url"] = .address(try HTTPAddress("http://127.0.0.1:1/alerts"))
        values["allow"] = .exceptions([try AddressException("127.0.0.1")])
        return [
            try HTTPSender(
                name: "phone", form: try NtfyForm(values), userAgent: "Belfry/test", curl: try CurlMulti()),
            makeDesk(clock: ManualClock(now: at("10:00:00"))),
        ]
    }

    /// The title and the text of each entry, oldest first.
    private func texts(_ tower: Tower) async throws -> [String] {
        try await tower.entries(of: "phone").map { entry in
            let json = JSON(parsing: entry.body[...])
            return "\(json?["title"]?.text ?? "-") | \(json?["message"]?.text ?? "-")"
        }
    }

    @Test func `of a job is what the desktop shows, with the failures in a row`() async throws {
        let routes = [Route(when: [.failed, .recovered], to: ["phone", "desk"])]
        try await Tower.run(channels: try channels(), routes: routes) { tower in
            for _ in 1...2 {
                try await tower.end("backup", .failed, exitCode: 3)
                try await tower.settled()
                tower.clock.advance(by: .seconds(60))
            }
            let shown = try #require(try await tower.shown(.job("backup")))
            let notice = NoticeComposer.compose(shown)
            #expect(notice.title == "backup failed 2 times")
            try await tower.end("backup", .completed)
            try await tower.until { try await tower.entries(of: "phone").count == 3 }
            let texts = try await texts(tower)
            #expect(texts[0] == "backup failed | exit code 3")
            #expect(texts[1] == "\(notice.title) | \(notice.body)")
            #expect(texts[2] == "backup recovered | after 2 failures (2 min)")
        }
    }

    @Test func `of Belfry's own trouble is a sentence`() async throws {
        let routes = [
            Route(when: [.failed], to: ["desk"]), Route(when: [.channel, .config, .ledger], to: ["phone"]),
        ]
        try await Tower.run(channels: try channels(), routes: routes) { tower in
            let trouble = Fact.Channel("desk", reason: .noServer, error: "no notification server")
            let difference = Fact.Reload.Difference(added: ["a", "b"], removed: ["c"])
            for fact in [
                Fact.channelFailing(trouble), .ledgerFull, .configReloaded(Fact.Reload(difference)),
            ] {
                try await tower.ledger.commit([.append(NewEvent(fact, at: tower.clock.now))])
            }
            try await tower.settled()
            #expect(
                try await texts(tower) == [
                    """
                    belfry · channel desk | Channel "desk" fails: no notification server. Its notices are held.
                    """,
                    """
                    belfry · ledger | The disk is full. No job starts before there is room; missed slots are then \
                    caught up.
                    """,
                    "belfry · config | The configuration was reloaded. Jobs added: a, b; removed: c.",
                ])
        }
    }

    @Test func `of a long message is all of it where there is room`() async throws {
        let mail = try makeInbox(curl: try CurlMulti())
        let routes = [Route(when: [.failed, .message], to: ["phone", "inbox"])]
        try await Tower.run(channels: try channels() + [mail], routes: routes) { tower in
            // The first is shown with the second, whose moment it is.
            try await tower.say((1...100).map { "first \($0)" }.joined(separator: "\n"))
            try await tower.say((1...100).map { "second \($0)" }.joined(separator: "\n") + "\n\n")
            try await tower.settled()
            tower.clock.advance(by: .seconds(2))
            try await tower.until { try await !tower.entries(of: "inbox").isEmpty }
            let entry = try #require(try await tower.entries(of: "inbox").first)
            let lines = String(decoding: entry.body, as: UTF8.self).split(separator: "\n")
            let start = try #require(lines.firstIndex { $0.hasPrefix("Content-Transfer-Encoding") })
            let base64 = lines[(start + 1)...].prefix { !$0.hasPrefix("--") }.joined()
            let text = String(
                decoding: try #require(Data(base64Encoded: base64)), as: UTF8.self)
            #expect(text.contains("first 100\nsecond 1\n") && text.hasSuffix("second 100\n"), "\(text)")
            #expect(try await texts(tower).allSatisfy { $0.utf8.count < 400 })
        }
    }

    @Test func `of a thread is its messages`() async throws {
        let routes = [Route(when: [.failed, .message], to: ["phone"])]
        try await Tower.run(channels: try channels(), routes: routes) { tower in
            try await tower.say("the disk is full", urgency: .critical)
            try await tower.until { try await !tower.entries(of: "phone").isEmpty }
            #expect(try await texts(tower) == ["ops | the disk is full"])
        }
    }
}
