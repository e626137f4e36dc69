import Delivery
import Engine
import Ledger
import LedgerSQLite
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a run that is cancelled` {
    @Test func `while it waits never starts`() async throws {
        try await RunScene.run(limits: RunLimits(running: 0)) { scene in
            let run = try await scene.queue("touch ../started")
            try await scene.keeper.cancel(run.id)
            let ended = try await scene.end(of: run)
            #expect(ended.state == .canceled && ended.reason == .canceled && ended.startedAt == nil)
            #expect(try await scene.eventTypes(of: run) == [.runCanceled])
            #expect(!scene.census.isBusy(run.job))
        }
    }

    @Test func `while it works is ended`() async throws {
        try await RunScene.run { scene in
            let run = try await scene.queue("exec sleep 1000")
            try await scene.run(run) { $0.state == .running }
            try await scene.keeper.cancel(run.id)
            let ended = try await scene.end(of: run)
            #expect(ended.state == .canceled && ended.reason == .canceled)
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runCanceled])
        }
    }

    @Test func `at any moment of its start ends as cancelled, once`() async throws {
        try await RunScene.run { scene in
            for round in 0..<30 {
                let run = try await scene.queue("exec sleep 1000")
                // A few turns of the loop later each time, so that every step of the start is met.
                for _ in 0..<round { await Task.yield() }
                try await scene.keeper.cancel(run.id)
                let ended = try await scene.end(of: run)
                #expect(ended.state == .canceled, "round \(round)")
                let types = try await scene.eventTypes(of: run)
                #expect(types.count { $0 == .runCanceled } == 1 && types.count { $0 == .runStarted } <= 1)
            }
            try await scene.settled()
        }
    }

    @Test func `but has ended stays as it is`() async throws {
        try await RunScene.run { scene in
            let run = try await scene.end(of: scene.queue("true"))
            try await scene.settled()
            try await scene.keeper.cancel(run.id)
            #expect(try await scene.ledger.run(id: run.id)?.state == .completed)
            await #expect(throws: EngineError.noSuchRun("ghost")) { try await scene.keeper.cancel("ghost") }
        }
    }
}
