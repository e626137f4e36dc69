import Delivery
import Engine
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a run whose owner was replaced` {
    @Test func `is not moved by what the first one knew; its outcome is read again and reported once`()
        async throws
    {
        try await RunScene.run { scene in
            try scene.makePipe("go")
            let run = try await scene.queue("read line < ../go; exit 4")
            let running = try await scene.run(run) { $0.state == .running }
            var adoption = RunMove(running, from: [.running], to: .running)
            adoption.nextToken = running.token + 1
            try await scene.ledger.commit([.moveRun(adoption)])
            try await scene.write("go")
            let ended = try await scene.end(of: run)
            // The keeper's first word was refused: it has read the row and become its owner once more.
            #expect(ended.state == .failed && ended.exitCode == 4 && ended.token == running.token + 2)
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runFailed])
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `the word that a run is to end` {
    @Test(arguments: [RunReason.canceled, .replaced])
    func `outlives the daemon that was asked`(why: RunReason) async throws {
        let home = try WardenHome()
        var reported: RunRecord?
        try await RunScene.run(in: home) { scene in
            let run = try await scene.queue("exec sleep 1000")
            try await scene.run(run) { $0.state == .running }
            // As a daemon leaves it that is killed between the commit and its word to the warden.
            try await scene.ledger.commit([.askEnd(run: run.id, why)])
            reported = run
        }
        let run = try #require(reported)
        try await RunScene.run(in: home, incarnation: 2) { scene in
            let ended = try await scene.end(of: run)
            #expect(ended.state == .canceled && ended.reason == why)
            #expect(try await scene.events(of: run).last?.reason == why.rawValue)
        }
    }

    @Test func `arrives while it runs, when another daemon was asked`() async throws {
        try await RunScene.run { scene in
            let run = try await scene.queue("exec sleep 1000")
            try await scene.run(run) { $0.state == .running }
            try await scene.ledger.commit([.askEnd(run: run.id, .replaced)])
            scene.notes.add(changed: [run.id])
            let ended = try await scene.end(of: run)
            #expect(ended.state == .canceled && ended.reason == .replaced)
        }
    }

    @Test func `ends a run that waits before it starts`() async throws {
        let home = try WardenHome()
        var reported: RunRecord?
        try await RunScene.run(in: home, limits: RunLimits(running: 0)) { scene in
            let run = try await scene.queue("touch ../started")
            try await scene.ledger.commit([.askEnd(run: run.id, .replaced)])
            reported = run
        }
        let run = try #require(reported)
        try await RunScene.run(in: home, incarnation: 2) { scene in
            let ended = try await scene.end(of: run)
            #expect(ended.state == .canceled && ended.reason == .replaced && ended.startedAt == nil)
        }
    }

    @Test func `is no reason to end one that was done before it arrived`() async throws {
        try await RunScene.run { scene in
            let run = try await scene.end(of: scene.queue("true"))
            try await scene.ledger.commit([.askEnd(run: run.id, .replaced)])
            scene.notes.add(changed: [run.id])
            try await scene.settled()
            #expect(try await scene.ledger.run(id: run.id)?.state == .completed)
        }
    }
}

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
