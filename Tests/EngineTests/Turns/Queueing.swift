import Grouping
import Ledger
import Performing
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite struct `the runs that are not started` {
    private func run(
        _ id: String, of job: String = "job", performer: PerformerKind = .warden, attempt: Int = 1
    ) -> (record: RunRecord, waiting: Waiting) {
        let spec = JobSpec.manual(job).with { $0.overlap = .queueAll }
        var run = RunRecord(
            id: id, job: job, bot: "belfry", kind: .manual, cause: "key:\(id)", queuedAt: at("10:00:00"),
            revision: 1)
        run.attempt = attempt
        return (run, Waiting(run, spec, performer: performer))
    }

    @Test func `start as far as there is room, one of a job at a time`() {
        var queue = RunQueue()
        let (first, second, other) = (run("1"), run("2"), run("3", of: "other"))
        for run in [first, second, other] { queue.join(run.waiting, first: false) }
        #expect(queue.takeTurns(1, at: .zero).map(\.id) == ["1"])
        #expect(queue.takeTurns(9, at: .zero).map(\.id) == ["3"])
        #expect(queue.wait(of: "2")?.kind == .overlap && queue.contains("2"))
        queue.leave("1", first.waiting.places)
        #expect(queue.wait(of: "2") == nil)
        #expect(queue.takeTurns(9, at: .zero).map(\.id) == ["2"])
    }

    @Test func `wait for a gate by its name, behind those at it and those who came before`() {
        var queue = RunQueue()
        func prompt(_ id: String, priority: Int = 0) -> Waiting {
            let spec = JobSpec.manual("job\(id)").with {
                ($0.bot, $0.action, $0.priority) = ("sage", .prompt("What is new?"), priority)
            }
            let run = RunRecord(
                id: id, job: spec.name, bot: "sage", kind: .manual, cause: "key:\(id)",
                queuedAt: at("10:00:00"),
                revision: 1)
            return Waiting(run, spec)
        }
        for id in ["1", "2", "3"] { queue.join(prompt(id), first: false) }
        #expect(queue.takeTurns(1, at: .zero).map(\.id) == ["1"])
        queue.join(prompt("4", priority: 1), first: false)
        queue.join(run("5").waiting, first: false)
        #expect(queue.wait(of: "3") == RunWait(.lane, name: "sage"))
        let before = ["2", "3", "4"].map { queue.wait(of: $0, counting: true)?.before }
        // One at work; the one with the higher priority overtakes.
        #expect(before == [2, 3, 1])
        #expect(queue.wait(of: "5") == nil)
    }

    @Test func `wait while their performer is away, and hold up no run of another one`() {
        var queue = RunQueue()
        queue.set(.warden, isReady: false)
        queue.join(run("1").waiting, first: false)
        queue.join(run("2", of: "talk", performer: PerformerKind("bot")).waiting, first: false)
        #expect(queue.takeTurns(9, at: .zero).map(\.id) == ["2"])
        #expect(queue.wait(of: "1")?.kind == .warden)
        queue.set(.warden, isReady: true)
        #expect(queue.wait(of: "1") == nil)
        #expect(queue.takeTurns(9, at: .zero).map(\.id) == ["1"])
    }

    @Test func `that are tried again start at their moment, before others of their job`() {
        var queue = RunQueue()
        let again = run("1", attempt: 2)
        queue.enter("1", [.job("job")])
        queue.join(run("2").waiting, first: false)
        queue.delay(again.waiting, until: .seconds(5))
        #expect(queue.nextDue == .seconds(5) && queue.wait(of: "1")?.kind == .retry)
        #expect(queue.takeTurns(9, at: .seconds(4)).isEmpty)
        #expect(queue.takeTurns(9, at: .seconds(5)).map(\.id) == ["1"])
    }

    @Test func `whose turn could not be used are the first again`() {
        var queue = RunQueue()
        for id in ["1", "2"] { queue.join(run(id).waiting, first: false) }
        let turns = queue.takeTurns(9, at: .zero)
        queue.putBack(turns)
        #expect(queue.takeTurns(9, at: .zero).map(\.id) == ["1"])
    }

    @Test func `that are dropped leave their job's turn to the next`() {
        var queue = RunQueue()
        let again = run("1", attempt: 2)
        queue.enter("1", [.job("job")])
        queue.join(run("2").waiting, first: false)
        queue.delay(again.waiting, until: .seconds(5))
        queue.drop(again.record)
        #expect(!queue.contains("1"))
        #expect(queue.takeTurns(9, at: .seconds(9)).map(\.id) == ["2"])
    }
}

