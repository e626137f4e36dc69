import Delivery
import Ledger
import LedgerSQLite
import Performing
import Prompting
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

/// A bot with a budget on a ledger of its own.
struct BudgetScene {
    let folder: TemporaryFolder
    let ledger: SQLiteLedger
    let clock: ManualClock
    let activeConfiguration: ActiveConfiguration
    let desk: BotDesk

    init(_ budget: Budget?, fault: String? = nil, zone: String = "UTC") throws {
        folder = try TemporaryFolder()
        ledger = try folder.ledger()
        clock = ManualClock(now: at("10:00:00"))
        activeConfiguration = ActiveConfiguration(
            EngineConfiguration(
                path: nil, zone: zone, bots: ["sage": try Self.bot(budget, fault: fault)], jobs: [],
                routing: .standard(to: []), channels: []))
        desk = BotDesk(
            ledger: ledger, activeConfiguration: activeConfiguration, zones: machineZones, clock: clock)
    }

    private init(restarting scene: BudgetScene) {
        (folder, ledger, activeConfiguration) = (scene.folder, scene.ledger, scene.activeConfiguration)
        clock = scene.clock
        desk = BotDesk(
            ledger: ledger, activeConfiguration: activeConfiguration, zones: machineZones, clock: clock)
    }

    /// The same bot and ledger, with a daemon that was started again.
    func restarted() -> BudgetScene { BudgetScene(restarting: self) }

    static func bot(_ budget: Budget?, model: String = "m", fault: String? = nil) throws -> BotProfile {
        var backend = BotBackend(
            .anthropic, reach: try HTTPReach(url: HTTPAddress("https://api.example.org"), allow: []),
            model: model)
        backend.budget = budget
        return BotProfile(name: "sage", contact: BotInUse(backend, fault: fault))
    }

    /// The bot is configured otherwise.
    func configure(_ budget: Budget?, model: String = "m", fault: String? = nil) throws {
        let bot = try Self.bot(budget, model: model, fault: fault)
        activeConfiguration.change { $0.bots["sage"] = bot }
    }

    /// An attempt ends, which cost so many cents.
    func reply(
        _ cents: Int64, month: String = "2026-03",
        _ outcome: BotReply.Outcome = .replied(first: nil, whole: nil)
    ) async throws {
        let usage = BotUsage(inputTokens: 90, outputTokens: 10, costMicros: cents * 10_000)
        try await ledger.commit([
            .recordReply(
                BotReply(bot: "sage", month: month, at: clock.now, usage: usage, outcome: outcome))
        ])
    }

    /// Why it must not be asked; nil: it may be.
    func refusal() async -> AttemptFault? {
        do throws(AttemptFault) {
            _ = try await desk.bot("sage")
            return nil
        } catch {
            return error
        }
    }

    /// The facts that the keeper writes once.
    func news() async throws -> [Fact] {
        let before = try await ledger.lastEvent()
        let keeper = BotKeeper(
            ledger: ledger, desk: desk, activeConfiguration: activeConfiguration, clock: clock, logger: quiet)
        _ = try await keeper.serve()
        _ = try await keeper.serve()
        return try await ledger.events(after: before, limit: 99).map(\.event.fact)
    }
}

@Suite struct `a monthly budget` {
    @Test func `ends what its bot is asked once it is used up, until it is raised`() async throws {
        let scene = try BudgetScene(Budget(usd: 5))
        try await scene.reply(499)
        #expect(await scene.refusal() == nil)
        try await scene.reply(4)
        let refusal = try #require(await scene.refusal())
        #expect(refusal.reason == .budget && !refusal.mayPass && !refusal.wasTried)
        #expect(
            refusal.text == "sage: its budget for March is used up ($5.03 of $5.00); raise bots.sage.budget, "
                + "or wait until 1 April")
        try scene.configure(Budget(usd: 6))
        #expect(await scene.refusal() == nil)
        try scene.configure(nil)
        #expect(await scene.refusal() == nil)
    }

    @Test func `counts tokens as well, and what is reached first`() async throws {
        let scene = try BudgetScene(Budget(usd: 500, tokens: 200))
        try await scene.reply(1)
        #expect(await scene.refusal() == nil)
        try await scene.reply(1)
        #expect(await scene.refusal()?.text.contains("$0.0200 of $500.00, 200 of 200 tokens") == true)
    }

    @Test func `begins again with the month of the configured zone`() async throws {
        let scene = try BudgetScene(Budget(usd: 5), zone: "Europe/Berlin")
        try await scene.reply(900, month: scene.desk.month(of: scene.clock.now).text)
        #expect(await scene.refusal() != nil)
        // 1 April begins in Berlin at 22:00 UTC.
        scene.clock.set(to: try Moment(iso8601: "2026-03-31T21:59:59Z"))
        #expect(await scene.refusal() != nil)
        scene.clock.set(to: try Moment(iso8601: "2026-03-31T22:00:00Z"))
        #expect(await scene.refusal() == nil)
    }

    @Test func `is reported once when four fifths are used, and once when all of it is`() async throws {
        let scene = try BudgetScene(Budget(usd: 5))
        try await scene.reply(399)
        #expect(try await scene.news().isEmpty)
        try await scene.reply(1)
        let near = try await scene.news()
        guard case .botBudget(let fact)? = near.first else { throw Unexpected() }
        #expect(near.count == 1 && fact.bot == "sage" && fact.reason == .budgetNear)
        #expect(fact.payload?.costUsd == 4 && fact.payload?.limitUsd == 5 && fact.payload?.month == "2026-03")
        try await scene.reply(100)
        let end = try await scene.news()
        #expect(end.map(\.type) == [.botBudget, .botStatus])
        #expect(end.first?.columns.reason == "budgetReached" && end.last?.columns.reason == "budget")
        try await scene.reply(100)
        #expect(try await scene.news().isEmpty)
    }

    @Test func `is reported again when it is another one`() async throws {
        let scene = try BudgetScene(Budget(usd: 5))
        try await scene.reply(600)
        #expect(try await scene.news().map(\.type) == [.botBudget, .botStatus])
        try scene.configure(Budget(usd: 10))
        let news = try await scene.news()
        #expect(news.map(\.type) == [.botStatus])
        #expect(news.first?.columns.reason == nil)
        try await scene.reply(400)
        #expect(try await scene.news().map(\.columns.reason) == ["budgetReached", "budget"])
    }

    private struct Unexpected: Error {}
}

