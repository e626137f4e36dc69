import Delivery
import Engine
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a button of a notice` {
    static let main = ItemKey.thread(bot: "ops", thread: "main")

    /// A tower with a desktop whose server says that it is `name`.
    private func tower(
        _ name: String = "test", bots: [String: BotProfile] = [:],
        _ body: (Tower, NotificationServer) async throws -> Void
    ) async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address, "--name", name)
        let desk = makeDesk(at: bus.address, clock: ManualClock(now: at("10:00:00")))
        try await Tower.run(
            keepers: [.items, .surfaces, .slots], channels: [desk],
            routes: [Route(when: [.message, .question, .failed, .recovered], to: ["desk"])], bots: bots
        ) { try await body($0, server) }
    }

    /// Says something, and returns how it is shown once that is recorded.
    private func say(_ text: String, on tower: Tower, _ server: NotificationServer) async throws -> ServerCall
    {
        try await tower.say(text, urgency: .critical)
        let call = try #require(try await server.next())
        try await tower.until {
            try await tower.ledger.surface(channel: "desk", item: "\(Self.main)")?.remote?.id == "\(call.id)"
        }
        return call
    }

    /// Waits until dispatch knows of a silence: that is in memory only, and known a moment after the commit.
    private func silenced(_ tower: Tower) async {
        while tower.activeConfiguration.configuration.silences.isEmpty, !Task.isCancelled {
            await Task.yield()
        }
    }

    @Test func `that has no room comes in a second notice`() async throws {
        try await tower("gnome-shell") { tower, server in
            try await tower.end("backup", .failed, exitCode: 1)
            let first = try #require(try await server.next())
            #expect(first.actions == ["snooze", "Snooze 1 h", "mark-read", "Mark read", "mute", "Mute ops"])
            let id = freshID()
            _ = try await tower.control.ask(QuestionDraft(id: id, "Which?", choices: ["a", "b", "c", "d"]))
            let asked = try #require(try await server.next())
            #expect(asked.actions == ["answer-1", "a", "answer-2", "b", "more-2", "More…"])
            try await tower.until {
                try await tower.ledger.surface(channel: "desk", item: "question:\(id)")?.remote != nil
            }
            try server.press("more-2", of: asked.id)
            try server.close(asked.id, reason: 2)
            let rest = try #require(try await server.next())
            #expect(rest.replacesID == 0 && rest.body == asked.body)
            #expect(rest.actions == ["answer-3", "c", "answer-4", "d"])
            try await tower.until {
                try await tower.ledger.surface(channel: "desk", item: "question:\(id)")?.remote?.id
                    == "\(rest.id)"
            }
            #expect(try await tower.eventTypes().filter { $0 == .itemDismissed }.isEmpty, "it is still asked")
            try server.press("answer-4", of: rest.id)
            try await tower.until { try await tower.eventTypes().contains(.itemActed) }
        }
    }

    @Test func `that snoozes puts an item away for an hour, and then it rings`() async throws {
        try await tower { tower, server in
            let first = try await say("one", on: tower, server)
            try server.press("snooze", of: first.id)
            #expect(try await server.next("CloseNotification")?.id == first.id)
            await silenced(tower)
            let silence = try #require(try await tower.control.silences(all: false).first)
            #expect(silence.matchers.map(\.text) == ["channel=desk", "bot=ops", "event=message"])
            #expect(silence.until == at("11:00:00") && silence.by == "desk")
            // What is said meanwhile is held as well.
            try await tower.say("two", urgency: .critical)
            try await tower.settled()
            tower.clock.advance(by: .seconds(3600))
            let again = try #require(try await server.next())
            #expect(again.body.contains("one") && again.body.contains("two"))
            #expect(again.hints["suppress-sound"] == nil)
            #expect(try await tower.ledger.unread() == ["ops": 2])
        }
    }

    @Test func `that snoozes brings back what was not read, and nothing that was`() async throws {
        for isRead in [false, true] {
            try await tower { tower, server in
                let first = try await say("one", on: tower, server)
                try server.press("snooze", of: first.id)
                _ = try await server.next("CloseNotification")
                await silenced(tower)
                try await tower.settled()
                if isRead {
                    try await tower.control.read(bot: "ops", thread: "main", through: tower.clock.now)
                    try await tower.settled()
                }
                tower.clock.advance(by: .seconds(3600))
                if isRead {
                    try await tower.say("other", thread: "other", urgency: .critical)
                }
                #expect(try await server.next()?.body == (isRead ? "other" : "one"))
            }
        }
    }

    @Test func `that mutes a bot reads the item and silences the bot on that channel`() async throws {
        try await tower { tower, server in
            let first = try await say("one", on: tower, server)
            try server.press("mute", of: first.id)
            try await tower.until { try await tower.ledger.unread().isEmpty }
            await silenced(tower)
            let silence = try #require(try await tower.control.silences(all: false).first)
            #expect(silence.matchers.map(\.text) == ["channel=desk", "bot=ops"])
            try await tower.say("two", urgency: .critical)
            try await tower.say("three", bot: "news", urgency: .critical)
            #expect(try await server.next()?.body == "three")
        }
    }

    @Test func `that marks as read does so everywhere`() async throws {
        try await tower { tower, server in
            let first = try await say("one", on: tower, server)
            try server.press("mark-read", of: first.id)
            try await tower.until { try await tower.ledger.unread().isEmpty }
            #expect(try await server.next("CloseNotification")?.id == first.id)
        }
    }

    @Test func `that nobody made says that somebody has seen it, and nothing else`() async throws {
        try await tower { tower, server in
            let first = try await say("one", on: tower, server)
            for key in [
                "more-9223372036854775808", "more--1", "answer-1", "run-again", "cancel", "log", "<b>",
            ] {
                try server.press(key, of: first.id)
            }
            try server.press("mark-read", of: first.id)
            try await tower.until { try await tower.ledger.unread().isEmpty }
            #expect(try await tower.control.silences(all: true).isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `answers no question whose text is hidden there`(isTyped: Bool) async throws {
        var manner = BotManner()
        manner.hidesText = true
        try await tower(bots: ["ops": BotProfile(name: "ops", manner: manner)]) { tower, server in
            var asking = QuestionDraft(id: freshID(), "Deploy?", choices: ["yes", "no"])
            asking.bot = "ops"
            let id = try await tower.control.ask(asking).id
            let call = try #require(try await server.next())
            #expect(call.actions.isEmpty && !call.body.contains("Deploy"), "\(call)")
            try await tower.until {
                try await tower.ledger.surface(channel: "desk", item: "question:\(id)")?.remote != nil
            }
            if isTyped {
                try server.reply("yes", to: call.id)
            } else {
                try server.press("answer-1", of: call.id)
            }
            // What it reports comes in order.
            try server.close(call.id, reason: 2)
            try await tower.until { try await tower.eventTypes().contains(.itemDismissed) }
            #expect(try await tower.eventTypes().contains(.itemActed) == false)
        }
    }

    @Test func `that runs a job again makes one run of it, however often it is pressed`() async throws {
        try await tower { tower, server in
            _ = try await tower.control.add(.manual("backup"))
            let failed = try await tower.end("backup", .failed, exitCode: 1)
            let call = try #require(try await server.next())
            #expect(call.actions.contains("run-again"))
            try await tower.until {
                try await tower.ledger.surface(channel: "desk", item: "job:backup")?.remote != nil
            }
            try server.press("run-again", of: call.id)
            try server.press("run-again", of: call.id)
            // The second press may come when the first has closed the notice.
            try await tower.until { try await tower.eventTypes().contains(.itemActed) }
            let runs = try await tower.ledger.runs(RunFilter(job: "backup", limit: 10))
            #expect(runs.count == 2 && runs.first?.retryOf == failed.id)
        }
    }
}
