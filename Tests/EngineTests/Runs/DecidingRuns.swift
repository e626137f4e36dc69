import Delivery
import Ledger
import LedgerSQLite
import Performing
import Testing
import Timeline
import Tracking
import WardenProtocol

@testable import Engine

@Suite struct `the next step of a run` {
    let decider = RunDecider(boot: "this boot")

    private func run(_ state: RunState, boot: String? = "this boot") -> RunRecord {
        var run = RunRecord(
            id: "r", job: "job", bot: "belfry", kind: .manual, cause: "key:1", state: state,
            queuedAt: at("10:00:00"), revision: 1)
        run.process = boot.map { ProcessMark(pid: 7, startTime: 9, boot: $0) }
        return run
    }

    private func record(
        _ cause: ExitRecord.Cause, code: Int? = nil, signal: Int? = nil
    ) -> ExitRecord {
        ExitRecord(
            key: RunKey(run: "r", attempt: 1), cause: cause, exitCode: code, signal: signal, pid: 7,
            startedAt: at("10:00:01"), endedAt: at("10:00:05"))
    }

    /// What a step says: `running +started`, `failed:exitCode +failed`, `-` for no move.
    private func words(_ step: RunStep?) -> String {
        var words: [String] = []
        for change in step?.changes ?? [] {
            switch change {
            case .moveRun(let move):
                words.append(move.to.rawValue + (move.reason.map { ":\($0.rawValue)" } ?? ""))
            case .append(let event):
                words.append("+\(event.type.rawValue.dropFirst(4))")
            default: break
            }
        }
        return words.isEmpty ? "-" : words.joined(separator: " ")
    }

    @Test func `is one with the step before when that was its start`() throws {
        let starting = run(.starting)
        let started = decider.started(
            starting, StartedProcess(pid: 8, startTime: 10), at: at("10:00:01"))
        let ended = decider.ended(started.after, record(.exited, code: 1))
        let both = try #require(started.followed(by: ended))
        #expect(words(both) == "failed:exitCode +started +failed")
        #expect(both.run == starting && both.after == ended.after && both.effects == ended.effects)
        #expect(both.after.process == ProcessMark(pid: 8, startTime: 10, boot: "this boot"))
        var moves: [Set<RunState>] = []
        var attempts: [RunState] = []
        for change in both.changes {
            if case .moveRun(let move) = change { moves.append(move.from) }
            if case .putAttempt(let attempt) = change { attempts.append(attempt.state) }
        }
        #expect(moves == [[.starting]] && attempts == [.failed])
    }

    @Test func `is the start, too, where the end of the work is the first that is known of it`() {
        let adopted = decider.checking(run(.starting), nil, since: at("10:00:01"))
        #expect(words(adopted) == "running +started" && adopted.effects == [.check])
        #expect(adopted.after.startedAt == at("10:00:01") && adopted.attempt?.state == .running)
        let started = decider.started(run(.starting), nil, at: at("10:00:01")).after
        let known = decider.checking(started, nil, since: at("10:00:01"))
        #expect(words(known) == "running" && known.attempt == nil)
    }

    @Test func `is none with a step that was no start, or whose run did not end`() throws {
        let started = decider.started(
            run(.starting), StartedProcess(pid: 8, startTime: 10), at: at("10:00:01"))
        let ended = decider.ended(started.after, record(.exited, code: 1))
        #expect(ended.followed(by: ended) == nil)
        #expect(decider.claim(run(.queued)).followed(by: ended) == nil)
        var live = LiveState(
            task: LiveTask(id: "r", botID: "belfry", run: "job#1", name: "job", botName: "belfry"),
            attempt: 1, seq: 1, state: .running, updatedAt: at("10:00:02"))
        live.state = .blocked
        let said = try #require(decider.reported(started.after, live, at: at("10:00:02")))
        #expect(started.followed(by: said) == nil && said.followed(by: ended) == nil)
    }

