import Delivery
import Host
import Ledger
import LedgerSQLite
import Performing
import Prompting
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite struct `a script before a prompt` {
    private func decide(_ printed: String, _ change: (inout ExitRecord) -> Void = { _ in })
        -> WakeDecider
        .Decision
    {
        var rule = WakeRule()
        rule.command = ["any", "news"]
        var record = ExitRecord(
            key: RunKey(run: "r.wake", attempt: 1), cause: .exited, exitCode: 0, startedAt: at("10:00:00"),
            endedAt: at("10:00:01"))
        change(&record)
        return WakeDecider(rule: rule).decide(.ended(record)) { Array(printed.utf8) }
    }

    @Test func `has the bot asked, or finds nothing to do, or fails`() {
        #expect(decide("a mail") == .wake)
        #expect(decide("") == .skip("the wake script any news found nothing to do"))
        #expect(decide(#"{"wakeAgent":false,"reason":"no mail"}"#) == .skip("no mail"))
        #expect(
            decide("a mail") { ($0.exitCode, $0.errorTail) = (2, Array("no network\n".utf8)) }
                == .fail("the wake script any news failed with exit code 2: no network"))
        #expect(
            decide("") { $0.cause = .timeout } == .fail("the wake script any news took longer than 30s"))
        #expect(
            decide(#"{"wakeAgent":1}"#)
                == .fail(
                    "the wake script any news gave no answer: its last line must have \"wakeAgent\": true or false"
                ))
        #expect(
            WakeDecider(rule: WakeRule()).decide(.refused(.notFound, text: "no x")) { [] }
                == .fail("the wake script  could not be started: no x"))
    }
}

/// A performer that notes what it is asked, and replies at once.
private final class AskedPerformer: Performer {
    let survivesTheDaemon = false
    private let stream: StreamPerformer
    let prompts: AsyncStream<String>
    private let asked: AsyncStream<String>.Continuation

    init(clock: any WallClock) {
        stream = StreamPerformer(clock: clock)
        (prompts, asked) = AsyncStream.makeStream()
    }

    func connect() async throws -> Int32? { try await stream.connect() }
    func start(_ order: AttemptOrder) {
        guard case .prompt(let prompt) = order else { return stream.start(order) }
        asked.yield(prompt.text)
        stream.start(.process(ProcessOrder(key: prompt.key, work: .shell("ok"), output: prompt.output)))
    }
    func cancel(_ key: RunKey, reason: String) { stream.cancel(key, reason: reason) }
    func ask(_ key: RunKey) { stream.ask(key) }
    func acknowledge(_ key: RunKey) { stream.acknowledge(key) }
    func waitForEvents() async -> Bool { await stream.waitForEvents() }
    func takeEvents() -> [PerformerEvent] { stream.takeEvents() }
}

/// A warden that reports the ends of scripts that an earlier daemon ordered, and notes what is acknowledged.
private final class ReportingWarden: Performer {
    let survivesTheDaemon = true
    let acknowledged: AsyncStream<RunKey>
    private let noted: AsyncStream<RunKey>.Continuation
    private let reports = PerformerReports([.caughtUp])

    init() {
        (acknowledged, noted) = AsyncStream.makeStream()
    }

    func report(_ keys: [RunKey], at now: Moment) {
        reports.add(
            keys.map {
                .ended(ExitRecord(key: $0, cause: .exited, exitCode: 0, startedAt: now, endedAt: now))
            })
    }

    func connect() async throws -> Int32? { nil }
    func start(_ order: AttemptOrder) {}
    func cancel(_ key: RunKey, reason: String) {}
    func ask(_ key: RunKey) {}
    func acknowledge(_ key: RunKey) { noted.yield(key) }
    func waitForEvents() async -> Bool { await reports.wait() }
    func takeEvents() -> [PerformerEvent] { reports.take() }
}

