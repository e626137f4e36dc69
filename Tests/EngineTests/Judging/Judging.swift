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

private func run(
    _ id: String, _ state: RunState = .queued, job: String = "backup", queuedAt: Moment = at("10:00:00")
) -> RunRecord {
    var run = RunRecord(
        id: id, job: job, bot: "ops", kind: .manual, cause: "key:\(id)", state: state, queuedAt: queuedAt,
        revision: 1)
    if state != .queued { run.startedAt = queuedAt }
    return run
}

private func task(_ id: String) -> LiveTask {
    LiveTask(id: id, botID: "ops", run: "backup#1", name: "backup", botName: "ops")
}

@Suite struct `a judge of runs` {
    @Test func `finds a run late once, five minutes after it was queued`() {
        var judge = Judge()
        let early = judge.review(active: [run("a")], at: at("10:04:59"))
        #expect(early.news == [] && early.next == at("10:05:00"))
        let due = judge.review(active: [run("a"), run("b", queuedAt: at("10:01:00"))], at: at("10:05:00"))
        #expect(due.news == [.runLate(Fact.Run(run("a")))] && due.next == at("10:06:00"))
        let later = judge.review(active: [run("a")], at: at("11:00:00"))
        #expect(later.news == [] && later.next == nil)
    }

    @Test func `finds no run late that began, waits for its spread, or is tried again`() {
        var again = run("c")
        (again.attempt, again.startedAt) = (2, at("10:00:00"))
        let runs = [run("a", .running), run("b", .scheduled), again]
        var judge = Judge()
        let found = judge.review(active: runs, at: at("11:00:00"))
        #expect(found.news == [] && found.next == nil)
    }

    @Test func `reports each charge of a run once, until the run has ended`() {
        var judge = Judge()
        let fact = Fact.Run(job: "backup", id: "a", bot: "ops")
        #expect(judge.review([(task("a"), .stuck)]) == [.runStuck(fact)])
        #expect(judge.review([(task("a"), .stuck), (task("a"), .slow)]) == [.runSlow(fact)])
        _ = judge.review(active: [run("a", .running)], at: at("10:00:00"))
        #expect(judge.review([(task("a"), .stuck), (task("a"), .slow)]) == [])
        _ = judge.review(active: [], at: at("10:00:00"))
        #expect(judge.reported.isEmpty)
    }

    @Test(arguments: [
        ("", false), ("F", false), ("FSFS", false), ("FSFSF", true), ("FSFSSF", true), ("FSSFFS", false),
        ("FFFFFF", false), ("SSFSFSF", true), ("SSSFSFSF", false), ("LSTSF", true),
    ])
    func `finds a job unsteady whose last ends changed four times`(ends: String, isUnsteady: Bool) {
        let states = ends.map { end -> RunState in
            switch end {
            case "S": .completed
            case "L": .lost
            case "T": .timedOut
            default: .failed
            }
        }
        #expect(Judge.isUnsteady(states) == isUnsteady)
    }

    @Test func `reports an unsteady job once, and again after it was steady`() {
        func ends(_ states: RunState...) -> [RunRecord] {
            states.enumerated().map { run("r\($0.offset)", $0.element) }
        }
        var judge = Judge()
        let unsteady = ends(.failed, .completed, .failed, .completed, .failed)
        let fact = Fact.runFlapping(Fact.Run(unsteady[0]))
        #expect(judge.review(ends: unsteady, of: "backup") == fact)
        #expect(judge.review(ends: unsteady, of: "backup") == nil)
        #expect(judge.review(ends: ends(.failed, .failed, .failed), of: "backup") == nil)
        #expect(judge.review(ends: unsteady, of: "backup") == fact)
    }

    @Test func `knows after a restart what it reported`() throws {
        var judge = Judge()
        judge.cursor = 7
        _ = judge.review([(task("a"), .stuck), (task("b"), .slow)])
        _ = judge.review(active: [run("a"), run("b", .running)], at: at("11:00:00"))
        _ = judge.review(
            ends: [.failed, .completed, .failed, .completed, .failed].map { run("x", $0) }, of: "backup")
        let kept = try #require(JSON(parsing: judge.json.bytes[...]))
        #expect(Judge(kept) == judge && judge.unsteady == ["backup"])
        #expect(Judge(.null) == Judge())
    }
}

