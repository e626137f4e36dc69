import Ledger
import Testing
import Timeline
import Tracking

@Suite struct `the runs of the ledger` {
    @Test(arguments: LedgerBackend.available)
    func `are listed newest first, by job, state, time and number`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([
                .run("a1", job: "a", slot: 10), .run("b1", job: "b", slot: 20),
                .run("a2", job: "a", slot: 30),
                .run("a3", job: "a", slot: 40), .move("a1", from: [.queued], to: .completed),
                .move("a3", from: [.queued], to: .failed),
            ])
            func ids(_ filter: RunFilter) async throws -> [String] { try await ledger.runs(filter).map(\.id) }
            #expect(try await ids(RunFilter()) == ["a3", "a2", "b1", "a1"])
            #expect(try await ids(RunFilter(limit: 2)) == ["a3", "a2"])
            #expect(try await ids(RunFilter(job: "a")) == ["a3", "a2", "a1"])
            #expect(try await ids(RunFilter(job: "a", limit: 2)) == ["a3", "a2"])
            #expect(try await ids(RunFilter(job: "a", states: [.queued, .failed])) == ["a3", "a2"])
            #expect(try await ids(RunFilter(states: [.queued, .completed])) == ["a2", "b1", "a1"])
            #expect(try await ids(RunFilter(since: at(20), limit: 9)) == ["a3", "a2", "b1"])
            #expect(try await ids(RunFilter(job: "b", since: at(21))).isEmpty)
            #expect(try await ids(RunFilter(job: "c")).isEmpty)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `that have not ended come in the order they were queued`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([
                .run("a1", job: "a", slot: 10), .run("b1", job: "b", slot: 20),
                .run("a2", job: "a", slot: 30),
                .run("c1", job: "c", slot: 30), .move("a1", from: [.queued], to: .running),
                .move("b1", from: [.queued], to: .canceled),
            ])
            #expect(try await ledger.activeRuns().map(\.id) == ["a1", "a2", "c1"])
            #expect(try await ledger.runs(ids: ["c1", "b1", "x", "a1"]).map(\.id) == ["a1", "b1", "c1"])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `show how the last successes of a job got on, until they are removed`(
        _ backend: LedgerBackend
    ) async throws {
        func move(_ id: String, to state: RunState, _ seconds: Double, _ profile: RunProfile? = nil) -> Change
        {
            var move = RunMove(run: id, from: [.queued], attempt: 1, to: state)
            (move.startedAt, move.endedAt) = (at(100), at(100 + seconds))
            move.profile = profile
            return .moveRun(move)
        }
        var trace = RunTrace()
        for step in 1...64 { trace.note(Double(step) / 64, at: Double(step)) }
        let traced = try #require(RunProfile(trace, total: 64))
        try await backend.withNew { ledger in
            #expect(try await ledger.profiles(of: "a", limit: 20).isEmpty)
            for slot in 1...5 { try await ledger.commit([.run("a\(slot)", job: "a", slot: Double(slot))]) }
            try await ledger.commit([
                .run("b1", job: "b", slot: 1), move("b1", to: .completed, 9),
                move("a1", to: .completed, 300, traced), move("a2", to: .failed, 1),
                // Of a run without a profile the row shows the time.
                move("a3", to: .completed, 30), move("a5", to: .completed, 50, RunProfile(total: 49)),
            ])
            let profiles = try await ledger.profiles(of: "a", limit: 20)
            #expect(profiles.map(\.total) == [64, 30, 49])
            #expect(profiles.map(\.reportsProgress) == [true, false, false])
            #expect(try await ledger.profiles(of: "a", limit: 2).map(\.total) == [30, 49])
            try await ledger.commit([.removeRun(id: "a3")])
            #expect(try await ledger.profiles(of: "a", limit: 2).map(\.total) == [64, 49])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `include the newest of each job, whether it ended or not`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            #expect(try await ledger.lastRuns(of: ["a"]).isEmpty)
            try await ledger.commit([
                .run("a1", job: "a", slot: 10), .run("a2", job: "a", slot: 20),
                .run("b1", job: "b", slot: 10),
                .run("c1", job: "c", slot: 10), .run("c2", job: "c", slot: 20),
                .move("a2", from: [.queued], to: .completed), .move("b1", from: [.queued], to: .lost),
                .move("c1", from: [.queued], to: .completed),
            ])
            #expect(
                try await ledger.lastRuns(of: ["b", "c", "none", "a"]).map(\.id).sorted() == [
                    "a2", "b1", "c2",
                ])
        }
    }
}

@Suite struct `an attempt in the ledger` {
    @Test(arguments: LedgerBackend.available)
    func `is inserted, then replaced, and belongs to a run`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            var first = AttemptRecord(run: "r1", n: 1, state: .running)
            await expectFenced(ledger, [.putAttempt(first)])
            first.startedAt = at(1)
            var second = AttemptRecord(run: "r1", n: 2, state: .starting)
            try await ledger.commit([.run("r1"), .putAttempt(second), .putAttempt(first)])
            #expect(try await ledger.attempts(of: "r1") == [first, second])
            (second.state, second.reason) = (.failed, .exitCode)
            (second.startedAt, second.endedAt) = (at(2), at(3))
            (second.exitCode, second.signal, second.outputBytes) = (3, 4, 5)
            try await ledger.commit([.putAttempt(second)])
            #expect(try await ledger.attempts(of: "r1") == [first, second])
            #expect(try await ledger.attempts(of: "r2").isEmpty)
        }
    }
}

@Suite struct `a saved live state` {
    @Test(arguments: LedgerBackend.available)
    func `gives way only to one that is not older`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let order: [(attempt: Int, seq: Int64, isKept: Bool)] = [
                (1, 5, true), (1, 4, false), (1, 5, true), (1, 6, true), (2, 1, true), (1, 9, false),
            ]
            try await ledger.commit([.run("r1")])
            var kept: LiveState?
            for (number, step) in order.enumerated() {
                var live = LiveState.sample("r1", attempt: step.attempt, seq: step.seq)
                live.message = "step \(number)"
                try await ledger.commit([.saveLive(run: "r1", live), .saveLive(run: "none", live)])
                if step.isKept { kept = live }
                #expect(try await ledger.run(id: "r1")?.live == kept)
            }
        }
    }
}

extension LiveState {
    /// A live state with every field set.
    static func sample(_ run: String, attempt: Int, seq: Int64) -> LiveState {
        let task = LiveTask(id: run, botID: "ops", run: "backup#1", name: "backup", botName: "Ops")
        var live = LiveState(
            task: task, attempt: attempt, seq: seq, state: .blocked, reason: .lane, updatedAt: at(6))
        live.blockedKind = .question
        live.progress = 0.1 + 0.2
        live.phase = "verify"
        live.message = "3 of 10 \u{1F514}"
        live.startedAt = at(1)
        live.finish = FinishTime(at: at(9), low: at(8), high: at(10))
        live.staleAt = at(7)
        return live
    }
}
