import Delivery
import Grouping
import Ledger
import LedgerSQLite
import OpenClaw
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

/// A gateway whose jobs are watched, on a ledger of its own.
private struct WatchScene {
    static let place = "127.0.0.1:18789"
    let folder: TemporaryFolder
    let ledger: SQLiteLedger
    let clock: ManualClock
    let board = GatewayBoard()

    init() throws {
        folder = try TemporaryFolder()
        ledger = try folder.ledger()
        clock = ManualClock(now: at("10:00:00"))
    }

    /// A keeper, as each start of the daemon makes one.
    func keeper() -> GatewayKeeper {
        GatewayKeeper(ledger: ledger, board: board, clock: clock, zone: { .utc }, logger: quiet)
    }

    func look(_ jobs: GatewayJob..., runs: [GatewayRun] = [], removed: Set<String> = []) {
        board.note(Self.place, bots: ["opta"], isOnline: true)
        board.note(
            GatewayLook(at: clock.now, jobs: jobs, runs: runs, removed: removed), of: Self.place)
    }

    /// The facts that one service writes.
    func news(_ keeper: GatewayKeeper) async throws -> [String] {
        let before = try await ledger.lastEvent()
        _ = try await keeper.serve()
        _ = try await keeper.serve()
        return try await ledger.events(after: before, limit: 99).map {
            "\($0.event.fact.columns.subject ?? "") \($0.event.fact.columns.reason ?? "")"
        }
    }

    func job(_ id: String = "j", state: String = "") throws -> GatewayJob {
        let text =
            #"{"id":"\#(id)","name":"Brief","schedule":{"kind":"every","everyMs":60000},"payload":{"kind":"agentTurn","message":"x"},"state":{\#(state)}}"#
        return try #require(JSON(parsing: Array(text.utf8)[...]).flatMap { GatewayJob($0) })
    }

    func ms(_ moment: Moment) -> Int64 { moment.microseconds / 1000 }
}

@Suite struct `the watch of a gateway` {
    @Test func `begins when somebody asks for it, and ends so`() async throws {
        let scene = try WatchScene()
        let keeper = scene.keeper()
        let failing = try scene.job(state: #""consecutiveErrors":3"#)
        scene.look(failing)
        #expect(try await scene.news(keeper) == [] && !scene.board.isWatched(WatchScene.place))
        try await keeper.setWatch(true, at: WatchScene.place)
        #expect(scene.board.isWatched(WatchScene.place))
        scene.look(failing)
        #expect(try await scene.news(keeper) == ["j failing"])
        #expect(scene.board[WatchScene.place]?.watched?.troubled == 1)
        try await keeper.setWatch(false, at: WatchScene.place)
        scene.look(try scene.job())
        #expect(try await scene.news(keeper) == [] && !scene.board.isWatched(WatchScene.place))
    }

    @Test func `reports nothing twice after a restart, and what vanished meanwhile`() async throws {
        let scene = try WatchScene()
        let first = scene.keeper()
        try await first.setWatch(true, at: WatchScene.place)
        let failing = try scene.job(state: #""consecutiveErrors":3"#)
        scene.look(failing, try scene.job("k"))
        #expect(try await scene.news(first) == ["j failing"])
        let second = scene.keeper()
        scene.look(failing)
        #expect(try await scene.news(second) == ["k vanished"])
        scene.look(failing)
        #expect(try await scene.news(second) == [])
    }

    @Test func `goes on while the gateway is away`() async throws {
        let scene = try WatchScene()
        let keeper = scene.keeper()
        try await keeper.setWatch(true, at: WatchScene.place)
        let due = scene.clock.now + .seconds(600)
        scene.look(try scene.job(state: #""nextRunAtMs":\#(scene.ms(due))"#))
        #expect(try await scene.news(keeper) == [])
        scene.board.note(WatchScene.place, bots: ["opta"], isOnline: false)
        #expect(try await keeper.serve() == .at(due + .seconds(120)))
        scene.clock.set(to: due + .seconds(121))
        #expect(try await scene.news(keeper) == ["j overdue"])
    }

    @Test func `forgets no removal that was reported before anybody judged it`() async throws {
        let scene = try WatchScene()
        let keeper = scene.keeper()
        try await keeper.setWatch(true, at: WatchScene.place)
        scene.look(try scene.job(), try scene.job("k"))
        #expect(try await scene.news(keeper) == [])
        scene.look(try scene.job(), removed: ["k"])
        scene.look(try scene.job())
        #expect(try await scene.news(keeper) == [])
    }
}

@Suite struct `what was said elsewhere` {
    @Test func `is taken over once, and asks nobody anything`() async throws {
        let scene = try WatchScene()
        let history = GatewayHistory(ledger: scene.ledger, clock: scene.clock)
        func rows(_ count: Int) throws -> SessionHistory {
            let rows = (0..<count).map { number in
                #"{"role":"\#(number.isMultiple(of: 2) ? "user" : "assistant")","content":"m\#(number)","timestamp":\#(scene.ms(scene.clock.now) + Int64(number))}"#
            }
            let text = #"{"messages":[\#(rows.joined(separator: ","))]}"#
            let json = try #require(JSON(parsing: Array(text.utf8)[...]))
            return SessionHistory(json)
        }
        try await history.take(rows(2), of: "opta", in: "s", sent: [])
        #expect(try await scene.ledger.lastEvent() == 0)
        try await history.take(rows(4), of: "opta", in: "s", sent: [])
        try await history.take(rows(4), of: "opta", in: "s", sent: [])
        let messages = try await scene.ledger.messages(bot: "opta", thread: "main", after: 0, limit: 99)
        #expect(messages.reversed().map(\.record.message.text) == ["m0", "m1", "m2", "m3"])
        #expect(messages.map(\.record.read) == [false, true, true, true])
        #expect(try await scene.ledger.unaskedThreads().isEmpty)
        #expect(
            try await scene.ledger.events(after: 0, limit: 9).map(\.event.type) == [
                .messagePosted, .messagePosted,
            ])
    }
}
