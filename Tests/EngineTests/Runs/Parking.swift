import Delivery
import Grouping
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

/// A performer whose attempts end when the test says so; it outlives the daemon, and another instance knows nothing.
private final class HeldPerformer: Performer {
    let survivesTheDaemon = true
    let orders: AsyncStream<PromptOrder>
    private let ordered: AsyncStream<PromptOrder>.Continuation
    let reports = PerformerReports([.caughtUp])

    init() {
        (orders, ordered) = AsyncStream.makeStream()
    }

    /// The attempt of the order ends so.
    func end(_ order: PromptOrder, _ change: (inout ExitRecord) -> Void = { _ in }) {
        var record = ExitRecord(
            key: order.key, cause: .exited, exitCode: 0, startedAt: .now, endedAt: .now)
        change(&record)
        reports.add([.ended(record)])
    }

    func connect() async throws -> Int32? { nil }
    func start(_ order: AttemptOrder) {
        guard case .prompt(let prompt) = order else { return }
        reports.add([.started(prompt.key, process: nil, at: .now)])
        ordered.yield(prompt)
    }
    func cancel(_ key: RunKey, reason: String) {}
    func ask(_ key: RunKey) { reports.add([.unknown(key)]) }
    func acknowledge(_ key: RunKey) {}
    func waitForEvents() async -> Bool { await reports.wait() }
    func takeEvents() -> [PerformerEvent] { reports.take() }
}