@Suite struct `prompts of a hundred bots at once` {
    /// As many prompts of each bot, those of one bot queued before those of the next; with a `cap` all their jobs share a
    /// key that lets no more of them pass at a time, and each prompt has a job of its own.
    private func queue(prompts: Int, cap: Int? = nil) -> RunQueue {
        var queue = RunQueue()
        for bot in 0..<100 {
            for number in 1...prompts {
                let spec = JobSpec.manual("ask-\(bot)" + (cap == nil ? "" : "-\(number)")).with { spec in
                    (spec.bot, spec.action, spec.overlap) = ("bot-\(bot)", .prompt("?"), .allow)
                    spec.concurrency = cap.map { ConcurrencyKey(key: "turn", max: $0) }
                }
                let run = RunRecord(
                    id: "\(number) of \(bot)", job: spec.name, bot: spec.bot, kind: .manual,
                    cause: "key:\(bot).\(number)", queuedAt: at("10:00:00"), revision: 1)
                queue.join(Waiting(run, spec, performer: .bots), first: false)
            }
        }
        return queue
    }

    /// The prompts in the order of their starts; `next` chooses which of those under way ends first.
    private func served(
        _ queue: RunQueue, room: Int, started: (Waiting) -> Void = { _ in },
        ended: (Waiting) -> Void = { _ in }, next: (Int) -> Int
    ) -> [String] {
        var (queue, inside, order) = (queue, [Waiting](), [String]())
        while true {
            for run in queue.takeTurns(room - inside.count, at: .zero) {
                started(run)
                inside.append(run)
                order.append(run.id)
            }
            #expect(Set(inside.map(\.bot)).count == inside.count, "a lane is one prompt wide")
            guard !inside.isEmpty else { return order }
            let done = inside.remove(at: next(inside.count))
            queue.leave(done.id, done.places)
            ended(done)
        }
    }

    @Test(arguments: [1, 64, 1000]) func `are served in turn`(room: Int) {
        let order = served(queue(prompts: 3), room: room) { _ in 0 }
        #expect(order == (1...3).flatMap { number in (0..<100).map { "\(number) of \($0)" } })
    }

    @Test(arguments: [1, 4, 99]) func `are served in turn where a key lets few of them pass`(cap: Int) {
        let order = served(queue(prompts: 3, cap: cap), room: 1000) { _ in 0 }
        #expect(order == (1...3).flatMap { number in (0..<100).map { "\(number) of \($0)" } })
    }

    @Test(arguments: 0..<5) func `are not overtaken twice by another bot, whoever is quick`(seed: Int) {
        var numbers = SeededGenerator(seed: UInt64(seed))
        // Since a bot's lane is free, how often each other one was served.
        var waits = Dictionary(uniqueKeysWithValues: (0..<100).map { ("bot-\($0)", [String: Int]()) })
        let order = served(
            queue(prompts: 5), room: 64,
            started: { run in
                #expect(waits[run.bot]?.values.allSatisfy { $0 < 2 } == true, "seed \(seed): \(run.id)")
                waits[run.bot] = nil
                for bot in waits.keys { waits[bot]?[run.bot, default: 0] += 1 }
            }, ended: { waits[$0.bot] = [:] }, next: { numbers.below($0) })
        #expect(Set(order).count == 500)
        for bot in 0..<100 {
            #expect(order.filter { $0.hasSuffix(" of \(bot)") } == (1...5).map { "\($0) of \(bot)" })
        }
    }
}

@Suite struct `the rows to look at` {
    private func row(_ id: String) -> RunRecord {
        RunRecord(
            id: id, job: "job", bot: "belfry", kind: .manual, cause: "key:\(id)", queuedAt: at("10:00:00"),
            revision: 1)
    }

    private func ids(_ notes: [RunNotes.Note]) -> [String] {
        notes.map { note in
            switch note {
            case .made(let run): "made \(run.id)"
            case .changed(let id): id
            }
        }
    }

    @Test func `leave in order, and put back in order`() {
        var rows = NotedRows()
        rows.add([.made(row("1")), .changed("2"), .changed("3")])
        let taken = rows.removeFirst(2)
        #expect(ids(taken) == ["made 1", "2"])
        rows.putBack(taken)
        rows.addFirst(row("0"))
        #expect(ids(rows.removeFirst(9)) == ["made 0", "made 1", "2", "3"] && rows.isEmpty)
    }

    @Test func `are known in the turn in which they were seen only`() {
        var rows = NotedRows()
        rows.keep(row("1"))
        #expect(rows["1"]?.id == "1")
        rows.forgetSeen()
        #expect(rows["1"] == nil)
    }
}

@Suite struct `work that the ledger did not take` {
    @Test func `is a failure of the turn in which it was tried`() {
        var owed = UnrecordedWork()
        owed.note(.full)
        owed.note(.readOnly(path: "ledger.db"))
        #expect(owed.failure == .full)
        owed.beginTurn()
        #expect(owed.failure == nil)
    }

