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
