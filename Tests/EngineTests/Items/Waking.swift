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

@Suite struct `the items that are awake` {
    private static let start = at("10:00:00")

    private static func key(_ name: Int) -> ItemKey { .thread(bot: "ops", thread: "\(name)") }

    /// One that waits until so many seconds after the start; nil: it waits for nothing.
    private static func item(_ name: Int, until seconds: Int?) -> KeptItem {
        var item = KeptItem(key(name), bot: "ops")
        guard let seconds else { return item }
        let message = Message(id: "m", bot: "ops", thread: "\(name)", text: "x", at: start)
        _ = item.receive(message, at: start, policy: ThreadPolicy(wait: .seconds(seconds)))
        return item
    }

    private static func seconds(_ moment: Moment?) -> Int? {
        moment.map { Int(($0 - start).milliseconds / 1000) }
    }

    @Test func `are woken in the order of their moments, those of one moment all of them`() {
        var awake = AwakeItems()
        for (name, until) in [(1, 30), (2, 10), (3, 20), (4, 10)] {
            awake.set(Self.item(name, until: until), for: Self.key(name))
        }
        #expect(awake.nextFlush == Self.start + .seconds(10))
        #expect(awake.due(at: Self.start + .seconds(9), limit: 9).isEmpty)
        let first = awake.due(at: Self.start + .seconds(10), limit: 9)
        #expect(Set(first) == [Self.key(2), Self.key(4)] && first.count == 2)
        #expect(awake.due(at: Self.start + .seconds(99), limit: 3).last == Self.key(3))
    }

    @Test func `that waits for another moment is woken then, and one that left is not`() {
        var awake = AwakeItems()
        for (name, until) in [(1, 10), (2, 20), (3, 30)] {
            awake.set(Self.item(name, until: until), for: Self.key(name))
        }
        awake.set(Self.item(1, until: 40), for: Self.key(1))
        awake.set(nil, for: Self.key(2))
        #expect(awake.nextFlush == Self.start + .seconds(30))
        #expect(awake.due(at: Self.start + .seconds(99), limit: 9) == [Self.key(3), Self.key(1)])
        // Back to an earlier moment, for which there is a stale place already.
        awake.set(Self.item(1, until: 10), for: Self.key(1))
        #expect(awake.due(at: Self.start + .seconds(10), limit: 9) == [Self.key(1)])
        #expect(awake[Self.key(2)] == nil)
    }

    @Test func `that shows a run at work is known, and woken by nothing`() {
        var awake = AwakeItems()
        awake.set(Self.item(1, until: nil), for: Self.key(1))
        #expect(awake[Self.key(1)] != nil && awake.nextFlush == nil)
        #expect(awake.due(at: Self.start + .seconds(99), limit: 9).isEmpty)
    }

    /// A dictionary that is sorted whenever somebody asks.
    @Test func `are those of a plain model, whatever happens`() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        var awake = AwakeItems()
        var model: [Int: Int] = [:]
        for step in 0..<20_000 {
            let name = Int.random(in: 0..<200, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...5:
                let until = Int.random(in: 1..<500, using: &random)
                awake.set(Self.item(name, until: until), for: Self.key(name))
                model[name] = until
            case 6:
                awake.set(Self.item(name, until: nil), for: Self.key(name))
                model[name] = nil
            case 7:
                awake.set(nil, for: Self.key(name))
                model[name] = nil
            default:
                let now = Int.random(in: 0..<500, using: &random)
                let limit = Int.random(in: 1...20, using: &random)
                let due = awake.due(at: Self.start + .seconds(now), limit: limit)
                let expected = model.values.filter { $0 <= now }.sorted().prefix(limit)
                let moments = due.compactMap { Self.seconds(awake[$0]?.flushAt) }
                #expect(moments == Array(expected), "seed \(seed), step \(step)")
                #expect(Set(due).count == due.count, "seed \(seed), step \(step)")
            }
            #expect(Self.seconds(awake.nextFlush) == model.values.min(), "seed \(seed), step \(step)")
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a turn of the items` {
    /// An item that was not read would be stored as a new one, which its guard refuses.
    @Test func `has read every item that it touches, whatever the event`() async throws {
        let channels: [any Channel] = [
            try makeHook("hook", curl: try CurlMulti()), makeDesk(clock: ManualClock(now: at("10:00:00"))),
        ]
        let routes = [Route(when: Set(RouteWord.allCases), to: ["hook", "desk"])]
        let bots = ["ops": BotProfile(name: "ops", policy: ThreadPolicy(wait: .zero, interval: .zero))]
        let folder = try TemporaryFolder()
        var facts: [Fact] = []
        try await Tower.run(in: folder, keepers: [], channels: channels, routes: routes, bots: bots) {
            tower in
            let run = try await tower.begin("backup")
            let message = Message(id: "m1", bot: "ops", thread: "main", text: "hello", at: tower.clock.now)
            try await tower.ledger.commit([.insertMessage(MessageRecord(message: message))])
            facts = Self.facts(about: run)
        }
        // The second and third time the items are stored, and each daemon begins with none awake.
        for round in 1...3 {
            try await Tower.run(in: folder, channels: channels, routes: routes, bots: bots) { tower in
                for fact in facts {
                    try await tower.ledger.commit([.append(NewEvent(fact, at: tower.clock.now))])
                }
                try await tower.settled()
                let items = try await tower.ledger.items(limit: .max)
                #expect(Set(items.map { "\($0.key)" }) == Self.items, "round \(round)")
                // A question is closed once, however often that is reported.
                #expect(
                    items.allSatisfy { $0.revision >= round || $0.key == Self.question }, "round \(round)")
            }
        }
    }

    private static let question = ItemKey.question("thread:ops/main")

    private static let items: Set<String> = [
        "\(question)",
        "thread:belfry/bot ops", "thread:belfry/gateway ops", "thread:belfry/expect nightly",
        "thread:belfry/job backup",
        "job:backup", "thread:ops/main", "thread:belfry/channel hook", "thread:belfry/clock",
        "thread:belfry/config", "thread:belfry/ledger", "thread:belfry/test desk",
    ]

    /// Every type of event once, those with a payload that matters with one.
    private static func facts(about run: RunRecord) -> [Fact] {
        EventType.allCases.filter { $0 != .unknown }.map { type in
            switch type {
            case .runMissed, .runSkipped:
                .runMissed(
                    Fact.Slots(
                        job: run.job, bot: run.bot, reason: .overlap,
                        Fact.Slots.Span(first: at("09:00:00"), last: at("09:30:00"), count: 2)))
            case .jobLeftOut: .jobLeftOut(Fact.LeftOut(job: run.job, bot: "ops", reason: "x", message: "m"))
            case .channelFailing, .channelDisabled, .channelRestored:
                Fact(type, FactColumns(reason: "timeout", channel: "hook"))
            case .messagePosted: .messagePosted(Fact.Post("m1", bot: "ops"))
            case .expectLate, .expectRecovered: Fact(type, FactColumns(subject: "nightly"))
            default:
                Fact(
                    type,
                    FactColumns(
                        reason: "x", job: run.job, run: run.id, bot: run.bot, subject: "thread:ops/main",
                        channel: "desk"))
            }
        }
    }
}