@Suite(.timeLimit(.minutes(5))) struct `a run whose bot a script wakes` {
    private func spec(_ script: String, _ change: (inout JobSpec) -> Void = { _ in }) -> JobSpec {
        var spec = JobSpec.manual("news", "true")
        spec.action = .prompt("Sum up.")
        spec.wakeRule.command = ["sh", "-c", script]
        change(&spec)
        return spec
    }

    private func scene(
        in home: WardenHome, incarnation: Int64 = 1,
        _ body: (RunScene, AskedPerformer) async throws -> Void
    ) async throws {
        let clock = ManualClock(now: .now, sinceBoot: .sinceBoot)
        let bots = AskedPerformer(clock: clock)
        try await RunScene.run(
            in: home, clock: clock, incarnation: incarnation, performers: [.bots: bots]
        ) { scene in try await body(scene, bots) }
    }

    /// Waits until a script has begun; no thread of the tests waits with it.
    private func waitForCount(in home: WardenHome) async throws {
        let text = "timeout 300 sh -c 'until [ -s count ]; do sleep 0.01; done'"
        let status = try await Shell.run(text, in: home.folder.path)
        try #require(status == 0)
    }

    @Test func `asks it with what the script printed`() async throws {
        try await scene(in: WardenHome()) { scene, bots in
            let run = try await scene.queue(spec("echo two mails; echo noise >&2"))
            var prompts = bots.prompts.makeAsyncIterator()
            #expect(
                await prompts.next()
                    == TaskPrompt.text(of: "Script output:\ntwo mails\n\nInstructions:\nSum up."))
            #expect(try await scene.end(of: run).state == .completed)
        }
    }

    @Test func `is skipped where there is nothing to do, and fails with its script`() async throws {
        try await scene(in: WardenHome()) { scene, _ in
            let quiet = try await scene.end(
                of: scene.queue(spec("echo '{\"wakeAgent\":false,\"reason\":\"no mail\"}'")))
            #expect(quiet.state == .skipped && quiet.reason == .nothingToDo)
            #expect(quiet.live?.message == "no mail" && quiet.startedAt == nil)
            #expect(try await scene.events(of: quiet).map(\.type) == [.runSkipped])
            let failed = try await scene.end(of: scene.queue(spec("echo x; echo 'no network' >&2; exit 3")))
            #expect(failed.state == .failed && failed.reason == .wakeScript)
            #expect(failed.live?.message?.hasSuffix("failed with exit code 3: no network") == true)
            #expect(failed.outputTail == "no network")
            let missing = try await scene.end(
                of: scene.queue(spec("") { $0.wakeRule.command = ["/no/such"] }))
            #expect(missing.reason == .wakeScript)
            #expect(try await scene.ledger.messages(bot: nil, search: nil, since: nil, limit: 9).isEmpty)
        }
    }

    @Test func `fails where what its script printed can't be read`() async throws {
        let clock = ManualClock(now: .now, sinceBoot: .sinceBoot)
        try await RunScene.run(
            in: WardenHome(), clock: clock, performers: [.bots: AskedPerformer(clock: clock)],
            files: unreadableOutputs
        ) { scene in
            let failed = try await scene.end(of: scene.queue(spec("echo a mail")))
            #expect(failed.state == .failed && failed.reason == .wakeScript)
            let text = try #require(failed.live?.message)
            #expect(text.hasPrefix("the output of the wake script cannot be read: "), "\(text)")
        }
    }

    @Test func `keeps what its script found while its row can't be read`() async throws {
        let clock = ManualClock(now: .now, sinceBoot: .sinceBoot)
        let (warden, bots) = (ReportingWarden(), AskedPerformer(clock: clock))
        try await RunScene.run(
            in: WardenHome(), clock: clock, performers: [.warden: warden, .bots: bots]
        ) { scene in
            let keys = (0..<3).map { _ in RunKey(run: freshID(), attempt: 1) }
            var acknowledged = warden.acknowledged.makeAsyncIterator()
            // From here on the keeper takes up no rows by itself: it learns of the run from the report alone.
            warden.report([keys[2].wakeScript], at: clock.now)
            #expect(await acknowledged.next() == keys[2].wakeScript)
            var run = RunRecord(
                id: keys[0].run, job: "news", bot: "belfry", kind: .manual, cause: RunCause.exec("1"),
                queuedAt: clock.now, revision: 0)
            run.spec = spec("")
            try await scene.ledger.commit([.insertRun(run, orIgnore: false)])
            try await scene.change("UPDATE run SET state = 99 WHERE id = '\(run.id)'")
            await #expect(throws: LedgerError.self) { _ = try await scene.ledger.run(id: run.id) }
            // Of the other one the ledger knows nothing: nobody will ask for it.
            warden.report(keys.prefix(2).map(\.wakeScript), at: clock.now)
            #expect(await acknowledged.next() == keys[1].wakeScript)
            // It could be read again, so that the ledger can be closed.
            try await scene.change("DELETE FROM run WHERE id = '\(run.id)'")
        }
    }

    @Test func `can be canceled meanwhile`() async throws {
        let home = try WardenHome()
        try await scene(in: home) { scene, _ in
            let run = try await scene.queue(spec("echo on >> ../count; sleep 600"))
            try await waitForCount(in: home)
            try await scene.run(run) { $0.state == .starting }
            try await scene.keeper.cancel(run.id)
            #expect(try await scene.end(of: run).state == .canceled)
        }
    }

    @Test func `waits for the same script after the daemon died, and asks once`() async throws {
        let home = try WardenHome()
        try home.makePipe("go")
        var run: RunRecord?
        let job = spec("echo once >> ../count; read l < ../go; echo mail")
        try await scene(in: home) { scene, _ in
            run = try await scene.queueStored(job)
            try await waitForCount(in: home)
        }
        let before = try #require(run)
        try await scene(in: home, incarnation: 2) { scene, bots in
            let status = try await Shell.run("timeout 300 sh -c 'echo go > go'", in: home.folder.path)
            #expect(status == 0)
            var prompts = bots.prompts.makeAsyncIterator()
            #expect(
                await prompts.next() == TaskPrompt.text(of: "Script output:\nmail\n\nInstructions:\nSum up."))
            #expect(try await scene.end(of: before).state == .completed)
            #expect(try home.lines(of: "count") == ["once"])
        }
    }
}