@Suite struct `the status of a bot` {
    private func known(_ change: (inout BotKnowledge) -> Void) -> BotView {
        var knowledge = BotKnowledge()
        change(&knowledge)
        return knowledge.view
    }

    private func failure(_ reason: RunReason, at moment: Moment = at("10:00:00")) -> BotRecord.Failure {
        BotRecord.Failure(at: moment, reason: reason, text: "why")
    }

    @Test func `is online while nothing else is known`() {
        #expect(known { _ in } == BotView(.online))
    }

    @Test(arguments: [
        (RunReason.auth, BotStatus.blocked), (.model, .blocked), (.budget, .blocked),
        (.rateLimited, .blocked),
        (.botUnavailable, .offline), (.overloaded, .offline), (.providerFailed, .offline),
        (.silent, .offline),
        (.truncated, .offline), (.malformed, .offline), (.promptTooLong, .online), (.badRequest, .online),
        (.replyTooLong, .online), (.timeout, .online), (.notFound, .offline), (.notExecutable, .offline),
        (.refused, .online),
    ])
    func `follows from its last failure`(reason: RunReason, status: BotStatus) {
        let view = known { $0.lastFailure = failure(reason) }
        #expect(view.status == status)
        #expect(view.reason == (status == .online ? nil : reason.rawValue))
        let text: String? = status == .online ? nil : "why"
        #expect(view.text == text)
    }

    @Test func `is online again after a reply`() {
        let view = known {
            $0.lastFailure = failure(.auth)
            $0.lastSuccess = at("10:00:01")
        }
        #expect(view.status == .online)
    }

    @Test func `is working while it is asked, whatever came before`() {
        let view = known {
            $0.lastFailure = failure(.auth)
            $0.workingSince = at("10:00:02")
        }
        #expect(view == BotView(.working, since: at("10:00:02")))
    }

    @Test func `is blocked by a budget that is used up`() {
        let view = known {
            $0.budget = BudgetUse(Budget(usd: 5), used: BotUsage(costMicros: 5_030_000))
        }
        #expect(view.status == .blocked && view.reason == "budget")
        #expect(view.text == "its budget is used up: $5.03 of $5.00")
    }

    @Test func `is offline without its key, above all else`() {
        let view = known {
            $0.fault = "no key"
            $0.workingSince = at("10:00:02")
        }
        #expect(view == BotView(.offline, reason: "badSecret", text: "no key"))
    }

    @Test func `is reported when it changes, and since when it is known`() async throws {
        let scene = try BudgetScene(nil)
        #expect(try await scene.news().isEmpty)
        try await scene.reply(0, .failed(.auth, "sage: refused"))
        let news = try await scene.news()
        #expect(news.map(\.type) == [.botStatus] && news.first?.columns.reason == "auth")
        let since = scene.clock.now
        scene.clock.set(to: at("11:00:00"))
        try await scene.reply(0, .failed(.auth, "sage: refused"))
        #expect(try await scene.news().isEmpty)
        #expect(try await scene.desk.survey()["sage"]?.view.since == since)
        try await scene.reply(0)
        scene.clock.set(to: at("11:00:01"))
        try await scene.reply(0)
        #expect(try await scene.news().map(\.columns.reason) == [nil])
        #expect(try await scene.desk.survey()["sage"]?.view.status == .online)
    }

    @Test func `is the same after the daemon was started again`() async throws {
        let scene = try BudgetScene(nil)
        _ = try await scene.news()
        scene.clock.set(to: at("10:00:01"))
        try await scene.reply(0, .failed(.auth, "sage: refused"))
        #expect(try await scene.news().map(\.columns.reason) == ["auth"])
        scene.clock.set(to: at("11:00:00"))
        #expect(try await scene.restarted().news().isEmpty)
        #expect(try await scene.restarted().desk.survey()["sage"]?.view.status == .blocked)
        // Configured otherwise while no daemon ran: nothing is known of it now.
        try scene.configure(nil, model: "another")
        #expect(try await scene.restarted().news().map(\.columns.reason) == [nil])
    }

    @Test func `forgets failures when it is configured otherwise`() async throws {
        let scene = try BudgetScene(nil)
        try await scene.reply(0, .failed(.model, "sage: no such model"))
        #expect(try await scene.news().count == 1)
        scene.clock.set(to: at("10:01:00"))
        try scene.configure(nil, model: "another")
        let news = try await scene.news()
        #expect(news.map(\.type) == [.botStatus] && news.first?.columns.reason == nil)
    }
}