    @Test func `ends the keeper where only another start can fix it`() {
        var owed = UnrecordedWork()
        owed.note(.full)
        owed.note(.closed)
        owed.note(.full)
        #expect(owed.failure == .closed)
    }
}

@Suite struct `the runs that wait and those under way` {
    private func run(_ id: String, _ state: RunState, attempt: Int = 1) -> RunRecord {
        var run = RunRecord(
            id: id, job: "job", bot: "belfry", kind: .manual, cause: "key:\(id)", state: state,
            queuedAt: at("10:00:00"), revision: 1)
        run.attempt = attempt
        return run
    }

    private func wait(_ id: String) -> Waiting {
        Waiting(run(id, .queued), .manual("job").with { $0.overlap = .queueAll })
    }

    @Test func `share the room there is`() {
        var runs = RunsInHand(limits: RunLimits(running: 1))
        runs.adopt(run("1", .running), by: .warden, places: [])
        runs.queue.join(wait("2"), first: false)
        #expect(runs.takeTurns(at: .zero).isEmpty)
        #expect(runs.wait(of: "2")?.kind == .cap)
        // Only the commit of its end is still to come.
        runs.noteEnd(run("1", .completed))
        #expect(runs.wait(of: "2") == nil)
        #expect(runs.takeTurns(at: .zero).map(\.id) == ["2"])
    }

    @Test func `have the place of one that waits for what it handed out`() {
        var runs = RunsInHand(limits: RunLimits(running: 1))
        runs.adopt(run("1", .running), by: .warden, places: [])
        for id in ["2", "3"] {
            runs.queue.join(
                Waiting(run(id, .queued), .manual("job").with { $0.overlap = .allow }), first: false)
        }
        #expect(runs.takeTurns(at: .zero).isEmpty)
        runs.set("1", waitsIn: "call", true)
        runs.set("1", waitsIn: "other", true)
        runs.set("1", waitsIn: "other", false)
        #expect(runs.wait(of: "2") == nil)
        #expect(runs.takeTurns(at: .zero).map(\.id) == ["2"])
        runs.adopt(run("2", .running), by: .warden, places: [])
        #expect(runs.takeTurns(at: .zero).isEmpty)
        // One too many: the next one waits until both are done.
        runs.set("1", waitsIn: "call", false)
        runs.noteEnd(run("2", .completed))
        #expect(runs.wait(of: "3")?.kind == .cap)
        #expect(runs.takeTurns(at: .zero).isEmpty)
        runs.noteEnd(run("1", .completed))
        #expect(runs.takeTurns(at: .zero).map(\.id) == ["3"])
    }

    @Test func `leave their job's turn to the next when they end, and keep it for another attempt`() {
        for (keepsTurn, next) in [(true, []), (false, ["2"])] {
            var runs = RunsInHand(limits: RunLimits())
            runs.adopt(run("1", .running), by: .warden, places: [.job("job")])
            runs.queue.join(wait("2"), first: false)
            #expect(runs.takeTurns(at: .zero).isEmpty)
            let released = [true, false].map { _ in runs.release("1", keepsTurn: keepsTurn) }
            #expect(released == [true, false])
            #expect(runs.takeTurns(at: .zero).map(\.id) == next)
        }
    }
}

@Suite struct `what a run waits for` {
    private func run() -> RunRecord {
        var run = RunRecord(
            id: "r", job: "job", bot: "sage", kind: .manual, cause: "key:1", state: .queued,
            queuedAt: Moment(seconds: 1), revision: 1)
        run.notBefore = Moment(seconds: 60)
        return run
    }

    @Test func `is the network after an attempt that met none, by the name of a bot`() {
        var last = AttemptRecord(run: "r", n: 1, state: .failed)
        for (reason, wait) in [
            (RunReason.exitCode, RunWait(.retry, until: Moment(seconds: 60))),
            (.botUnavailable, RunWait(.network, name: "sage", until: Moment(seconds: 60))),
            (.connectFailed, RunWait(.network, until: Moment(seconds: 60))),
        ] {
            last.reason = reason
            #expect(RunWait(retryOf: run(), after: last) == wait)
        }
        #expect(RunWait(retryOf: run(), after: nil).kind == .retry)
    }

    @Test func `is the open question of a blocked run, until its deadline`() {
        var question = Question(
            id: "q1", bot: "sage", text: "Go?", choices: ["yes"], askedAt: Moment(seconds: 1))
        question.deadline = Moment(seconds: 600)
        let wait = RunWait(blockedBy: .question, QuestionRecord(question, run: "r"))
        #expect(wait == RunWait(.question, name: "q1", until: Moment(seconds: 600)))
        #expect(RunWait(blockedBy: .auth, nil) == RunWait(.auth))
    }
}
