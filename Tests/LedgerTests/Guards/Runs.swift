import Delivery
import Ledger
import Testing
import Timeline
import Tracking

@Suite struct `a run in the ledger` {
    @Test(arguments: LedgerBackend.available)
    func `is read as it was inserted`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let run = RunRecord.full
            let commit = try await ledger.commit([.insertRun(run, orIgnore: false)])
            var stored = run
            stored.ordinal = 1
            #expect(commit.ordinals == [run.id: 1])
            #expect(try await ledger.run(id: run.id) == stored)
            #expect(try await ledger.run(job: run.job, ordinal: 1) == stored)
            #expect(try await ledger.run(job: run.job, cause: run.cause) == stored)
            #expect(try await ledger.run(job: run.job, ordinal: 2) == nil)
            #expect(try await ledger.run(job: run.job, cause: "key:other") == nil)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `comes into being once for each cause`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([.run("r1", slot: 60)])
            await expectFenced(ledger, [.run("r2", slot: 60)])
            let again = RunRecord.sample("r3", slot: 60)
            let commit = try await ledger.commit([.insertRun(again, orIgnore: true)])
            #expect(commit.ordinals.isEmpty)
            #expect(try await ledger.run(id: "r3") == nil)
            #expect(try await ledger.commit([.run("r4", slot: 120)]).ordinals == ["r4": 2])
            #expect(try await ledger.commit([.run("r5", job: "other", slot: 60)]).ordinals == ["r5": 1])
            await expectFenced(ledger, [.run("r1", slot: 180)])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `keeps counting after the job was removed and came back`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([
                .putJob(.sample("backup"), replacing: nil), .run("r1", slot: 60), .run("r2", slot: 120),
                .move("r1", from: [.queued], to: .canceled), .move("r2", from: [.queued], to: .canceled),
                .removeJob(name: "backup", revision: 1),
            ])
            let commit = try await ledger.commit([
                .putJob(.sample("backup", revision: 2), replacing: nil), .run("r3", slot: 180),
            ])
            #expect(commit.ordinals == ["r3": 3])
            #expect(try await ledger.run(job: "backup", ordinal: 2)?.id == "r2")
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `moves only from a named state, at the named attempt`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            await expectFenced(ledger, [.move("r1", from: [.queued], to: .starting)])
            try await ledger.commit([.run("r1")])
            await expectFenced(ledger, [.move("r1", from: [.running, .starting], to: .completed)])
            await expectFenced(
                ledger, [.moveRun(RunMove(run: "r1", from: [.queued], attempt: 2, to: .starting))])
            await expectFenced(ledger, [.move("r1", from: [], to: .starting)])
            try await ledger.commit([.move("r1", from: [.scheduled, .queued], to: .starting)])
            await expectFenced(ledger, [.move("r1", from: [.queued], to: .starting)])
            #expect(try await ledger.run(id: "r1")?.state == .starting)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `moves only by its owner's word`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            var claim = RunMove(run: "r1", from: [.queued], attempt: 1, to: .starting)
            claim.nextToken = 1
            try await ledger.commit([.run("r1"), .moveRun(claim)])
            // Another owner takes it up; what the first one still says comes too late.
            let first = try #require(try await ledger.run(id: "r1"))
            var adoption = RunMove(first, from: [.starting], to: .starting)
            adoption.nextToken = 2
            try await ledger.commit([.moveRun(adoption)])
            await expectFenced(ledger, [.moveRun(RunMove(first, from: [.starting], to: .completed))])
            let second = try #require(try await ledger.run(id: "r1"))
            #expect(second.token == 2 && second.state == .starting)
            try await ledger.commit([.moveRun(RunMove(second, from: [.starting], to: .completed))])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `that was canceled is not started, and ends as canceled`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([
                .run("r1"), .askEnd(run: "r1", .replaced), .askEnd(run: "r1", .canceled),
                .askEnd(run: "none", .canceled),
            ])
            await expectFenced(ledger, [.move("r1", from: [.queued], to: .starting)])
            #expect(try await ledger.run(id: "r1")?.endAsked == .replaced)
            try await ledger.commit([
                .move("r1", from: [.queued], to: .canceled), .run("r2", slot: 60),
                .move("r2", from: [.queued], to: .completed), .askEnd(run: "r2", .canceled),
            ])
            #expect(try await ledger.run(id: "r2")?.endAsked == nil)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is passed over only while it waits and was never started`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            func skip(_ id: String) -> Change {
                .passOver(run: id, skipped(id, at: at(9)))
            }
            var again = RunMove(run: "r3", from: [.starting], attempt: 1, to: .queued)
            again.nextAttempt = 2
            try await ledger.commit([
                .run("r1"), .run("r2", slot: 60), .run("r3", slot: 120),
                .move("r2", from: [.queued], to: .starting), .move("r3", from: [.queued], to: .starting),
                .moveRun(again),
            ])
            var spread = RunRecord(
                id: "r4", job: "backup", bot: "ops", kind: .manual, cause: "key:4", queuedAt: at(0),
                revision: 1)
            spread.state = .scheduled
            try await ledger.commit([.insertRun(spread, orIgnore: false)])
            let commit = try await ledger.commit(["r1", "r2", "r3", "r4", "none"].map(skip))
            #expect(commit.passedOver == ["r1", "r4"] && commit.lastEvent == 2)
            let states = try await ledger.runs(ids: ["r3", "r2", "r1"]).map(\.state)
            #expect(states == [.skipped, .starting, .queued])
            let run = try #require(try await ledger.run(id: "r1"))
            #expect(run.reason == .superseded && run.endedAt == at(9))
            #expect(try await ledger.commit([skip("r1")]).passedOver.isEmpty)
        }
    }

    @Test(arguments: RunState.allCases)
    func `reaches every state and is found by it`(_ state: RunState) async throws {
        for backend in LedgerBackend.available {
            try await backend.withNew { ledger in
                try await ledger.commit([
                    .run("r1"), .run("r2", slot: 60),
                    .move("r1", from: Set(RunState.allCases), to: state),
                    .move("r2", from: Set(RunState.allCases), to: state),
                ])
                #expect(try await ledger.runs(RunFilter(states: [state])).map(\.id) == ["r2", "r1"])
                let others = Set(RunState.allCases).subtracting([state])
                #expect(try await ledger.runs(RunFilter(states: others)).isEmpty)
                #expect(try await ledger.activeRuns().isEmpty == state.isEnded)
                let stored = try await ledger.run(job: "backup", ordinal: 2)
                #expect(stored?.id == "r2")
                #expect(stored?.state == state)
                guard state.isEnded else { return }
                await expectFenced(ledger, [.move("r1", from: Set(RunState.allCases), to: .queued)])
            }
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `keeps what a move does not name, and clears what belongs to the state`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            var expected = RunRecord.full
            try await ledger.commit([.insertRun(expected, orIgnore: false)])
            expected.ordinal = 1
            var retry = RunMove(expected, from: [expected.state], to: .queued, reason: .retryWait)
            retry.nextAttempt = 3
            retry.notBefore = at(500)
            try await ledger.commit([.moveRun(retry)])
            (expected.state, expected.reason) = (.queued, .retryWait)
            (expected.attempt, expected.notBefore) = (3, at(500))
            #expect(try await ledger.run(id: expected.id) == expected)
            let mark = ProcessMark(pid: 4, startTime: 5, boot: "other")
            var start = RunMove(expected, from: [.queued], to: .running)
            start.nextToken = 8
            start.startedAt = at(501)
            start.endedAt = at(502)
            (start.exitCode, start.signal) = (7, 9)
            start.queueDelay = .milliseconds(3)
            (start.outputBytes, start.maxRssKb) = (11, 12)
            start.cpu = .milliseconds(13)
            start.process = mark
            start.survivors = [LeftProcess(pid: 14, name: "tail")]
            try await ledger.commit([.moveRun(start)])
            (expected.state, expected.reason, expected.notBefore) = (.running, nil, nil)
            expected.token = 8
            (expected.startedAt, expected.endedAt) = (at(501), at(502))
            (expected.exitCode, expected.signal) = (7, 9)
            expected.queueDelay = .milliseconds(3)
            (expected.outputBytes, expected.maxRssKb) = (11, 12)
            expected.cpu = .milliseconds(13)
            expected.process = mark
            expected.survivors = [LeftProcess(pid: 14, name: "tail")]
            #expect(try await ledger.run(id: expected.id) == expected)
        }
    }
}