    @Test(arguments: [
        (ExitRecord.Cause.exited, Int?(0), Int?.none, "completed +completed"),
        (.exited, 1, nil, "failed:exitCode +failed"),
        (.exited, 255, nil, "failed:exitCode +failed"),
        (.exited, nil, 11, "failed:signal +failed"),
        (.timeout, nil, 15, "timedOut:timeout +failed"),
        (.timeout, 0, nil, "timedOut:timeout +failed"),
        (.canceled, nil, 15, "canceled:canceled +canceled"),
        (.lost, nil, nil, "lost:wardenLost +lost"),
    ])
    func `after its process ended`(
        cause: ExitRecord.Cause, code: Int?, signal: Int?, expected: String
    ) {
        var running = run(.running)
        running.startedAt = at("10:00:01")
        #expect(words(decider.ended(running, record(cause, code: code, signal: signal))) == expected)
        // One whose start was not reported yet is reported as started first.
        let both = words(decider.ended(run(.starting), record(cause, code: code, signal: signal)))
        let parts = expected.split(separator: " ")
        #expect(both == "\(parts[0]) +started \(parts[1])")
    }

    @Test func `as one that only followed a process, with exitUnknown where nobody knows how that ended`() {
        var following = run(.running)
        following.startedAt = at("10:00:01")
        let wait = FollowedProcess(pid: 7, startTime: 9).command(of: "/usr/bin/belfry")
        following.spec = JobSpec.manual("cat").with { $0.action = .command(wait) }
        let unknown = record(.exited, code: nil, signal: FollowedProcess.unknownEnd)
        #expect(words(decider.ended(following, unknown)) == "completed:exitUnknown +completed")
        #expect(words(decider.ended(following, record(.exited, code: 0))) == "completed +completed")
        #expect(words(decider.ended(following, record(.exited, code: 3))) == "failed:exitCode +failed")
        // Of a process of its own that signal is a failure.
        following.spec = JobSpec.manual("cat")
        #expect(words(decider.ended(following, unknown)) == "failed:signal +failed")
    }

    @Test func `ends as long after its start as it took, wherever the clock was set meanwhile`() throws {
        func end(_ endedAt: Moment, _ elapsed: Duration?) -> [Moment?] {
            var running = run(.running)
            running.startedAt = at("10:00:01")
            var ended = record(.exited, code: 0)
            ended.endedAt = endedAt
            ended.elapsed = elapsed
            let step = decider.ended(running, ended)
            let attempts = step.changes.compactMap { change -> Moment?? in
                if case .putAttempt(let attempt) = change { attempt.endedAt } else { nil }
            }
            return [step.after.endedAt] + attempts
        }
        for clock in ["11:00:07", "09:00:07", "10:00:07"] {
            #expect(end(at(clock), .seconds(6)) == [at("10:00:07"), at("10:00:07")])
        }
        // A warden that says nothing of it: at least not before the start.
        #expect(end(at("09:00:07"), nil) == [at("10:00:01"), at("10:00:01")])
        #expect(end(at("10:00:09"), nil) == [at("10:00:09"), at("10:00:09")])
        var running = run(.running)
        running.startedAt = at("10:00:01")
        #expect(decider.vanished(running, at: at("09:00:00")).after.endedAt == at("10:00:01"))
    }

    @Test(arguments: [
        (RunState.starting, "this boot", false, "queued"),
        (.starting, "this boot", true, "canceled:canceled +canceled"),
        (.starting, "another boot", false, "lost:hostRestarted +lost"),
        (.running, "this boot", false, "lost:wardenLost +lost"),
        (.running, "this boot", true, "lost:wardenLost +lost"),
        (.running, "another boot", false, "lost:hostRestarted +lost"),
        (.blocked, "this boot", false, "lost:wardenLost +lost"),
        (.stalled, "another boot", false, "lost:hostRestarted +lost"),
    ])
    func `after nobody knows of it`(state: RunState, boot: String, isCanceled: Bool, expected: String) {
        var run = run(state, boot: boot)
        run.endAsked = isCanceled ? .canceled : nil
        let step = decider.vanished(run, at: at("10:01:00"))
        #expect(words(step) == expected)
    }

