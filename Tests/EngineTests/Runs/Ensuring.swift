import Delivery
import Foundation
import Host
import Ledger
import LedgerSQLite
import Performing
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite struct `what must be so at the end of a run` {
    private func missing(_ evidence: EnsureEvidence, _ change: (inout EnsureRule) -> Void) -> String? {
        var rule = EnsureRule()
        change(&rule)
        return EnsureDecider(rule: rule, since: at("10:00:00")).missing(evidence)
    }

    @Test func `is a file that was written since the slot`() {
        var evidence = EnsureEvidence()
        #expect(missing(evidence) { $0.file = "/a" } == "/a does not exist")
        evidence.changed = at("09:59:59")
        #expect(missing(evidence) { $0.file = "/a" } == "/a was not written: it is older than the run")
        evidence.changed = at("10:00:00")
        #expect(missing(evidence) { $0.file = "/a" } == nil)
    }

    @Test func `is a text or a pattern in the output or the reply`() {
        let evidence = EnsureEvidence(output: "12 files saved", reply: "All is well.")
        #expect(missing(evidence) { $0.output = "/\\d+ files/" } == nil)
        #expect(missing(evidence) { $0.output = "13 files" } == "the output does not contain 13 files")
        #expect(missing(evidence) { $0.reply = "/ALL IS/i" } == nil)
        #expect(missing(evidence) { $0.reply = "/[0-9]/" } == "the reply does not contain /[0-9]/")
        // The first thing that is missing is named.
        #expect(
            missing(evidence) {
                $0.file = "/a"
                $0.reply = "x"
            } == "/a does not exist")
    }

    @Test func `is a program that succeeds`() {
        var rule = EnsureRule()
        rule.command = ["verify", "--deep"]
        let decider = EnsureDecider(rule: rule, since: at("10:00:00"))
        var record = ExitRecord(
            key: RunKey(run: "r", attempt: 1).check, cause: .exited, exitCode: 0, startedAt: at("10:00:01"),
            endedAt: at("10:00:02"))
        #expect(decider.missing(.ended(record)) == nil)
        record.exitCode = 3
        record.outputTail = Array("one\nno tape\n".utf8)
        #expect(
            decider.missing(.ended(record)) == "the check verify --deep failed with exit code 3: no tape")
        record.cause = .timeout
        #expect(decider.missing(.ended(record)) == "the check verify --deep took longer than 1m")
        let refused = decider.missing(.refused(.notFound, text: "verify does not exist"))
        #expect(refused == "the check verify --deep could not be started: verify does not exist")
    }
}

