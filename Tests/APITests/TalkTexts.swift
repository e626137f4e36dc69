import API
import ArgumentParser
import Delivery
import Grouping
import Ledger
import TerminalView
import Testing
import Timeline
import Tracking

@testable import belfry

@Suite struct `a list of messages` {
    private func message(_ text: String, from: String = "bot", of bot: String = "sage") -> WireMessage {
        WireMessage(
            id: "1", bot: bot, thread: "main", from: from, text: text, at: Timestamp(Moment(seconds: 60)))
    }

    @Test func `has the first words of each on one line, and a mark where nobody has read it`() {
        var reply = message("# Today\n\nLook at **the tape**.\u{1B}[31m")
        #expect(MessageText.preview(of: reply, glyphs: true) == "● Today Look at the tape.")
        #expect(MessageText.preview(of: reply, glyphs: false) == "* Today Look at the tape.")
        reply.read = true
        #expect(MessageText.preview(of: reply, glyphs: true) == "  Today Look at the tape.")
        reply.title = "News"
        #expect(MessageText.preview(of: reply, glyphs: true) == "  News: Today Look at the tape.")
    }

    @Test func `shows who asked, and what is no bot's text as it is`() {
        #expect(MessageText.preview(of: message("a *b* c", from: "user"), glyphs: true) == "● you: a *b* c")
        #expect(MessageText.preview(of: message("a *b* c", of: "belfry"), glyphs: true) == "● a *b* c")
        let long = message(String(repeating: "word ", count: 100_000))
        #expect(MessageText.preview(of: long, glyphs: true).count <= 102)
    }
}

@Suite struct `a bot in words` {
    @Test func `has its latency in milliseconds below a second`() {
        var bot = WireBot(name: "sage", backend: "openai")
        #expect(BotText.latency(bot) == nil)
        (bot.firstWordMs, bot.latencyMs) = (85, 4200)
        #expect(BotText.latency(bot) == "last reply: first word after 85 ms, complete after 4 s")
    }
}

@Suite struct `a bot that is made by flags` {
    @Test func `has its program, how that prints, and its memory as in a file`() throws {
        let options = try BotOptions.parse([
            "--backend", "command", "--output", "claude", "--memory", "/srv/memory.md", "--command", "my-bot",
            "-p",
            "--brief",
        ])
        let settings = try options.draft().settings
        #expect(settings["backend"]?.text == "command" && settings["output"]?.text == "claude")
        #expect(settings["command"]?.elements.compactMap(\.text) == ["my-bot", "-p", "--brief"])
        #expect(settings["memory"]?.text == "/srv/memory.md")
        #expect(try BotOptions.parse(["--memory", "none"]).draft().settings["memory"] == .null)
        #expect(
            try BotOptions.parse(["--memory", "m.md"]).draft().settings["memory"]?.text?.hasPrefix("/")
                == true)
    }

    @Test func `runs in a sandbox of these folders, with these variables`() throws {
        let options = try BotOptions.parse([
            "--backend", "claude", "--read", "/srv/a", "--read", "b", "--write", "/srv/c", "--network", "yes",
            "--inherit", "AWS_*",
        ])
        let settings = try options.draft().settings
        let sandbox = try #require(settings["sandbox"])
        let paths = sandbox["read"]?.elements.compactMap(\.text) ?? []
        #expect(paths.first == "/srv/a" && paths.last?.hasPrefix("/") == true && paths.count == 2)
        #expect(sandbox["write"] == .array([.string("/srv/c")]) && sandbox["network"]?.text == "yes")
        #expect(settings["inherit"] == .array([.string("AWS_*")]))
        // An emptied list leaves a sandbox, which only its own flag removes.
        #expect(try BotOptions.parse(["--read", "none"]).draft().settings["sandbox"]?["read"] == .array([]))
        #expect(try BotOptions.parse(["--sandbox", "none"]).draft().settings["sandbox"] == .null)
        #expect(throws: (any Error).self) {
            try BotOptions.parse(["--sandbox", "none", "--network", "no"]).validate()
        }
    }
}

@Suite struct `the words of belfry why` {
    private func verdict(_ reason: String, _ type: EventType, action: String = "send") -> WireVerdict {
        var verdict = WireVerdict(
            at: Timestamp(Moment(seconds: 0)), event: 1, action: action, stage: "route", reason: reason)
        verdict.type = type.rawValue
        verdict.run = "backup#12"
        verdict.channel = "desk"
        if action == "send" { verdict.delivery = WireDelivery(state: "delivered") }
        return verdict
    }

    private func decision(_ reason: String, _ type: EventType, action: String = "send") -> String {
        VerdictWords.decision(of: verdict(reason, type, action: action), Screen(color: .never))
    }

    @Test func `name an event alike where its item is shown and where it is sent`() {
        #expect(VerdictWords.subject(of: verdict("failed", .runFailed)) == "backup#12 failed")
        #expect(decision(RingReason.failed.rawValue, .runFailed) == "sent: the job failed")
        #expect(decision(RunReason.exitCode.rawValue, .runFailed) == "sent: the job failed")
        #expect(decision(RingReason.recovered.rawValue, .runRecovered) == "sent: the job recovered")
        #expect(decision("completed", .runCompleted) == "sent: the run completed")
        #expect(decision(RunReason.canceled.rawValue, .runCanceled) == "sent: the run was cancelled")
    }