    @Test(arguments: [
        (RunState.starting, false, "lost:streamCut +lost"),
        (.running, false, "lost:streamCut +lost"),
        (.blocked, false, "lost:streamCut +lost"),
        (.running, true, "canceled:canceled +canceled"),
    ])
    func `after its performer ended with the daemon`(state: RunState, isCanceled: Bool, expected: String) {
        for boot in ["this boot", "another boot"] {
            var run = run(state, boot: boot)
            run.endAsked = isCanceled ? .canceled : nil
            let step = decider.vanished(run, survivesTheDaemon: false, at: at("10:01:00"))
            #expect(words(step) == expected)
        }
    }

    @Test(arguments: [
        (Refusal.notFound, "failed:notFound +failed"),
        (.notExecutable, "failed:notExecutable +failed"),
        (.badFolder, "failed:badDirectory +failed"),
        (.badOutput, "failed:spawnFailed +failed"),
        (.tooLong, "failed:spawnFailed +failed"),
        (.exhausted, "failed:spawnFailed +failed"), (.noSuchUser, "failed:badUser +failed"),
    ])
    func `after it could not be started`(refusal: Refusal, expected: String) {
        let step = decider.refused(run(.starting), refusal, text: "why", at: at("10:00:01"))
        #expect(words(step) == expected)
        #expect(
            step.changes.contains {
                if case .append(let event) = $0 { event.message == "why" } else { false }
            }
        )
    }

    @Test func `after it started is running`() {
        let step = decider.started(
            run(.starting), StartedProcess(pid: 12, startTime: 3), at: at("10:00:02"))
        #expect(words(step) == "running +started")
        guard case .moveRun(let move) = step.changes.first else {
            Issue.record("no move")
            return
        }
        #expect(move.process == ProcessMark(pid: 12, startTime: 3, boot: "this boot"))
        #expect(move.queueDelay == .seconds(2))
    }

    @Test(arguments: [
        (RunState.running, RunState.blocked, "blocked +blocked"),
        (.blocked, .running, "running"), (.running, .stalled, "stalled"), (.stalled, .running, "running"),
        (.stalled, .blocked, "blocked +blocked"), (.running, .running, "-"), (.blocked, .blocked, "-"),
    ])
    func `after it said where it is`(from: RunState, to: RunState, expected: String) {
        let task = LiveTask(id: "r", botID: "belfry", run: "job#1", name: "job", botName: "belfry")
        let live = LiveState(task: task, attempt: 1, seq: 1, state: to, updatedAt: at("10:00:02"))
        #expect(words(decider.reported(run(from), live, at: at("10:00:02"))) == expected)
    }

    @Test func `before it started`() {
        let queued = run(.queued, boot: nil)
        #expect(words(decider.claim(queued)) == "starting")
        #expect(words(decider.withdrawn(queued, at: at("10:00:01"))) == "canceled:canceled +canceled")
        #expect(
            words(decider.unstartable(queued, text: "gone", at: at("10:00:01")))
                == "failed:spawnFailed +failed")
    }

    @Test func `measures its wait by the clock that nobody set`() throws {
        func waited(_ clockChange: Duration) -> Duration? {
            decider.started(
                run(.starting), StartedProcess(pid: 7, startTime: 9), at: at("10:00:30"),
                clockChange: clockChange
            ).after.queueDelay
        }
        #expect(waited(.zero) == .seconds(30))
        // Half an hour ahead, or back, since it was queued.
        #expect(waited(.seconds(-1800)) == .seconds(1830))
        #expect(waited(.seconds(20)) == .seconds(10))
        #expect(waited(.seconds(1800)) == .zero)
        let quick = decider.ended(run(.starting), record(.exited, code: 0), clockChange: .seconds(-60))
        #expect(quick.after.queueDelay == .seconds(61))
    }
}

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
