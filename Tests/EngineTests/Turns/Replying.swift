import Grouping
import Ledger
import Performing
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite struct `a run that answers people` {
    private let spec = JobSpec(replyIn: "main", of: "sage")

    private func run(_ id: String = "r", attempt: Int = 1, _ state: RunState = .queued) -> RunRecord {
        var run = RunRecord(
            id: id, job: spec.name, bot: "sage", kind: .reply, cause: RunCause.reply("m", from: 1),
            state: state,
            queuedAt: at("10:00:00"), revision: 0)
        run.spec = spec
        run.attempt = attempt
        if state == .running { run.startedAt = run.queuedAt }
        return run
    }

    private func wait(
        after attempt: Int, _ reason: RunReason, mayPass: Bool = true, at now: Moment = at("10:00:00")
    ) -> Duration? {
        let fault = AttemptFault(reason, "sage failed", mayPass: mayPass)
        return RetryChance(spec: spec, nextSlot: nil).moment(
            after: RunOutcome(.failed, reason), of: run(attempt: attempt), exitCode: nil, fault: fault,
            at: now
        ).map { $0 - now }
    }

    @Test func `is tried again after 5, 10, 20, 40 and 80 seconds, and no more`() {
        #expect(
            (1...6).map { wait(after: $0, .overloaded) } == [5, 10, 20, 40, 80].map { .seconds($0) } + [nil])
        #expect(wait(after: 1, .auth, mayPass: false) == nil)
    }

    @Test func `waits up to a day for a provider that can't be reached`() {
        #expect(wait(after: 9, .botUnavailable) == .seconds(300))
        #expect(wait(after: 200, .botUnavailable, at: at("10:00:00") + .seconds(86_399)) == .seconds(300))
        #expect(wait(after: 200, .botUnavailable, at: at("10:00:00") + .seconds(86_400)) == nil)
    }

    @Test func `waits that day by a clock that nobody sets`() throws {
        let decider = RunDecider(boot: "b")
        let outlook = Outlook(spec: spec, chance: RetryChance(spec: spec, nextSlot: nil))
        func state(ahead: Duration, waited: Duration?) -> RunState {
            let end = at("10:01:00") + ahead
            var record = ExitRecord(
                key: RunKey(run: "r", attempt: 9), cause: .exited, startedAt: end, endedAt: end)
            record.fault = AttemptFault(.botUnavailable, "sage is away", mayPass: true)
            return decider.ended(run(attempt: 9, .running), record, outlook: outlook, waited: waited).after
                .state
        }
        let day = Duration.seconds(86_400)
        #expect(state(ahead: day, waited: .seconds(60)) == .queued)
        #expect(state(ahead: .zero, waited: day) == .failed)
        #expect(state(ahead: day, waited: nil) == .failed)
    }

    @Test func `knows since when it waits at each attempt`() throws {
        var runs = RunsInHand(limits: RunLimits())
        let first = ClockReading(now: at("10:00:00"), sinceBoot: .seconds(100))
        let later = ClockReading(now: at("23:00:00"), sinceBoot: .seconds(105))
        let waiting = Waiting(run(), spec, since: runs.beginWait(of: "r", at: first))
        let secrets = try RunSecrets([:]) { _ in "" }
        runs.active["r"] = ActiveRun(claiming: run(attempt: 1, .starting), spec, secrets, waiting, by: .bots)
        let wasInHand = runs.release("r", keepsTurn: true)
        #expect(wasInHand)
        let again = runs.beginWait(of: "r", at: later)
        #expect(again == first)
        // What it waited for has come: another wait begins with itself.
        let other = runs.beginWait(of: "r", at: later)
        #expect(other == later)
    }

    @Test func `waits as long when the daemon ended before its bot said anything`() {
        var outlook = Outlook(spec: spec)
        outlook.chance = RetryChance(spec: spec, nextSlot: nil)
        func after(attempt: Int, hasOutput: Bool = false, _ seconds: Int64) -> RunMove {
            RunDecider(boot: "b").vanished(
                run(attempt: attempt, .running), survivesTheDaemon: false,
                printed: hasOutput ? Array("Half".utf8) : [],
                outlook: outlook, at: at("10:00:00") + .seconds(seconds)
            ).move
        }
        let next = after(attempt: 200, 86_399)
        #expect(next.to == .queued && next.reason == .retryWait && next.nextAttempt == 201)
        let expired = after(attempt: 2, 86_400)
        #expect(expired.to == .failed && expired.reason == .expired)
        // Of a reply that has begun the attempts count.
        #expect(after(attempt: 5, hasOutput: true, 60).to == .queued)
        let lost = after(attempt: 6, hasOutput: true, 60)
        #expect(lost.to == .lost && lost.reason == .streamCut)
        // What there is of it stays visible.
        #expect(lost.outputTail == "Half" && lost.outputBytes == 4)
    }

    @Test func `comes after the jobs of its bot, and holds up no other bot`() {
        func job(_ id: String, bot: String) -> Waiting {
            let run = RunRecord(
                id: id, job: id, bot: bot, kind: .manual, cause: "key:\(id)", queuedAt: at("10:00:00"),
                revision: 1)
            return Waiting(run, JobSpec.manual(id).with { $0.overlap = .allow })
        }
        var lineup = Lineup()
        for run in [
            Waiting(run("reply"), spec), job("one", bot: "sage"), job("other", bot: "b"),
            job("two", bot: "sage"),
        ] {
            lineup.join(run)
        }
        var order: [String] = []
        while let next = lineup.next(through: Gates()) { order.append(next.id) }
        #expect(order == ["one", "other", "two", "reply"])
    }

    @Test func `is given what was said with its claim, and answers it with its end`() {
        let decider = RunDecider(boot: "b")
        let reply = ReplyPrompt(text: "?", earlier: [], through: 7, at: at("10:00:01"))
        #expect(
            talk(decider.claim(run(), reply)) == ["giveMessages sage/main to r"])
        var record = ExitRecord(
            key: RunKey(run: "r", attempt: 1), cause: .exited, exitCode: 0, startedAt: at("10:00:01"),
            endedAt: at("10:00:05"))
        record.reply = "Yes."
        let outlook = Outlook(spec: spec)
        let step = decider.ended(run(.running), record, outlook: outlook)
        #expect(talk(step) == ["insertMessage r", "answerMessages sage/main"])
        #expect(step.post?.message.thread == "main" && step.post?.message.text == "Yes.")
        record.reply = "<internal>nothing to say</internal>"
        #expect(talk(decider.ended(run(.running), record, outlook: outlook)) == ["answerMessages sage/main"])
    }

    @Test(arguments: ["a", "é", "👩‍👩‍👧"]) func `is a message of 1 MiB at most, and shows where the rest is`(
        letter: String
    ) {
        var record = ExitRecord(
            key: RunKey(run: "r", attempt: 1), cause: .exited, exitCode: 0, startedAt: at("10:00:01"),
            endedAt: at("10:00:05"))
        let whole = String(repeating: letter, count: OutputPost.longestReply / letter.utf8.count)
        record.reply = whole
        let decider = RunDecider(boot: "b")
        let fits = decider.ended(run(.running), record, outlook: Outlook(spec: spec))
        #expect(fits.post?.message.text == whole)
        record.reply = "+" + whole + letter
        let text = decider.ended(run(.running), record, outlook: Outlook(spec: spec)).post?.message.text ?? ""
        let end = "\n\n[The reply is cut here; belfry run logs \(run(.running).name) has more of it]"
        #expect(text.hasSuffix(end) && text.hasPrefix("+" + letter))
        #expect((0..<4).contains(OutputPost.longestReply - (text.utf8.count - end.utf8.count)))
        #expect(!text.unicodeScalars.contains("\u{FFFD}"))
        // Of a very long one no more is looked at than the message can hold.
        record.reply = " \n\n<internal>" + whole + "</internal>" + whole + whole
        let long = decider.ended(run(.running), record, outlook: Outlook(spec: spec)).post?.message.text ?? ""
        #expect(long.hasSuffix(end) && long.hasPrefix(letter) && !long.contains("<internal>"))
    }

    @Test func `keeps the session of its bot's program with its reply, and forgets one that is lost`() {
        let decider = RunDecider(boot: "b")
        let outlook = Outlook(spec: spec)
        var record = ExitRecord(
            key: RunKey(run: "r", attempt: 1), cause: .exited, exitCode: 0, startedAt: at("10:00:01"),
            endedAt: at("10:00:05"))
        (record.reply, record.session) = ("Yes.", .kept(Continuation(provider: "claude", id: "s")))
        #expect(
            talk(decider.ended(run(.running), record, outlook: outlook))
                == ["insertMessage r", "answerMessages sage/main", "keepSession sage/main"])
        (record.reply, record.session) = (nil, .lost)
        record.fault = AttemptFault(.exitCode, "no conversation found", mayPass: true)
        #expect(
            talk(decider.ended(run(.running), record, outlook: outlook)) == ["keepSession sage/main"])
    }

    @Test func `keeps the summary that its bot made, also where the reply failed after it`() {
        let decider = RunDecider(boot: "b")
        var record = ExitRecord(
            key: RunKey(run: "r", attempt: 6), cause: .exited, startedAt: at("10:00:01"),
            endedAt: at("10:00:05"))
        record.summary = TalkSummary("Tea.", through: 7)
        record.fault = AttemptFault(.badRequest, "sage: rejected")
        let step = decider.ended(run(attempt: 6, .running), record, outlook: Outlook(spec: spec))
        #expect(talk(step) == ["keepSummary sage/main"])
    }

    @Test func `takes what it was to answer with it when it never begins`() {
        let decider = RunDecider(boot: "b")
        #expect(talk(decider.withdrawn(run(), at: at("10:00:01"))) == ["giveMessages sage/main to r"])
    }

    @Test(arguments: [RunReason.promptTooLong, .refused, .expired])
    func `settles what its provider will never answer, and what was said too long ago`(reason: RunReason) {
        let step = failing(reason)
        #expect(step.after.state == .failed && step.after.reason == reason)
        #expect(talk(step) == ["answerMessages sage/main"])
        #expect(ReplyRun.isSettled(by: RunOutcome(.failed, reason)))
    }

    @Test(arguments: [RunReason.badRequest, .auth, .model, .truncated, .providerFailed])
    func `leaves what another failure kept from its answer to the next message`(reason: RunReason) {
        #expect(talk(failing(reason)).isEmpty)
        #expect(!ReplyRun.isSettled(by: RunOutcome(.failed, reason)))
    }

    /// The last attempt of the run fails for that reason.
    private func failing(_ reason: RunReason) -> RunStep {
        var record = ExitRecord(
            key: RunKey(run: "r", attempt: 6), cause: .exited, startedAt: at("10:00:01"),
            endedAt: at("10:00:05"))
        record.fault = AttemptFault(reason, "sage: no", mayPass: false)
        return RunDecider(boot: "b").ended(
            run(attempt: 6, .running), record, outlook: Outlook(spec: spec))
    }

    @Test func `holds up no other conversation while it waits for another attempt`() {
        func waiting(_ id: String, in thread: String) -> Waiting {
            var run = run(id)
            run.spec = JobSpec(replyIn: thread, of: "sage")
            return Waiting(run, run.spec)
        }
        var queue = RunQueue()
        let (first, second) = (waiting("first", in: "main"), waiting("second", in: "news"))
        queue.set(first.performer, isReady: true)
        queue.join(first, first: false)
        queue.join(second, first: false)
        // One at a time: the bot has one lane.
        #expect(queue.takeTurns(9, at: .zero).map(\.id) == ["first"])
        #expect(queue.takeTurns(9, at: .zero).isEmpty)
        // As a run that is to be tried again leaves it.
        queue.leave("first", first.places.filter { $0 != .job(first.job) })
        queue.delay(first, until: .seconds(5))
        #expect(queue.takeTurns(9, at: .seconds(1)).map(\.id) == ["second"])
        queue.leave("second", second.places)
        #expect(queue.takeTurns(9, at: .seconds(5)).map(\.id) == ["first"])
    }

    @Test func `rolls the cursor back when nothing was said, and keeps what was`() {
        let decider = RunDecider(boot: "b")
        var record = ExitRecord(
            key: RunKey(run: "r", attempt: 6), cause: .exited, startedAt: at("10:00:01"),
            endedAt: at("10:00:05"))
        record.fault = AttemptFault(.truncated, "sage: the reply ended in the middle", mayPass: true)
        var outlook = Outlook(spec: spec)
        #expect(talk(decider.ended(run(attempt: 6, .running), record, outlook: outlook)).isEmpty)
        record.partialReply = "The first half"
        let step = decider.ended(run(attempt: 6, .running), record, outlook: outlook)
        #expect(talk(step) == ["insertMessage r", "answerMessages sage/main"])
        #expect(
            step.post?.message.text
                == "The first half\n\n[The reply ends here: sage: the reply ended in the middle]")
        // Another attempt says it whole.
        outlook.chance = RetryChance(spec: spec, nextSlot: nil)
        record.key = RunKey(run: "r", attempt: 1)
        #expect(talk(decider.ended(run(.running), record, outlook: outlook)).isEmpty)
    }

    private func run(_ state: RunState) -> RunRecord { run("r", attempt: 1, state) }
    private func run(attempt: Int, _ state: RunState) -> RunRecord { run("r", attempt: attempt, state) }

    private func talk(_ step: RunStep) -> [String] {
        step.changes.filter { $0.station == .talk }.map(\.label)
    }
}