@Suite(.timeLimit(.minutes(5))) struct `the keeper that judges` {
    private static let charges: Set<EventType> = [.runLate, .runSlow, .runStuck, .runFlapping]
    let folder: TemporaryFolder
    let clock = ManualClock(now: at("10:00:00"))

    init() throws { folder = try TemporaryFolder() }

    /// Looks on while the keeper serves, beside a board and the keeper of finish times.
    private func serving(
        incarnation: Int64 = 1, _ body: (SQLiteLedger, LiveBoard) async throws -> Void
    ) async throws {
        let ledger = try folder.ledger()
        let board = LiveBoard(ledger: ledger, clock: clock, incarnation: incarnation, logger: quiet)
        let finish = FinishKeeper(ledger: ledger, clock: clock, board: board, logger: quiet)
        let keeper = JudgeKeeper(ledger: ledger, clock: clock, board: board, logger: quiet)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await finish.run() }
            group.addTask { try await keeper.run() }
            // From now on nothing escapes it.
            while try await ledger.fact(named: "judge") == nil {
                try Task.checkCancellation()
                await Task.yield()
            }
            try await body(ledger, board)
            group.cancelAll()
            do { try await group.waitForAll() } catch is CancellationError {}
        }
        await ledger.close()
    }

    /// What was reported, once it is so much.
    private func news(_ count: Int, in ledger: SQLiteLedger) async throws -> [NewEvent] {
        while true {
            try Task.checkCancellation()
            let found = try await ledger.events(of: Self.charges, after: 0, limit: 99)
            if found.count >= count { return found.map(\.event) }
            await Task.yield()
        }
    }

    /// Moves the clock from each moment that somebody sleeps to on to the next one while `body` waits.
    private func pacing(_ body: () async throws -> [NewEvent]) async throws -> [NewEvent] {
        let pacer = Task { [clock] in
            while !Task.isCancelled {
                let next = await clock.nextSleeper()
                if next > clock.now { clock.advance(to: next) }
            }
        }
        defer { pacer.cancel() }
        return try await body()
    }

    /// Moves the clock to the moment that somebody sleeps to, once somebody does.
    private func sleepers(until isMeant: (Moment) -> Bool) async {
        while true {
            let moment = await clock.nextSleeper()
            if isMeant(moment) { return clock.advance(to: moment) }
        }
    }

    @Test func `reports a late run once, over a restart, too`() async throws {
        try await serving { ledger, _ in
            try await ledger.commit([.insertRun(run("a"), orIgnore: false)])
            let found = try await pacing { try await news(1, in: ledger) }
            #expect(found.map(\.fact) == [.runLate(Fact.Run(run("a")))])
            #expect(found.allSatisfy { $0.at >= at("10:05:00") })
        }
        try await serving(incarnation: 2) { ledger, _ in
            try await ledger.commit([.insertRun(run("b", queuedAt: clock.now), orIgnore: false)])
            let found = try await pacing { try await news(2, in: ledger) }
            #expect(found.map(\.fact.columns.run) == ["a", "b"])
        }
    }

    @Test func `reports a slow and a stuck run once, over a restart, too`() async throws {
        let ledger = try folder.ledger()
        for number in 1...20 {
            let id = "past-\(number)"
            var move = RunMove(run: id, from: [.running], attempt: 1, to: .completed)
            move.endedAt = at("09:00:00") + .seconds(100 + number)
            move.profile = RunProfile(total: Double(100 + number))
            try await ledger.commit([
                .insertRun(run(id, .running, queuedAt: at("09:00:00")), orIgnore: false), .moveRun(move),
            ])
        }
        try await ledger.commit(
            ["now", "other"].map { .insertRun(run($0, .running), orIgnore: false) })
        await ledger.close()
        var saved: LiveState?
        try await serving { ledger, board in
            await board.enter(task("now"), attempt: 1, state: .running, saved: nil, at: clock.now)
            await sleepers { $0 == at("10:00:00") + .milliseconds(250) }
            await sleepers { (at("10:01:40")...at("10:02:00")).contains($0) }
            let slow = try await news(1, in: ledger)
            #expect(slow.map(\.type) == [.runSlow])
            for _ in 1...6 {
                clock.advance(by: .seconds(1))
                _ = await board.receive(
                    ProgressReport(phase: "working"), of: "now", at: clock.now)
            }
            // Its longest silence so far was two minutes.
            clock.advance(by: .seconds(400))
            let silent = await board.refresh(at: clock.now)
            #expect(silent.map(\.state) == [.stalled])
            let both = try await news(2, in: ledger)
            #expect(both.map(\.type) == [.runSlow, .runStuck])
            saved = await board.state(of: "now")
        }
        try await serving(incarnation: 2) { ledger, board in
            await board.enter(task("now"), attempt: 1, state: .stalled, saved: saved, at: clock.now)
            saved?.task = task("other")
            await board.enter(task("other"), attempt: 1, state: .stalled, saved: saved, at: clock.now)
            let found = try await news(3, in: ledger)
            #expect(found.map(\.type) == [.runSlow, .runStuck, .runStuck])
            #expect(found.last?.fact.columns.run == "other")
        }
    }

    @Test func `reports a job that fails and recovers in turns`() async throws {
        try await serving { ledger, _ in
            for number in 1...6 {
                let (id, isBad) = ("r\(number)", number.isMultiple(of: 2))
                var move = RunMove(run: id, from: [.running], attempt: 1, to: isBad ? .failed : .completed)
                move.endedAt = clock.now
                let end = Fact.End(Fact.Run(run(id)))
                try await ledger.commit([
                    .insertRun(run(id, .running), orIgnore: false), .moveRun(move),
                    .append(NewEvent(isBad ? .runFailed(end) : .runCompleted(end), at: clock.now)),
                ])
            }
            await sleepers { $0 == at("10:00:01") }
            let found = try await news(1, in: ledger)
            #expect(found.map(\.fact) == [.runFlapping(Fact.Run(run("r6")))])
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `the charge against a run` {
    private func channels() throws -> [any Channel] {
        [
            try makeHook("hook", curl: try CurlMulti()), makeDesk(clock: ManualClock(now: at("10:00:00"))),
        ]
    }

    /// Reports each of the four of one run.
    private func report(in tower: Tower) async throws {
        let record = run("a", .running)
        let fact = Fact.Run(record)
        let facts: [Fact] = [.runLate(fact), .runSlow(fact), .runStuck(fact), .runFlapping(fact)]
        tower.clock.advance(by: .seconds(600))
        try await tower.ledger.commit(
            [.insertRun(record, orIgnore: false)]
                + facts.map { .append(NewEvent($0, at: tower.clock.now)) })
        try await tower.settled()
    }

    private func words(_ tower: Tower) async throws -> String {
        let shown = try await tower.shown(.thread(bot: "belfry", thread: "job backup"))
        guard case .messages(_, let last)? = shown?.content else { return "" }
        return last.map(\.text).joined(separator: " ")
    }

    @Test func `goes where a route names it, and is said in plain words`() async throws {
        let routes = [
            Route(when: [.failed, .late, .slow, .stuck, .flapping], to: ["hook", "desk"])
        ]
        try await Tower.run(channels: channels(), routes: routes) { tower in
            try await report(in: tower)
            let sent = try await tower.entries(of: "hook")
            #expect(sent.map(\.type) == ["run.late", "run.slow", "run.stuck", "run.flapping"])
            #expect(try sent.map { try $0.said.data.run?.name } == Array(repeating: "backup#1", count: 4))
            // The others join it when a thread may change again.
            let words = try await words(tower)
            #expect(words.hasPrefix("backup#1 has waited for 10 min"), "\(words)")
        }
    }

    @Test func `is one sentence that names the run`() {
        var record = run("a", .running)
        record.ordinal = 7
        func words(_ fact: Fact) -> String { record.charge(NewEvent(fact, at: at("10:10:00"))) }
        let fact = Fact.Run(record)
        #expect(words(.runLate(fact)) == "backup#7 has waited for 10 min and has not begun.")
        #expect(words(.runSlow(fact)) == "backup#7 takes longer than usual: 10 min so far.")
        #expect(words(.runStuck(fact)) == "backup#7 may be stuck: it has been silent for a while.")
        #expect(words(.runFlapping(fact)) == "backup fails and recovers in turns, last with backup#7.")
    }

    @Test(arguments: [true, false])
    func `goes where failures go when the run is stuck, and nowhere else by itself`(
        hasRoutes: Bool
    ) async throws {
        let routes = [Route(when: [.failed], to: ["hook", "desk"])]
        try await Tower.run(channels: channels(), routes: routes, hasRoutes: hasRoutes) { tower in
            try await report(in: tower)
            #expect(try await tower.entries(of: "hook").map(\.type) == ["run.stuck"])
            let words = try await words(tower)
            #expect(words.hasPrefix("backup#1 may be stuck") && !words.contains("waited"), "\(words)")
        }
    }
}
