import Curl
import Delivery
import Engine
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline

@Suite(.timeLimit(.minutes(5))) struct `what a bot says` {
    static let main = ItemKey.thread(bot: "ops", thread: "main")
    static let routes = [Route(when: [.message, .failed], to: ["desk", "hook"])]
    let curl: CurlMulti
    let channels: [any Channel]

    init() throws {
        curl = try CurlMulti()
        channels = try makeDeskAndHook(curl)
    }

    private func tower(_ body: (Tower) async throws -> Void) async throws {
        try await Tower.run(channels: channels, routes: Self.routes, body)
    }

    @Test func `five times in a second is one item and one webhook with the last three`() async throws {
        try await tower { tower in
            for number in 1...5 {
                try await tower.say("message \(number)")
                try await tower.settled()
                tower.clock.advance(by: .milliseconds(200))
            }
            #expect(try await tower.entries(of: "hook").isEmpty)
            tower.clock.advance(to: at("10:00:01.5"))
            try await tower.until { try await !tower.entries(of: "hook").isEmpty }
            let entries = try await tower.entries(of: "hook")
            let said = try #require(try entries.first?.said)
            #expect(entries.count == 1 && said.type == "message.group" && said.data.reason == "first")
            #expect(said.data.item?.count == 5)
            #expect(said.data.item?.last.map(\.text) == ["message 3", "message 4", "message 5"])
            let surfaces = try await tower.ledger.surfaces(channel: "desk", all: true)
            #expect(surfaces.map(\.item) == ["\(Self.main)"])
            #expect(surfaces.first?.ring == true && surfaces.first?.wanted == 1)
        }
    }

    @Test func `that is urgent does not wait`() async throws {
        try await tower { tower in
            try await tower.say("the house burns", urgency: .critical)
            try await tower.settled()
            #expect(try await tower.entries(of: "hook").count == 1)
        }
    }

    @Test func `after the first rings again after five minutes, and not before`() async throws {
        try await tower { tower in
            func say(at time: String) async throws -> RingReason? {
                tower.clock.advance(to: at(time))
                let before = try await tower.shown(Self.main)?.revision ?? 0
                try await tower.say("at \(time)")
                try await tower.settled()
                tower.clock.advance(by: .milliseconds(1500))
                try await tower.until { try await tower.shown(Self.main)?.revision ?? 0 > before }
                return try await tower.shown(Self.main)?.reason
            }
            var reasons: [RingReason?] = []
            for time in ["10:00:00", "10:00:10", "10:04:59", "10:05:10"] {
                reasons.append(try await say(at: time))
            }
            #expect(reasons == [.first, .tooSoon, .tooSoon, .newMessages])
        }
    }

    @Test
    func
        `as the output of a run goes to the channel of its job alone, and by the routes where that is missing`()
        async throws
    {
        let hooks = [try makeHook("one", curl: curl), try makeHook("two", curl: curl)]
        try await Tower.run(
            keepers: [.items], channels: hooks, routes: [Route(when: [.failed, .message], to: ["one"])]
        ) { tower in
            func notified(_ number: Int, to channel: String?) async throws -> [String] {
                let run = try await tower.begin("report")
                let message = Message(
                    id: run.id, bot: "ops", thread: "report", text: "said \(number)", at: tower.clock.now,
                    urgency: .critical, run: "report#\(number)")
                let fact = Fact.Post(message.id, bot: "ops", run: run.id, to: channel)
                try await tower.ledger.commit([
                    .insertMessage(MessageRecord(message: message, run: run.id)),
                    .append(NewEvent(.messagePosted(fact), at: message.at)),
                ])
                try await tower.settled()
                tower.clock.advance(by: .seconds(2))
                var found: [String] = []
                try await tower.until {
                    found = try await tower.ledger.outbox(states: [], limit: 99)
                        .filter { String(decoding: $0.body, as: UTF8.self).contains(message.text) }
                        .map(\.channel)
                    return !found.isEmpty
                }
                return found
            }
            let first = try await notified(1, to: nil)
            let second = try await notified(2, to: "two")
            let third = try await notified(3, to: "gone")
            #expect(first == ["one"] && second == ["two"] && third == ["one"])
        }
    }

    @Test func `in many threads at once is shown in each of them, whole`() async throws {
        try await tower { tower in
            // More than are woken in one transaction, and a second message that changes when each must be woken.
            for text in ["one", "two"] {
                for start in stride(from: 0, to: 1500, by: 100) {
                    try await tower.ledger.commit(
                        (start..<start + 100).flatMap { number -> [Change] in
                            let message = Message(
                                id: freshID(), bot: "ops", thread: "\(number)", text: text,
                                at: tower.clock.now,
                                urgency: text == "two" && number % 3 == 0 ? .critical : .normal)
                            return [
                                .insertMessage(MessageRecord(message: message)),
                                .append(
                                    NewEvent(
                                        .messagePosted(Fact.Post(message.id, bot: "ops")), at: message.at)),
                            ]
                        })
                }
                try await tower.settled()
                tower.clock.advance(by: .milliseconds(500))
            }
            #expect(try await tower.ledger.surfaces(channel: "desk", all: true).count == 500)
            tower.clock.advance(by: .seconds(1))
            try await tower.until {
                try await tower.ledger.surfaces(channel: "desk", all: true).count == 1500
            }
            for number in [0, 1, 2, 1499] {
                let shown = try await tower.shown(.thread(bot: "ops", thread: "\(number)"))
                guard case .messages(2, _)? = shown?.content else {
                    Issue.record("thread \(number): \(String(describing: shown))")
                    continue
                }
            }
        }
    }

    @Test func `before a webhook was tried is added to it, after that makes another`() async throws {
        try await tower { tower in
            func say(_ text: String) async throws {
                let before = try await tower.shown(Self.main)?.revision ?? 0
                try await tower.say(text)
                try await tower.settled()
                tower.clock.advance(by: .seconds(2))
                try await tower.until { try await tower.shown(Self.main)?.revision ?? 0 > before }
            }
            try await say("one")
            try await say("two")
            let first = try #require(try await tower.entries(of: "hook").first)
            #expect(try await tower.entries(of: "hook").count == 1)
            #expect(try first.said.data.item?.count == 2)
            // It is on its way: what comes now is another entry, and this one stays as it is.
            let inHand = tower.activeConfiguration.inHand
            #expect(inHand.beginSending(first.id, readAfter: inHand.rewritings))
            try await say("three")
            let entries = try await tower.entries(of: "hook")
            #expect(entries.count == 2 && entries.first == first)
            #expect(try entries.last?.said.data.item?.count == 3)
        }
    }

    @Test func `after a restart never changes what the last daemon may have sent`() async throws {
        let folder = try TemporaryFolder()
        var first: [OutboxRecord] = []
        try await Tower.run(in: folder, channels: channels, routes: Self.routes) { tower in
            try await tower.say("one", urgency: .critical)
            try await tower.settled()
            first = try await tower.entries(of: "hook")
        }
        try await Tower.run(in: folder, at: at("10:00:05"), channels: channels, routes: Self.routes) {
            tower in
            try await tower.say("two", urgency: .critical)
            try await tower.settled()
            let entries = try await tower.entries(of: "hook")
            #expect(entries.count == 2 && entries.first == first.first)
        }
    }

    @Test func `while it waits survives a restart`() async throws {
        let folder = try TemporaryFolder()
        try await Tower.run(in: folder, channels: channels, routes: Self.routes) { tower in
            try await tower.say("one")
            try await tower.settled()
        }
        try await Tower.run(in: folder, at: at("10:00:01"), channels: channels, routes: Self.routes) {
            tower in
            #expect(await tower.clock.nextSleeper() == at("10:00:01.5"))
            tower.clock.advance(to: at("10:00:01.5"))
            try await tower.until { try await tower.entries(of: "hook").count == 1 }
        }
    }

    @Test func `while it waits is not held up by a clock that is set back`() async throws {
        try await tower { tower in
            try await tower.say("one")
            try await tower.settled()
            _ = await tower.clock.nextSleeper()
            tower.clock.set(to: at("05:00:00"))
            // Sleeps of before that were broken off are passed over.
            while await tower.clock.nextSleeper() != at("05:00:01.5") {}
            tower.clock.advance(to: at("05:00:01.5"))
            try await tower.until { try await tower.entries(of: "hook").count == 1 }
        }
    }

    @Test func `and was read is removed, and what came later is not`() async throws {
        try await tower { tower in
            let first = try await tower.say("one")
            tower.clock.advance(by: .seconds(2))
            let second = try await tower.say("two", urgency: .critical)
            try await tower.settled()
            _ = try await tower.control.read(first.id)
            try await tower.settled()
            #expect(try await tower.shown(Self.main) != nil)
            #expect(try await tower.ledger.unread() == ["ops": 1])
            _ = try await tower.control.read(second.id)
            try await tower.settled()
            #expect(try await tower.shown(Self.main) == nil)
            #expect(try await tower.ledger.unread().isEmpty)
        }
    }

    @Test func `starts again where the stored item can't be read`() async throws {
        try await tower { tower in
            try await tower.ledger.commit([
                .putItem(
                    ItemRecord(
                        key: Self.main, revision: 7, state: Array("{\"from\":\"the future\"}".utf8),
                        flushAt: nil, updatedAt: at("09:00:00")), replacing: nil)
            ])
            try await tower.say("one", urgency: .critical)
            try await tower.settled()
            #expect(try await tower.entries(of: "hook").count == 1)
            #expect(try await tower.ledger.item(Self.main)?.revision == 8)
        }
    }
}
