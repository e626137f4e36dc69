import Curl
import Delivery
import Ledger
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite(.timeLimit(.minutes(5))) struct `the progress of a run` {
    private let task = LiveTask(id: "r1", botID: "ops", run: "backup#1", name: "backup", botName: "ops")

    /// Looks on while a run reports at 1 s and at 17 s, and ends.
    private func whileReporting(
        _ word: RouteWord, _ body: (Tower, ProgressKeeper) async throws -> Void
    ) async throws {
        let hook = try makeHook("hook", curl: try CurlMulti())
        try await Tower.run(channels: [hook], routes: [Route(when: [word], to: ["hook"])]) { tower in
            let now = tower.clock.now
            var run = RunRecord(
                id: "r1", job: "backup", bot: "ops", kind: .manual, cause: "key:1", state: .running,
                queuedAt: now, revision: 1)
            run.startedAt = now
            try await tower.ledger.commit([.insertRun(run, orIgnore: false)])
            await tower.board.enter(task, attempt: 1, state: .running, saved: nil, at: now)
            let keeper = ProgressKeeper(
                ledger: tower.ledger, clock: tower.clock, board: tower.board,
                activeConfiguration: tower.activeConfiguration, logger: quiet)
            _ = try await keeper.serve()
            for (seconds, fraction) in [(1, 0.1), (16, 0.4)] {
                tower.clock.advance(by: .seconds(seconds))
                _ = await tower.board.receive(
                    ProgressReport(fraction: fraction), of: "r1", at: tower.clock.now)
                _ = try await keeper.serve()
            }
            try await body(tower, keeper)
        }
    }

    @Test func `is sent to a program that a route names for it, the newest every 15 s`() async throws {
        try await whileReporting(.progress) { tower, keeper in
            try await tower.settled()
            let entries = try await tower.entries(of: "hook")
            #expect(entries.map(\.type) == ["run.progress"])
            let live = JSON(parsing: try #require(entries.first).body[...])?["data"]?["run"]?["live"]
            #expect(live?["progress"]?.double == 0.4)
            // What has ended is an event of its own.
            await tower.board.end("r1", .completed, reason: nil, at: tower.clock.now)
            tower.clock.advance(by: .seconds(60))
            _ = try await keeper.serve()
            let types = try await tower.eventTypes()
            #expect(types == [.runProgress])
        }
    }

    @Test func `is no event where no route leads it to a program`() async throws {
        try await whileReporting(.failed) { tower, _ in
            let types = try await tower.eventTypes()
            #expect(types.isEmpty)
        }
    }
}