    @Test func `say that a notice was sent only once it was`() {
        func decision(_ state: String?, _ waitsFor: String? = nil, error: String? = nil) -> String {
            var verdict = verdict("failed", .runFailed)
            verdict.delivery = state.map { WireDelivery(state: $0) }
            verdict.delivery?.waitsFor = waitsFor
            verdict.delivery?.error = error
            return VerdictWords.decision(of: verdict, Screen(color: .never))
        }
        #expect(decision("delivered") == "sent: the job failed")
        #expect(decision(nil) == "routed to desk: the job failed")
        #expect(decision("waits") == "routed to desk; under way (the job failed)")
        #expect(
            decision("waits", "away", error: "no desktop here")
                == "routed to desk; waits: no desktop here (the job failed)")
        #expect(
            decision("waits", "channelFailing", error: "status 500")
                == "routed to desk; waits: again soon, its channel fails (status 500) (the job failed)")
        #expect(decision("replaced") == "replaced by a later version: the job failed")
        #expect(decision("withdrawn") == "taken back before it was shown: the job failed")
        #expect(decision("dead", error: "status 410") == "not delivered: status 410 (the job failed)")
        #expect(decision("expired") == "not delivered in time (the job failed)")
        #expect(decision("discarded") == "discarded by hand: the job failed")
    }

    @Test func `name the reason of a channel, of the daemon and of a stage`() {
        #expect(decision(DeliveryReason.timeout.rawValue, .channelFailing) == "sent: no answer in time")
        #expect(decision(DaemonReason.room.rawValue, .ledgerRestored) == "sent: the disk has room again")
        #expect(
            decision(DispatchReason.noRoute.rawValue, .runFailed, action: "suppress")
                == "not sent: no route names it")
        #expect(decision(RingReason.sameFailure.rawValue, .runFailed).hasPrefix("sent silently: "))
    }
}

@Suite struct `the table of runs` {
    private func missing() -> WireRun {
        var run = WireRun(job: "foo", state: .failed, reason: .notFound)
        let task = LiveTask(id: "1", botID: "belfry", run: "foo#1", name: "foo", botName: "belfry")
        var live = LiveState(task: task, attempt: 1, seq: 1, state: .failed, updatedAt: Moment(seconds: 60))
        live.message = MissingProgram("foo", in: "/usr/bin:/bin").sentence
        run.live = WireLive(live, at: Moment(seconds: 60))
        (run.queuedAt, run.endedAt) = (Timestamp(Moment(seconds: 50)), Timestamp(Moment(seconds: 60)))
        return run
    }

    @Test func `names a program that is nowhere; where it was looked for stands in run show`() {
        #expect(RunText.state(missing()) == "failed: no program \"foo\"")
        #expect(RunText.why(missing()) == "no program \"foo\" in /usr/bin:/bin")
    }

    @Test func `has the sentence of a failure, which stands below the end of a run that is followed`() {
        var run = missing()
        (run.reason, run.startedAt) = (.auth, Timestamp(Moment(seconds: 55)))
        let sentence = "sage: api.example.org refused the key (401); check bots.sage.key"
        run.live?.message = sentence
        #expect(RunText.sentence(run) == sentence && RunText.detail(run) == "the provider refused the key")
        let screen = Screen(color: .never)
        #expect(
            RunText.table([run], screen).lines(screen, empty: "").last?.contains("failed: \(sentence)")
                == true)
        // What a job said last is no reason, and one that never began has its sentence in the line itself.
        (run.reason, run.exitCode) = (.exitCode, 3)
        #expect(RunText.sentence(run) == nil)
        #expect(RunText.sentence(missing()) == nil)
    }

    @Test func `shows what a run waits for, and how many are before it`() {
        func words(_ kind: WaitKind, _ name: String? = nil, _ before: Int? = nil) -> String? {
            var run = WireRun(job: "foo", state: .queued, reason: kind.reason)
            run.waitsFor = WireWait(kind: kind, name: name, before: before)
            return RunText.detail(run)
        }
        #expect(words(.lane, "sage", 2) == "waits for sage, 2 before it")
        #expect(words(.lane, "sage") == "waits for sage")
        #expect(words(.overlap, "foo", 1) == "waits for the run before it")
        #expect(words(.concurrency, "gpu", 1) == "waits for other runs with the key gpu, 1 before it")
        #expect(words(.retry) == "waits for the next attempt")
        #expect(words(.network, "sage") == "waits to reach sage again")
        #expect(words(.network) == "waits for the network")
        var blocked = WireRun(job: "foo", state: .blocked)
        blocked.waitsFor = WireWait(kind: .question, name: "0190-0000-12345678")
        #expect(
            RunText.detail(blocked)
                == "waits for an answer: belfry answer 12345678")
        blocked.waitsFor = WireWait(kind: .auth)
        #expect(RunText.detail(blocked) == "waits for a login")
    }

    @Test func `has a time for a run that never started`() {
        var run = missing()
        #expect(RunText.when(run)?.moment == Moment(seconds: 60))
        run.endedAt = nil
        #expect(RunText.when(run)?.moment == Moment(seconds: 50))
        run.startedAt = Timestamp(Moment(seconds: 55))
        #expect(RunText.when(run)?.moment == Moment(seconds: 55))
    }
}
