import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite(.timeLimit(.minutes(5))) struct `a run that lasts` {
    let folder: TemporaryFolder
    let clock = ManualClock(now: at("10:00:00"))

    init() throws { folder = try TemporaryFolder() }

    private let task = LiveTask(id: "now", botID: "ops", run: "backup#99", name: "backup", botName: "ops")

    /// A ledger with runs of `backup` that took so many seconds each, and one that is under way.
    private func ledger(_ seconds: [Int64]) async throws -> SQLiteLedger {
        let ledger = try folder.ledger()
        for (index, seconds) in seconds.enumerated() {
            try await ledger.commit([
                .insertRun(record("past-\(index)", .running), orIgnore: false),
                .moveRun(end("past-\(index)", after: .seconds(seconds))),
            ])
        }
        try await ledger.commit([.insertRun(record("now", .running), orIgnore: false)])
        return ledger
    }

    private func record(_ id: String, _ state: RunState) -> RunRecord {
        var run = RunRecord(
            id: id, job: "backup", bot: "ops", kind: .manual, cause: "key:\(id)", state: state,
            queuedAt: at("09:00:00"), revision: 1)
        run.startedAt = at("09:00:00")
        return run
    }

    private func end(_ id: String, after time: Duration) -> RunMove {
        var move = RunMove(run: id, from: [.running], attempt: 1, to: .completed)
        move.endedAt = at("09:00:00") + time
        move.profile = RunProfile(total: time / .seconds(1))
        return move
    }

    /// Looks on while a board and its keeper of finish times serve.
    private func serving(
        _ ledger: SQLiteLedger, incarnation: Int64 = 1, _ body: (LiveBoard) async throws -> Void
    ) async throws {
        let board = LiveBoard(ledger: ledger, clock: clock, incarnation: incarnation, logger: quiet)
        let keeper = FinishKeeper(ledger: ledger, clock: clock, board: board, logger: quiet)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await keeper.run() }
            try await body(board)
            group.cancelAll()
            do { try await group.waitForAll() } catch is CancellationError {}
        }
    }

    /// Waits until it has learned.
    private func learned(on board: LiveBoard, after seen: LiveState) async throws -> LiveState {
        for await _ in board.taps() {
            if let live = await board.state(of: "now"), live.seq > seen.seq { return live }
        }
        throw CancellationError()
    }

    /// A run of `belfry exec` with these arguments, all of them of one name.
    private func command(_ id: String, _ arguments: [String]) -> RunRecord {
        var run = record(id, .running)
        (run.kind, run.spec) = (
            .exec,
            JobSpec(
                name: "backup", bot: "ops", action: .command(arguments),
                schedule: ScheduleSpec(kind: .manual, text: "", zone: "UTC"))
        )
        return run
    }

    @Test func `learns from commands with its arguments, where there are any`() async throws {
        let ledger = try folder.ledger()
        for index in 0..<6 {
            let list = ["make", index % 2 == 0 ? "all" : "clean"]
            var move = end("past-\(index)", after: .seconds(index % 2 == 0 ? 900 : 10))
            move.profile?.arguments = RunProfile.mark(ofArguments: list)
            try await ledger.commit([
                .insertRun(command("past-\(index)", list), orIgnore: false), .moveRun(move),
            ])
        }
        try await ledger.commit([.insertRun(command("now", ["make", "clean"]), orIgnore: false)])
        try await serving(ledger) { board in
            await board.enter(task, attempt: 1, state: .running, saved: nil, at: clock.now)
            let start = try #require(await board.state(of: "now"))
            clock.advance(to: await clock.nextSleeper())
            #expect(try await learned(on: board, after: start).usual == .seconds(10))
        }
        await ledger.close()
    }

    @Test func `learns within a second when it will be done, and also after a restart`() async throws {
        let ledger = try await ledger((1...20).map { 100 + $0 })
        var saved: LiveState?
        for incarnation in [Int64(1), 2] {
            try await serving(ledger, incarnation: incarnation) { board in
                await board.enter(task, attempt: 1, state: .running, saved: saved, at: clock.now)
                let start = try #require(await board.state(of: "now"))
                let due = await clock.nextSleeper()
                #expect(due - clock.now < .seconds(1))
                clock.advance(to: due)
                let live = try await learned(on: board, after: start)
                let finish = try #require(live.finish)
                let startedAt = try #require(live.startedAt)
                #expect((100...120).contains((finish.at - startedAt).components.seconds))
                #expect(finish.claim(at: clock.now)?.words == "about 2 min left")
                #expect(live.usual == .milliseconds(110_500))
                saved = live
                saved?.finish = nil
            }
        }
        await ledger.close()
    }

    @Test func `learns nothing from two runs`() async throws {
        let ledger = try await ledger([100, 101])
        try await serving(ledger) { board in
            await board.enter(task, attempt: 1, state: .running, saved: nil, at: clock.now)
            let start = try #require(await board.state(of: "now"))
            clock.advance(to: await clock.nextSleeper())
            let live = try await learned(on: board, after: start)
            #expect(live.finish == nil && live.usual == nil)
        }
        await ledger.close()
    }

    @Test func `moves its finish when it outlasts past runs, though the job says nothing`() async throws {
        let ledger = try await ledger([100, 200, 300, 400, 500])
        try await serving(ledger) { board in
            await board.enter(task, attempt: 1, state: .running, saved: nil, at: clock.now)
            let start = try #require(await board.state(of: "now"))
            clock.advance(to: await clock.nextSleeper())
            let live = try await learned(on: board, after: start)
            #expect(live.finish?.at == at("10:05:00"))
            // The board names the moment at which the estimate must be made again.
            var next = try #require(await board.nextRefresh())
            #expect(next == at("10:01:40"))
            while let moment = await board.nextRefresh() {
                next = moment
                clock.advance(to: moment)
                _ = await board.refresh(at: clock.now)
            }
            #expect(next == at("10:08:20"))
            #expect(await board.state(of: "now")?.finish == nil)
            #expect(await board.state(of: "now")?.usual == .seconds(300))
        }
        await ledger.close()
    }

    @Test func `is asked for by its job once it has lasted a moment; one that is over at once never is`()
        async throws
    {
        let ledger = try await ledger([])
        let board = LiveBoard(ledger: ledger, clock: clock, incarnation: 1, logger: quiet)
        for number in 1...100 {
            let id = "r\(number)"
            let task = LiveTask(id: id, botID: "ops", run: "backup#\(number)", name: "backup", botName: "ops")
            await board.enter(task, attempt: 1, state: .running, saved: nil, at: clock.now)
            if number > 2 { await board.end(id, .completed, reason: nil, at: clock.now) }
        }
        #expect(await board.learners().due.isEmpty)
        #expect(await board.learners().next == clock.sinceBoot + LiveBoard.learningDelay)
        clock.advance(by: LiveBoard.learningDelay)
        #expect(await board.learners().due.mapValues(Set.init) == ["backup": ["r1", "r2"]])
        await board.teach(FinishEstimator(), to: ["r1", "r2"])
        let rest = await board.learners()
        #expect(rest.due.isEmpty && rest.next == nil)
        await ledger.close()
    }

    @Test func `of an earlier daemon that saved nothing began when its row says so`() async throws {
        let ledger = try await ledger([100, 200, 300])
        try await serving(ledger) { board in
            await board.enter(
                task, attempt: 1, state: .running, saved: nil, startedAt: at("09:59:10"), at: clock.now)
            let start = try #require(await board.state(of: "now"))
            #expect(start.startedAt == at("09:59:10"))
            clock.advance(to: await clock.nextSleeper())
            #expect(try await learned(on: board, after: start).finish?.at == at("10:02:30"))
        }
        await ledger.close()
    }

    @Test func `leaves behind how it got on, when it completes`() async throws {
        try await RunScene.run { scene in
            let steps = (1...8).map { "echo '{\"progress\":0.\($0)}' >&$PROGRESS_FD" }.joined(separator: "\n")
            var run = try await scene.queue(.manual("steps", steps + "\nexit 1"))
            _ = try await scene.end(of: run)
            #expect(try await scene.ledger.profiles(of: "steps", limit: 20).isEmpty)
            run = try await scene.queue(.manual("steps", steps))
            let ended = try await scene.end(of: run)
            let profiles = try await scene.ledger.profiles(of: "steps", limit: 20)
            let took = try #require(ended.endedAt) - (try #require(ended.startedAt))
            #expect(profiles.map(\.reportsProgress) == [true])
            #expect(abs((profiles.first?.total ?? 0) - took / .seconds(1)) < 1)
        }
    }
}
