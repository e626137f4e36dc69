import Delivery
import Engine
import Ledger
import LedgerSQLite
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `many runs` {
    @Test func `are all started and ended once`() async throws {
        try await RunScene.run { scene in
            var runs: [RunRecord] = []
            for _ in 0..<200 { runs.append(try await scene.queue("true")) }
            for run in runs { #expect(try await scene.end(of: run).state == .completed) }
            let events = try await scene.ledger.events(after: 0, limit: .max).map(\.event)
            #expect(events.count { $0.type == .runStarted } == 200)
            #expect(events.count { $0.type == .runCompleted } == 200)
            try await scene.settled()
            for run in runs { #expect(!scene.census.isBusy(run.job)) }
        }
    }

    @Test func `never continue beyond the cap, and wait in order`() async throws {
        try await RunScene.run(limits: RunLimits(running: 2)) { scene in
            // Each notes how many are at work beside it.
            let command =
                "mkdir $BELFRY_RUN_ID; ls | wc -l >> ../counts; echo $BELFRY_JOB >> ../order; rmdir $BELFRY_RUN_ID"
            var runs: [RunRecord] = []
            for number in 0..<12 { runs.append(try await scene.queue(.manual("n\(number)", command))) }
            for run in runs { #expect(try await scene.end(of: run).state == .completed) }
            let lines = try scene.lines(of: "counts").compactMap { Int($0) }
            #expect(lines.count == 12 && lines.allSatisfy { $0 <= 2 })
            let starts = try await scene.ledger.events(after: 0, limit: .max).map(\.event)
                .filter { $0.type == .runStarted }.compactMap(\.fact.columns.run)
            #expect(Set(starts.prefix(2)) == Set(runs.prefix(2).map(\.id)))
            #expect(starts.count == 12)
        }
    }
}