extension RunRecord {
    /// A run with every field set.
    fileprivate static var full: RunRecord {
        var run = RunRecord(
            id: "0199", job: "backup", bot: "ops", kind: .exec, cause: RunCause.exec("1"), slot: at(1),
            era: 2, state: .stalled, queuedAt: at(2), revision: 3)
        run.reason = .exitCode
        run.attempt = 2
        run.retryOf = "0198"
        run.token = 7
        run.isForced = true
        run.endAsked = .replaced
        run.notBefore = at(3)
        run.startedAt = at(4)
        run.endedAt = at(5)
        run.exitCode = -1
        run.signal = 15
        run.lateness = .microseconds(6)
        run.queueDelay = .microseconds(-7)
        run.outputBytes = 1 << 40
        run.cpu = .seconds(8)
        run.maxRssKb = 9
        run.survivors = [LeftProcess(pid: 12, name: "a b"), LeftProcess(pid: 13, name: "ö\"")]
        run.process = ProcessMark(pid: 10, startTime: .max, boot: "a-b")
        run.spec = .sample("backup")
        run.live = .sample(run.id, attempt: 2, seq: 11)
        return run
    }
}

/// A run gave way to a newer one.
private func skipped(_ run: String, at moment: Moment) -> NewEvent {
    let end = Fact.End(Fact.Run(job: "backup", id: run, bot: "ops"), reason: .superseded)
    return NewEvent(.runSkipped(end), at: moment)
}
