import Delivery
import Engine
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a job that catches up` {
    private func hourly(_ mode: CatchUpPolicy.Mode, within: Duration = .seconds(86_400), burst: Int = 1000)
        -> JobSpec
    {
        JobSpec.cron("job", "0 * * * *").with {
            $0.catchUp = CatchUpPolicy(mode: mode, within: within, burst: burst)
        }
    }

    /// What a stop from 00:30 to 12:30 leaves behind.
    private func afterStop(_ spec: JobSpec, _ body: (SlotScene) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        try await SlotScene.run(in: folder, at: at("00:30:00")) { try await $0.put(spec) }
        try await SlotScene.run(in: folder, at: at("12:30:00")) { scene in
            try await scene.settled()
            try await body(scene)
        }
    }

    @Test func `all runs every slot, the oldest first`() async throws {
        try await afterStop(hourly(.all)) { scene in
            let hours = (1...12).map { at("00:00:00") + .seconds(3600 * $0) }
            #expect(try await scene.slots(of: "job") == hours)
            #expect(try await scene.spans(of: "job").isEmpty)
            let runs = try await scene.ledger.runs(RunFilter(job: "job"))
            #expect(
                runs.allSatisfy {
                    $0.state == .queued && $0.lateness == at("12:30:00") - ($0.slot ?? $0.queuedAt)
                })
        }
    }

    @Test func `all at once runs the newest of a burst, and the others are missed`() async throws {
        try await afterStop(hourly(.all, burst: 4)) { scene in
            #expect(try await scene.slots(of: "job").first == at("09:00:00"))
            #expect(try await scene.spans(of: "job") == ["missed catchUpBurst 01:00:00-08:00:00 x8"])
            let reported = try await scene.ledger.events(after: 0, limit: 9).map(\.event)
            #expect(reported.map(\.type) == [.runMissed] && reported.first?.reason == "catchUpBurst")
        }
    }

    @Test func `within a window misses what is older`() async throws {
        try await afterStop(hourly(.all, within: .seconds(3 * 3600), burst: 2)) { scene in
            let (slots, spans) = (try await scene.slots(of: "job"), try await scene.spans(of: "job"))
            #expect(slots == [at("11:00:00"), at("12:00:00")])
            let burst = "missed catchUpBurst 10:00:00-10:00:00 x1"
            #expect(spans == ["missed catchUpWindow 01:00:00-09:00:00 x9", burst])
        }
        try await afterStop(hourly(.latest, within: .seconds(3 * 3600))) { scene in
            let (slots, spans) = (try await scene.slots(of: "job"), try await scene.spans(of: "job"))
            #expect(slots == [at("12:00:00")])
            let older = "skipped superseded 10:00:00-11:00:00 x2"
            #expect(spans == ["missed catchUpWindow 01:00:00-09:00:00 x9", older])
        }
    }

    @Test func `has nothing to catch up while it is still at it`() async throws {
        let folder = try TemporaryFolder()
        try await SlotScene.run(in: folder, at: at("00:59:00")) { scene in
            try await scene.put(hourly(.all))
            scene.clock.advance(to: at("01:00:00"))
            try await scene.settled()
        }
        try await SlotScene.run(in: folder, at: at("03:30:00")) { scene in
            try await scene.settled()
            #expect(try await scene.slots(of: "job") == [at("01:00:00")])
            #expect(try await scene.spans(of: "job") == ["skipped overlap 02:00:00-03:00:00 x2"])
        }
    }

    /// A stop from 01:00, with the run of that slot under way, to 03:30; `body` decides the end of the run.
    private func afterStopAtWork(
        _ body: (SlotScene, AsyncStream<Never>.Continuation) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        try await SlotScene.run(in: folder, at: at("00:59:00")) { scene in
            try await scene.put(hourly(.latest))
            scene.clock.advance(to: at("01:00:00"))
            try await scene.settled()
        }
        let (news, newsEnd) = AsyncStream<Never>.makeStream()
        try await SlotScene.run(in: folder, at: at("03:30:00"), news: news) { scene in
            try await body(scene, newsEnd)
            try await scene.settled()
        }
    }

    @Test func `waits for the news of what ended meanwhile, which is not at work any more`() async throws {
        try await afterStopAtWork { scene, newsEnd in
            // The keeper waits for the news, and no longer than this.
            #expect(await scene.clock.nextSleeper() == at("03:30:00") + SlotKeeper.newsLimit)
            try await scene.endNewest("job")
            newsEnd.finish()
            try await scene.settled()
            #expect(try await scene.slots(of: "job") == [at("01:00:00"), at("03:00:00")])
            #expect(try await scene.spans(of: "job") == ["skipped superseded 02:00:00-02:00:00 x1"])
        }
    }

    @Test func `decides without news when there is none`() async throws {
        try await afterStopAtWork { scene, _ in
            let limit = await scene.clock.nextSleeper()
            scene.clock.advance(to: limit)
            try await scene.settled()
            #expect(
                try await scene.spans(of: "job") == [
                    "skipped superseded 02:00:00-02:00:00 x1", "skipped overlap 03:00:00-03:00:00 x1",
                ])
        }
    }

    @Test func `shows in one row why it did not run at a time`() async throws {
        try await afterStop(hourly(.none)) { scene in
            let spans = try await scene.ledger.spans(of: "job", limit: .max)
            let covering = spans.filter { $0.first <= at("03:00:00") && at("03:00:00") <= $0.last }
            #expect(covering.map(\.reason) == [.catchUpNone])
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a month off` {
    static let minutes = 30 * 24 * 60

    @Test func `with a million slots is decided in bounded transactions, each slot once`() async throws {
        let folder = try TemporaryFolder()
        let (start, end) = (at("00:00:00"), at("00:00:00") + .seconds(60 * Self.minutes + 30))
        let modes: [CatchUpPolicy] = [
            .standard, CatchUpPolicy(mode: .none, within: .seconds(60)),
            CatchUpPolicy(mode: .all, within: .seconds(90 * 86_400), burst: 1000),
        ]
        try await SlotScene.run(in: folder, at: start) { scene in
            for number in 0..<24 {
                try await scene.put(
                    .cron("job-\(number)", "* * * * *").with { $0.catchUp = modes[number % 3] })
            }
        }
        try await SlotScene.run(in: folder, at: end) { scene in
            let before = scene.ledger.transactions
            try await scene.settled()
            #expect(scene.ledger.transactions - before <= 3)
            let runs = try await scene.ledger.runs(RunFilter())
            let spans = try await scene.ledger.spans(of: nil, limit: .max)
            // Late is not never: the slot of the last half minute runs whatever the policy.
            let all = 8 * 1001
            let passed = spans.reduce(0) { $0 + $1.count }
            #expect(runs.count == all + 16)
            #expect(runs.count + passed == 24 * Self.minutes)
            #expect(spans.count <= 48)
            #expect(try await scene.ledger.watermark()?.decidedUntil == end)
        }
    }

    @Test func `never puts more than ten thousand rows into one transaction`() async throws {
        let folder = try TemporaryFolder()
        let policy = CatchUpPolicy(mode: .all, within: .seconds(90 * 86_400), burst: 4000)
        try await SlotScene.run(in: folder, at: at("00:00:00")) { scene in
            for name in ["a", "b", "c", "d"] {
                try await scene.put(.cron(name, "* * * * *").with { $0.catchUp = policy })
            }
        }
        // SQLite itself notes how many runs there are each time the watermark moves.
        try await database(
            folder,
            """
            CREATE TABLE noted (runs INTEGER);
            CREATE TRIGGER note AFTER UPDATE ON scheduler BEGIN INSERT INTO noted SELECT count(*) FROM run; END;
            """)
        try await SlotScene.run(in: folder, at: at("00:00:00") + .seconds(60 * Self.minutes)) { scene in
            try await scene.settled()
            let runs = try await scene.ledger.runs(RunFilter())
            #expect(runs.count == 4 * 4002)
            #expect(Set(runs.map { "\($0.job) \($0.cause)" }).count == runs.count)
        }
        try await database(
            folder,
            """
            CREATE TABLE answer (most INTEGER CHECK (most BETWEEN 1 AND 10000), steps INTEGER CHECK (steps > 1));
            INSERT INTO answer SELECT max(added), count(*) FROM (
                SELECT runs - lag(runs, 1, 0) OVER (ORDER BY runs) AS added
                FROM (SELECT runs FROM noted UNION SELECT count(*) FROM run)) WHERE added > 0;
            """)
    }

    /// Does to the ledger's file what somebody else could.
    private func database(_ folder: TemporaryFolder, _ statements: String) async throws {
        let status = try await Shell.run(
            """
            exec python3 -c 'import sqlite3, sys; sqlite3.connect("ledger.db").executescript(sys.argv[1])' '\(statements)'
            """, in: folder.path)
        try #require(status == 0)
    }
}