@Suite(.timeLimit(.minutes(5))) struct `a run whose bot waits for a person without a process` {
    private func scene(
        in home: WardenHome, incarnation: Int64 = 1,
        _ body: (RunScene, HeldPerformer) async throws -> Void
    ) async throws {
        let bots = HeldPerformer()
        try await RunScene.run(
            in: home, incarnation: incarnation, performers: [.bots: bots]
        ) { scene in try await body(scene, bots) }
    }

    private func spec(attempts: Int = 1) -> JobSpec {
        var spec = JobSpec.manual("news", "true")
        spec.action = .prompt("What is new?")
        spec.attempts = attempts
        return spec
    }

    private func question(of run: RunRecord, _ place: Int = 0) -> QuestionRecord {
        var question = Question(
            id: UniqueQuestion.id(of: run.id, place), bot: "cc", text: "Which?", choices: ["a", "b"],
            askedAt: .now)
        question.run = run.name
        return QuestionRecord(question, run: run.id)
    }

    private func answer(_ question: QuestionRecord, in scene: RunScene) async throws {
        let end = QuestionEnd(answer: "a", by: "desk", at: .now)
        try await scene.ledger.commit(question.closing(end))
    }

    private func park(_ order: PromptOrder, _ bots: HeldPerformer) {
        bots.end(order) { $0.parked = LiveState.Parked(session: "s-1", call: "t-1") }
    }

    @Test func `survives the daemon and goes on once, when none of its questions is open`() async throws {
        let home = try WardenHome()
        var parked: RunRecord?
        try await scene(in: home) { scene, bots in
            let run = try await scene.queue(spec())
            var orders = bots.orders.makeAsyncIterator()
            let order = try #require(await orders.next())
            #expect(order.text == TaskPrompt.text(of: "What is new?") && !order.goesOn)
            try await scene.run(run) { $0.state == .running }
            try await scene.ledger.commit(question(of: run).asking() + question(of: run, 1).asking())
            park(order, bots)
            parked = try await scene.run(run) { $0.isParked }
            #expect(parked?.state == .blocked && parked?.live?.blockedKind == .question)
            #expect(parked?.attempt == 1 && parked?.endedAt == nil)
            // It takes up no place, and the next run of its job waits for its end.
            try await scene.settled()
            #expect(await scene.keeper.count == 0)
            try await answer(question(of: run), in: scene)
            try await scene.settled()
            #expect(try await scene.ledger.run(id: run.id)?.isParked == true)
        }
        let run = try #require(parked)
        try await scene(in: home, incarnation: 2) { scene, bots in
            try await scene.live(run) { $0.state == .blocked && $0.blockedKind == .question }
            let next = try await scene.queue(spec())
            try await scene.settled()
            #expect(try await scene.ledger.run(id: run.id)?.isParked == true)
            #expect(try await scene.ledger.run(id: next.id)?.state == .queued)
            try await answer(question(of: run, 1), in: scene)
            var orders = bots.orders.makeAsyncIterator()
            let order = try #require(await orders.next())
            #expect(order.key == RunKey(run: run.id, attempt: 2))
            #expect(order.goesOn && order.session == Continuation(provider: "claude", id: "s-1"))
            bots.end(order) { $0.reply = "All is new." }
            let ended = try await scene.end(of: run)
            #expect(ended.state == .completed && ended.attempt == 2)
            #expect(try await scene.ledger.attempts(of: run.id).map(\.state) == [.completed, .completed])
            let events = try await scene.eventTypes(of: run).map(\.rawValue)
            #expect(events.filter { $0.hasPrefix("run.") } == ["run.started", "run.completed"])
            #expect(try #require(await orders.next()).key.run == next.id)
        }
    }

    @Test func `may still fail as often as its job allows`() async throws {
        try await scene(in: WardenHome()) { scene, bots in
            let run = try await scene.queueStored(spec(attempts: 2))
            var orders = bots.orders.makeAsyncIterator()
            for attempt in 1...3 {
                let order = try #require(await orders.next())
                #expect(order.key.attempt == attempt)
                bots.end(order) { $0.parked = LiveState.Parked(session: "s-1", call: "t-\(attempt)") }
            }
            let order = try #require(await orders.next())
            bots.end(order) {
                $0.fault = AttemptFault(.providerFailed, "no", mayPass: true)
                $0.exitCode = nil
            }
            let waiting = try await scene.run(run) { $0.reason == .retryWait }
            #expect(waiting.attempt == 5 && waiting.tries == 2)
            #expect(waiting.live?.parked?.session == "s-1")
        }
    }

    @Test func `is canceled at once`() async throws {
        try await scene(in: WardenHome()) { scene, bots in
            let run = try await scene.queue(spec())
            var orders = bots.orders.makeAsyncIterator()
            let order = try #require(await orders.next())
            try await scene.ledger.commit(question(of: run).asking())
            park(order, bots)
            try await scene.run(run) { $0.isParked }
            try await scene.settled()
            try await scene.keeper.cancel(run.id)
            let ended = try await scene.end(of: run)
            #expect(ended.state == .canceled && ended.reason == .canceled)
            try await scene.left(run)
            // Its answer resumes nothing, and the next run of its job starts.
            try await answer(question(of: run), in: scene)
            let next = try await scene.queue(spec())
            #expect(try #require(await orders.next()).key == RunKey(run: next.id, attempt: 1))
        }
    }

    @Test func `fails where the same call is put off again, though nobody is asked`() async throws {
        try await scene(in: WardenHome()) { scene, bots in
            let run = try await scene.queue(spec())
            var orders = bots.orders.makeAsyncIterator()
            for _ in 1...2 { park(try #require(await orders.next()), bots) }
            let ended = try await scene.end(of: run)
            #expect(ended.state == .failed && ended.reason == .malformed && ended.attempt == 2)
            #expect(ended.live?.message == "belfry: the call that was answered was put off again")
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `what a job asks by a datagram` {
    @Test func `is a question of its run, once for each key, while it goes on`() async throws {
        let bots = HeldPerformer()
        try await RunScene.run(in: WardenHome(), performers: [.bots: bots]) { scene in
            var spec = JobSpec.manual("news", "true")
            spec.action = .prompt("What is new?")
            let run = try await scene.queue(spec)
            var orders = bots.orders.makeAsyncIterator()
            let order = try #require(await orders.next())
            try await scene.run(run) { $0.state == .running }
            func send(_ text: String) {
                bots.reports.add([.notify(order.key, datagrams: [Array(text.utf8)])])
            }
            send("X_QUESTION=Deploy?\nX_QUESTION_KEY=deploy\nX_AFTER=30m\nX_DEFAULT=no\nX_PROGRESS=0.5")
            send("X_QUESTION=Deploy now?\nX_QUESTION_KEY=deploy")
            send("X_QUESTION=   \nX_PROGRESS=0.6")
            send("X_QUESTION=Its name?\nX_CHOICES=")
            // Comes after all of them.
            send("X_PROGRESS=0.7")
            try await scene.live(run) { $0.progress == 0.7 }
            let asked = try await scene.ledger.openQuestions()
            #expect(asked.map(\.question.text) == ["Deploy?", "Its name?"])
            #expect(
                asked.map(\.run) == [run.id, run.id] && asked.map(\.question.run) == [run.name, run.name])
            #expect(asked.first?.id == ReportedQuestion.id(of: "deploy", in: run.id))
            let first = try #require(asked.first?.question)
            #expect(first.choices == ["yes", "no"] && first.fallback == "no")
            #expect(first.deadline == first.askedAt + .seconds(1800))
            #expect(asked.last?.question.takesText == true && asked.last?.question.deadline == nil)
            // A job in a loop buries nobody.
            for number in 1...20 { send("X_QUESTION=Question \(number)?") }
            send("X_PROGRESS=0.8")
            try await scene.live(run) { $0.progress == 0.8 }
            #expect(try await scene.ledger.openQuestions().count == 16)
            bots.end(order) { $0.reply = "Done." }
            #expect(try await scene.end(of: run).state == .completed)
        }
    }
}

/// Ids of questions that a test makes again.
private enum UniqueQuestion {
    static func id(of run: String, _ place: Int) -> String { String(run.dropLast()) + String(place) }
}
