import Glibc
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite(.timeLimit(.minutes(5))) struct `a warden that does not answer` {
    @Test func `is reported, nothing is ordered from it meanwhile, and it continues when it answers`()
        async throws
    {
        try await RunScene.run { scene in
            try await scene.settled()
            let warden = try #require(await scene.keeper.wardenProcess)
            kill(warden, SIGSTOP)
            defer { kill(warden, SIGCONT) }
            // The wait for the run before ended at another moment: its sleep is reported, too.
            scene.clock.advance(by: .seconds(1))
            let first = try await scene.queue("true")
            try await scene.run(first) { $0.state == .starting }
            let deadline = scene.clock.now + AnswerWatch.silenceLimit
            while await scene.clock.nextSleeper() != deadline {}
            #expect(await !scene.keeper.isWardenSilent)
            scene.clock.advance(to: deadline)
            #expect(await scene.keeper.isWardenSilent)
            #expect(await scene.keeper.wardenProcess == warden)
            let second = try await scene.queue("true")
            while await scene.keeper.wait(of: second.id)?.kind != .warden { try Task.checkCancellation() }
            #expect(try await scene.ledger.run(id: second.id)?.state == .queued)
            kill(warden, SIGCONT)
            #expect(try await scene.end(of: first).state == .completed)
            #expect(try await scene.end(of: second).state == .completed)
            #expect(await !scene.keeper.isWardenSilent)
        }
    }
}

@Suite struct `waiting for an answer` {
    @Test func `begins when one is unrecorded, and again with every word`() {
        var watch = AnswerWatch()
        watch.note(isOwed: false, hasSpoken: false, at: .seconds(1))
        #expect(watch.deadline == nil && !watch.isOverdue(at: .seconds(100)))
        watch.note(isOwed: true, hasSpoken: false, at: .seconds(5))
        watch.note(isOwed: true, hasSpoken: false, at: .seconds(9))
        #expect(!watch.isOverdue(at: .seconds(14)) && watch.isOverdue(at: .seconds(15)))
        watch.note(isOwed: true, hasSpoken: true, at: .seconds(16))
        #expect(watch.deadline == .seconds(26))
        watch.note(isOwed: false, hasSpoken: true, at: .seconds(20))
        #expect(!watch.isOverdue(at: .seconds(100)))
    }
}
