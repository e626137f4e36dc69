import Delivery
import Engine
import Host
import Ledger
import LedgerSQLite
import Performing
import Synchronization
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a run of a performer inside the daemon` {
    /// A scene in which the bot `streamer` is performed by a ``StreamPerformer`` and nothing else can be, because no
    /// warden answers.
    private func scene(
        in home: WardenHome, incarnation: Int64 = 1, refusedConnections: Int = 0,
        _ body: (RunScene, StreamPerformer) async throws -> Void
    ) async throws {
        let clock = ManualClock(now: .now, sinceBoot: .sinceBoot)
        let performer = StreamPerformer(clock: clock, refusedConnections: refusedConnections)
        try await RunScene.run(
            in: home, clock: clock, incarnation: incarnation, launches: false,
            performers: [.stream: performer], choosing: { $0.bot == "streamer" ? .stream : $0.performer }
        ) { scene in try await body(scene, performer) }
    }

    private func spec(_ text: String) -> JobSpec {
        JobSpec.manual("talk", text).with { $0.bot = "streamer" }
    }

    @Test func `is started, reports progress and completes, though no warden answers`() async throws {
        try await scene(in: try WardenHome()) { scene, performer in
            let queued = try await scene.queue(spec("{\"progress\":0.5}\nwait"))
            try await scene.live(queued) { $0.progress == 0.5 }
            let running = try await scene.run(queued) { $0.state == .running }
            #expect(running.process == nil || running.process?.pid == 0)
            performer.proceed()
            let ended = try await scene.end(of: queued)
            #expect(ended.state == .completed && ended.exitCode == 0)
            #expect(try await scene.events(of: queued).map(\.type) == [.runStarted, .runCompleted])
            // A run that needs the warden holds nobody up, and the reason is known.
            let other = try await scene.queue("true")
            _ = try await scene.end(of: scene.queue(spec("")))
            #expect(await scene.keeper.wait(of: other.id)?.kind == .warden)
            // The end before the last one was acknowledged in an earlier turn.
            #expect(performer.held <= 1)
        }
    }

    @Test func `that is canceled ends as canceled`() async throws {
        try await scene(in: try WardenHome()) { scene, _ in
            let queued = try await scene.queue(spec("wait"))
            try await scene.run(queued) { $0.state == .running }
            try await scene.keeper.cancel(queued.id)
            let ended = try await scene.end(of: queued)
            #expect(ended.state == .canceled && ended.reason == .canceled)
        }
    }

    @Test func `is performed by whoever is chosen when its turn comes`() async throws {
        let clock = ManualClock(now: .now, sinceBoot: .sinceBoot)
        let (first, second) = (StreamPerformer(clock: clock), StreamPerformer(clock: clock))
        let other = PerformerKind("other")
        let chosen = Mutex(PerformerKind.stream)
        try await RunScene.run(
            in: try WardenHome(), clock: clock, launches: false, performers: [.stream: first, other: second],
            choosing: { _ in chosen.withLock(\.self) }
        ) { scene in
            let begun = try await scene.run(scene.queue(spec("wait"))) { $0.state == .running }
            let waiting = try await scene.queue(spec("wait"))
            // Once a later one has ended, this one is in the queue.
            _ = try await scene.end(of: scene.queue(JobSpec.manual("later", "")))
            chosen.withLock { $0 = other }
            first.proceed()
            _ = try await scene.end(of: begun)
            try await scene.run(waiting) { $0.state == .running }
            #expect(second.held == 1)
            second.proceed()
            #expect(try await scene.end(of: waiting).state == .completed)
        }
    }

    @Test func `is lost when the daemon ends, because its stream was cut`() async throws {
        let home = try WardenHome()
        var run: RunRecord?
        try await scene(in: home) { scene, _ in
            run = try await scene.run(scene.queue(spec("{\"progress\":0.5}\nwait"))) { $0.state == .running }
        }
        let before = try #require(run)
        try await scene(in: home, incarnation: 2) { scene, _ in
            let ended = try await scene.end(of: before)
            #expect(ended.state == .lost && ended.reason == .streamCut)
            #expect(try await scene.events(of: before).map(\.type) == [.runStarted, .runLost])
            #expect(try await scene.end(of: scene.queue(spec(""))).state == .completed)
        }
    }

    @Test func `is tried again after such a loss if its job asks for it`() async throws {
        let home = try WardenHome()
        var run: RunRecord?
        let again = spec("wait").with {
            $0.attempts = 2
            $0.retriesLost = true
            $0.backoff = .zero
        }
        try await scene(in: home) { scene, _ in
            run = try await scene.run(scene.queueStored(again)) { $0.state == .running }
        }
        let before = try #require(run)
        try await scene(in: home, incarnation: 2) { scene, performer in
            try await scene.run(before) { $0.attempt == 2 && $0.state == .running }
            performer.proceed()
            #expect(try await scene.end(of: before).state == .completed)
            let attempts = try await scene.ledger.attempts(of: before.id)
            #expect(attempts.map(\.reason) == [.streamCut, nil])
        }
    }

    @Test func `waits as long as it was asked to, also after a restart of the daemon`() async throws {
        let home = try WardenHome()
        let busy = spec("busy 90").with {
            $0.attempts = 2
            $0.backoff = .seconds(1)
        }
        let other = JobSpec.manual("other", "").with { $0.bot = "streamer" }
        var run: RunRecord?
        /// Whether it waits after a turn of the queue at this moment.
        func waits(_ scene: RunScene, _ run: RunRecord) async throws -> Bool {
            _ = try await scene.end(of: scene.queue(other))
            let row = try #require(try await scene.ledger.run(id: run.id))
            return row.state == .queued && row.attempt == 2
        }
        try await scene(in: home) { scene, _ in
            let first = try await scene.run(scene.queueStored(busy)) {
                $0.state == .queued && $0.attempt == 2
            }
            let moment = try #require(first.notBefore)
            #expect(moment - scene.clock.now == .seconds(90))
            scene.clock.advance(by: .seconds(11))
            #expect(try await waits(scene, first))
            scene.clock.advance(by: .seconds(78))
            #expect(try await waits(scene, first))
            scene.clock.advance(by: .seconds(1))
            #expect(try await scene.end(of: first).state == .completed)
            run = try await scene.run(scene.queueStored(busy)) { $0.state == .queued && $0.attempt == 2 }
        }
        let second = try #require(run)
        try await scene(in: home, incarnation: 2) { scene, _ in
            scene.clock.advance(by: .seconds(11))
            let isEarly = try await waits(scene, second)
            #expect(isEarly)
            scene.clock.advance(by: .seconds(90))
            let end = try await scene.end(of: second)
            #expect(end.state == .completed)
        }
    }

    @Test func `waits while its performer can't be reached, and starts once it can`() async throws {
        try await scene(in: try WardenHome(), refusedConnections: 1) { scene, _ in
            let queued = try await scene.queue(spec(""))
            // Asleep after its first turn: refused once.
            _ = await scene.clock.nextSleeper()
            scene.clock.advance(by: .seconds(10))
            #expect(try await scene.end(of: queued).state == .completed)
        }
    }
}
