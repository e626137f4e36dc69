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

    @Test func `waits as long when the daemon ended before its bot said anything`() {
        var outlook = Outlook(spec: spec)
        outlook.chance = RetryChance(spec: spec, nextSlot: nil)
        func after(attempt: Int, hasOutput: Bool = false, _ seconds: Int64) -> RunMove {
            RunDecider(boot: "b").vanished(
                run(attempt: attempt, .running), survivesTheDaemon: false, hasOutput: hasOutput,
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

    @Test func `takes what it was to answer with it when it never begins`() {
        let decider = RunDecider(boot: "b")
        #expect(talk(decider.withdrawn(run(), at: at("10:00:01"))) == ["giveMessages sage/main to r"])
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
