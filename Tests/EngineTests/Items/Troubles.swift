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

@Suite(.timeLimit(.minutes(5))) struct `a clock that was set back by hours` {
    @Test func `is reported where failures go, by webhook and as a message`() async throws {
        let channels: [any Channel] = [
            try makeHook("hook", curl: try CurlMulti()), makeDesk(clock: ManualClock(now: at("10:00:00"))),
        ]
        let routes = [Route(when: [.failed], to: ["hook", "desk"])]
        try await Tower.run(channels: channels, routes: routes) { tower in
            try await tower.ledger.commit([
                .append(
                    NewEvent(.clockBack(Fact.ClockBack(by: .seconds(18_000))), at: tower.clock.now))
            ])
            try await tower.settled()
            #expect(try await tower.entries(of: "hook").map(\.type) == ["clock.back"])
            let shown = try await tower.shown(.thread(bot: "belfry", thread: "clock"))
            guard case .messages(1, let last)? = shown?.content else {
                Issue.record("not one message")
                return
            }
            #expect(last.first?.text.contains("went back by 5h") == true)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `news of a bot` {
    private let status = Fact.botStatus(
        Fact.BotStatus(
            bot: "sage", reason: "auth",
            Fact.BotStatus.Payload(status: "blocked", message: "sage: api.example.org refused the key")))
    private let budget = Fact.botBudget(
        Fact.BotBudget(
            bot: "sage", reason: .budgetReached,
            Fact.BotBudget.Payload(
                month: "2026-03", costUsd: 5.03, limitUsd: 5, tokens: 12, limitTokens: nil)))

    private func channels() throws -> [any Channel] {
        [
            try makeHook("hook", curl: try CurlMulti()), makeDesk(clock: ManualClock(now: at("10:00:00"))),
        ]
    }

    private func text(_ tower: Tower) async throws -> String? {
        let shown = try await tower.shown(.thread(bot: "belfry", thread: "bot sage"))
        guard case .messages(_, let last)? = shown?.content else { return nil }
        return last.last?.text
    }

    @Test func `is sent and shown in plain words where a route names it`() async throws {
        let routes = [Route(when: [.bot, .failed], to: ["hook", "desk"])]
        try await Tower.run(channels: channels(), routes: routes) { tower in
            try await tower.ledger.commit([.append(NewEvent(status, at: tower.clock.now))])
            try await tower.settled()
            try await tower.until {
                try await text(tower) == "sage is blocked: api.example.org refused the key."
            }
            tower.clock.advance(by: .seconds(60))
            try await tower.ledger.commit([.append(NewEvent(budget, at: tower.clock.now))])
            try await tower.settled()
            // Cut, as the second of two messages in one notice is.
            let words = "sage has used up its budget of this month: $5.03 of $5.00."
            try await tower.until { try await text(tower)?.hasPrefix(words) == true }
            let sent = try await tower.entries(of: "hook")
            #expect(sent.map(\.type) == ["bot.status", "bot.budget"])
            let bots = sent.map { JSON(parsing: $0.body[...])?["data"]?["bot"] }
            #expect(bots.first??["status"]?.text == "blocked" && bots.last??["name"]?.text == "sage")
            #expect(bots.last??["budget"]?["costUsd"]?.double == 5.03)
        }
    }

    @Test func `is its budget alone where nobody wrote routes`() async throws {
        try await Tower.run(channels: channels(), hasRoutes: false) { tower in
            try await tower.ledger.commit(
                [status, budget].map { .append(NewEvent($0, at: tower.clock.now)) })
            try await tower.settled()
            #expect(try await tower.entries(of: "hook").map(\.type) == ["bot.budget"])
            try await tower.until { try await text(tower)?.contains("used up its budget") == true }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a disk that is full and has room again` {
    @Test func `rings both times where the ledger's news goes`() async throws {
        let channels: [any Channel] = [
            try makeHook("hook", curl: try CurlMulti()), makeDesk(clock: ManualClock(now: at("10:00:00"))),
        ]
        let routes = [Route(when: [.ledger], to: ["hook", "desk"])]
        try await Tower.run(channels: channels, routes: routes) { tower in
            let key = ItemKey.thread(bot: "belfry", thread: "ledger")
            for (fact, revision) in [(Fact.ledgerFull, 1), (.ledgerRestored, 2)] {
                try await tower.ledger.commit([.append(NewEvent(fact, at: tower.clock.now))])
                try await tower.settled()
                try await tower.until { try await tower.shown(key)?.revision == revision }
                #expect(try await tower.shown(key)?.reason.rings == true, "\(fact.type)")
                tower.clock.advance(by: .seconds(60))
            }
            #expect(try await tower.entries(of: "hook").map(\.type) == ["ledger.full", "ledger.restored"])
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a channel's trouble` {
    let curl: CurlMulti
    let channels: [any Channel]
    let routes = [Route(when: [.failed, .message], to: ["one", "two", "desk"])]

    init() throws {
        curl = try CurlMulti()
        channels = [
            try makeHook("one", curl: curl), try makeHook("two", curl: curl),
            makeDesk(clock: ManualClock(now: at("10:00:00"))),
        ]
    }

    @Test func `is reported on the others, and not on itself`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            try await tower.ledger.commit([
                .append(
                    NewEvent(
                        .channelFailing(
                            Fact.Channel("one", reason: .connectFailed, error: "connection refused")),
                        at: tower.clock.now))
            ])
            try await tower.settled()
            #expect(try await tower.entries(of: "one").isEmpty)
            let entry = try #require(try await tower.entries(of: "two").first)
            #expect(entry.type == "channel.failing" && entry.reason == "connectFailed")
            #expect(
                String(decoding: entry.body, as: UTF8.self).hasSuffix(
                    """
                    "data":{"reason":"connectFailed","channel":{"name":"one","kind":"webhook","state":"failing",\
                    "since":"\(tower.clock.now.iso8601)","lastError":"connection refused"}}}
                    """))
            let key = ItemKey.thread(bot: "belfry", thread: "channel one")
            let shown = try #require(try await tower.shown(key))
            guard case .messages(1, let last) = shown.content else {
                Issue.record("not one message")
                return
            }
            #expect(last.first?.text.contains("connection refused") == true)
            #expect(try await tower.ledger.surface(channel: "desk", item: "\(key)")?.ring == true)
        }
    }

    @Test func `is tested on that channel alone, also twice in a second`() async throws {
        try await Tower.run(channels: channels, routes: routes) { tower in
            _ = try await tower.control.testChannel("two")
            for _ in 1...2 { _ = try await tower.control.testChannel("desk") }
            try await tower.settled()
            tower.clock.advance(by: .seconds(1))
            let key = ItemKey.thread(bot: "belfry", thread: "test desk")
            try await tower.until { try await tower.shown(key)?.revision == 2 }
            #expect(try await tower.entries(of: "one").isEmpty)
            #expect(try await tower.entries(of: "two").map(\.type) == ["test"])
            #expect(try await tower.ledger.surfaces(channel: "desk", all: true).map(\.item) == ["\(key)"])
            await #expect(throws: EngineError.noSuchChannel("three")) {
                _ = try await tower.control.testChannel("three")
            }
        }
    }
}