/// One at a time: to wait for a pipe's reader blocks a thread of the pool.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a run that must leave something behind` {
    private func spec(_ text: String, _ change: (inout EnsureRule) -> Void) -> JobSpec {
        JobSpec.manual("made", text).with { change(&$0.checks) }
    }

    @Test func `is completed when all of it is there, and failed when not, with a sentence`() async throws {
        try await RunScene.run { scene in
            let file = scene.home.folder.file("work/report")
            let rule: (inout EnsureRule) -> Void = {
                $0.file = file
                $0.output = "/written: \\d+/"
            }
            let lazy = try await scene.end(of: scene.queue(spec("echo written: 1", rule)))
            #expect(lazy.state == .failed && lazy.reason == .ensure && lazy.exitCode == 0)
            #expect(lazy.live?.message == "\(file) does not exist")
            #expect(try await scene.events(of: lazy).last?.message == "\(file) does not exist")
            let silent = try await scene.end(of: scene.queue(spec("touch report", rule)))
            #expect(silent.live?.message == "the output does not contain /written: \\d+/")
            let good = try await scene.end(of: scene.queue(spec("touch report; echo written: 1", rule)))
            #expect(good.state == .completed && good.reason == nil)
        }
    }

    @Test(arguments: [true, false]) func `fails where its output can't be read`(
        isChecked: Bool
    ) async throws {
        try await RunScene.run(in: WardenHome(), files: unreadableOutputs) { scene in
            let rule: (inout EnsureRule) -> Void = {
                if isChecked { $0.command = ["true"] } else { $0.output = "fine" }
            }
            let run = try await scene.end(of: scene.queue(spec("echo fine", rule)))
            #expect(run.state == .failed && run.reason == .ensure)
            let text = try #require(run.live?.message)
            #expect(text.hasPrefix("the output of the run cannot be read: "), "\(text)")
        }
    }

    @Test func `is tried again like any failure`() async throws {
        try await RunScene.run { scene in
            let job = spec("[ $BELFRY_ATTEMPT = 1 ] || echo done") { $0.output = "done" }
                .with { ($0.attempts, $0.backoff) = (2, .zero) }
            let run = try await scene.queueStored(job)
            let again = try await scene.run(run) { $0.attempt == 2 }
            scene.clock.advance(to: max(try #require(again.notBefore), scene.clock.now))
            #expect(try await scene.end(of: run).state == .completed)
            #expect(try await scene.ledger.attempts(of: run.id).map(\.reason) == [.ensure, nil])
        }
    }

    @Test func `is checked by a program that reads its output, and can be canceled meanwhile`() async throws {
        try await RunScene.run { scene in
            try scene.makePipe("go")
            let check = ["sh", "-c", "read line < ../go; grep -q 42 && [ $BELFRY_JOB = made ]"]
            let good = try await scene.queue(spec("echo 42") { $0.command = check })
            try await scene.live(good) { $0.phase == "checking" && $0.state == .running }
            try await scene.write("go")
            #expect(try await scene.end(of: good).state == .completed)
            let bad = try await scene.queue(spec("echo 41") { $0.command = check })
            try await scene.live(bad) { $0.phase == "checking" }
            try await scene.write("go")
            let failed = try await scene.end(of: bad)
            #expect(failed.reason == .ensure)
            #expect(failed.live?.message?.hasSuffix("failed with exit code 1") == true)
            let canceled = try await scene.queue(spec("true") { $0.command = ["sleep", "600"] })
            try await scene.live(canceled) { $0.phase == "checking" }
            try await scene.keeper.cancel(canceled.id)
            #expect(try await scene.end(of: canceled).state == .canceled)
        }
    }

    @Test func `fails when its check can't be started, or takes too long`() async throws {
        try await RunScene.run { scene in
            let missing = try await scene.end(of: scene.queue(spec("true") { $0.command = ["/no/such"] }))
            #expect(missing.reason == .ensure)
            #expect(missing.live?.message?.contains("could not be started") == true)
            let slow = try await scene.end(
                of: scene.queue(
                    spec("true") {
                        $0.command = ["sleep", "600"]
                        $0.timeout = .milliseconds(100)
                    }))
            #expect(slow.live?.message == "the check sleep 600 took longer than 100ms")
        }
    }

    @Test func `is checked again by the next daemon, and its work is not done twice`() async throws {
        let home = try WardenHome()
        var run: RunRecord?
        let job = spec("echo once >> ../count") {
            $0.command = ["sh", "-c", "echo check >> ../count; read l < ../go"]
        }
        try home.makePipe("go")
        try await RunScene.run(in: home) { scene in
            let queued = try await scene.queueStored(job)
            try await home.waitForLines(2, in: "count")
            run = try await scene.run(queued) { $0.live?.workEnd != nil }
        }
        let before = try #require(run)
        try await RunScene.run(in: home, incarnation: 2) { scene in
            try await scene.live(before) { $0.phase == "checking" }
            try await home.release("go")
            #expect(try await scene.end(of: before).state == .completed)
            // The warden knew of the check: it went on.
            #expect(try home.lines(of: "count") == ["once", "check"])
            #expect(try await scene.events(of: before).map(\.type) == [.runStarted, .runCompleted])
        }
    }

    @Test func `is checked again though its performer ended with the daemon`() async throws {
        let home = try WardenHome()
        var run: RunRecord?
        let job = spec("") { $0.command = ["sh", "-c", "read l < ../go"] }.with { $0.bot = "streamer" }
        try home.makePipe("go")
        func scene(_ incarnation: Int64, _ body: (RunScene) async throws -> Void) async throws {
            let clock = ManualClock(now: .now, sinceBoot: .sinceBoot)
            try await RunScene.run(
                in: home, clock: clock, incarnation: incarnation,
                performers: [.stream: StreamPerformer(clock: clock)],
                choosing: { $0.bot == "streamer" ? .stream : $0.performer }, body)
        }
        try await scene(1) { scene in
            run = try await scene.run(scene.queueStored(job)) { $0.live?.workEnd != nil }
        }
        let before = try #require(run)
        try await scene(2) { scene in
            try await scene.live(before) { $0.phase == "checking" }
            try await home.release("go")
            let ended = try await scene.end(of: before)
            #expect(ended.state == .completed && ended.live?.workEnd == nil)
        }
    }

    @Test func `is running while it is checked, though no daemon saw it start`() async throws {
        let home = try WardenHome()
        let clock = ManualClock(now: .now, sinceBoot: .sinceBoot)
        let performer = StreamPerformer(clock: clock)
        var run: RunRecord?
        let job = spec("") { $0.command = ["sh", "-c", "until [ -e ../go ]; do sleep 0.01; done"] }
            .with { $0.bot = "streamer" }
        // As a daemon leaves it that is killed between the order and the commit of the start.
        try await RunScene.run(in: home, launches: false) { scene in
            let queued = try await scene.queueStored(job)
            var move = RunMove(run: queued.id, from: [.queued], attempt: 1, to: .starting)
            move.process = ProcessMark(pid: 0, startTime: 0, boot: try scene.boot())
            try await scene.ledger.commit([.moveRun(move)])
            run = queued
        }
        let before = try #require(run)
        performer.start(
            .process(
                ProcessOrder(
                    key: RunKey(run: before.id, attempt: 1), work: .shell(""),
                    output: ProcessOrder.Output(path: home.folder.file("none")))))
        try await RunScene.run(
            in: home, clock: clock, incarnation: 2, performers: [.stream: performer],
            choosing: { $0.bot == "streamer" ? .stream : $0.performer }
        ) { scene in
            let checked = try await scene.run(before) { $0.live?.workEnd != nil }
            #expect(checked.state == .running && checked.startedAt != nil)
            try await scene.live(before) { $0.phase == "checking" && $0.state == .running }
            try scene.open("go")
            #expect(try await scene.end(of: before).state == .completed)
            #expect(try await scene.events(of: before).map(\.type) == [.runStarted, .runCompleted])
        }
    }
}
