import Ledger
import Performing
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite struct `the end of an attempt to have a bot reply` {
    private let usage = BotUsage(inputTokens: 10, outputTokens: 5, costMicros: 70)

    private var run: RunRecord {
        var run = RunRecord(
            id: "r", job: "news", bot: "sage", kind: .manual, cause: "key:1", state: .running,
            queuedAt: at("10:00:00"), revision: 1)
        run.startedAt = at("10:00:01")
        return run
    }

    private func outlook(attempts: Int = 1) -> Outlook {
        var spec = JobSpec.manual("news")
        spec.action = .prompt("What is new?")
        spec.attempts = attempts
        return Outlook(spec: spec, chance: RetryChance(spec: spec, nextSlot: nil))
    }

    private func record(_ cause: ExitRecord.Cause = .exited, fault: AttemptFault? = nil) -> ExitRecord {
        var record = ExitRecord(
            key: RunKey(run: "r", attempt: 1), cause: cause, exitCode: fault == nil ? 0 : nil,
            startedAt: at("10:00:01"), endedAt: at("10:00:05"), elapsed: .seconds(4))
        record.usage = usage
        record.firstWord = .seconds(1)
        record.fault = fault
        return record
    }

    private let decider = RunDecider(boot: "b", month: { _ in "2026-11" })

    @Test func `records what it used, for the attempt, the run and the bot's month`() {
        let step = decider.ended(run, record(), outlook: outlook())
        #expect(step.after.usage == usage && step.attempt?.usage == usage)
        #expect(step.reply?.bot == "sage" && step.reply?.month == "2026-11" && step.reply?.usage == usage)
        #expect(step.reply?.outcome == .replied(first: .seconds(1), whole: .seconds(4)))
        #expect(step.changes.contains { if case .recordReply = $0 { true } else { false } })
    }

    @Test func `adds up over the attempts of a run, also of one that fails`() {
        let fault = AttemptFault(.truncated, "sage: cut", mayPass: true)
        let first = decider.ended(run, record(fault: fault), outlook: outlook(attempts: 2))
        #expect(first.move.to == .queued && first.after.usage == usage)
        #expect(first.reply?.outcome == .failed(.truncated, "sage: cut"))
        var second = first.after
        second.state = .running
        let end = decider.ended(second, record(.canceled), outlook: outlook())
        #expect(end.after.usage == usage + usage && end.reply?.outcome == .canceled)
    }

    @Test func `shows a bot that works where the provider ended a reply early`() {
        var early = AttemptFault(.truncated, "sage: ended the reply at its largest size")
        early.isOfReply = true
        let step = decider.ended(run, record(fault: early), outlook: outlook())
        #expect(step.move.to == .failed && step.move.reason == .truncated)
        #expect(step.reply?.outcome == .replied(first: .seconds(1), whole: .seconds(4)))
    }

    @Test func `shows that the bot's program does not exist`() {
        var starting = run
        starting.state = .starting
        let text = "sage: no program \"nocmd\""
        func reply(_ outlook: Outlook, _ refusal: Refusal = .notFound) -> BotReply? {
            decider.refused(starting, refusal, text: text, outlook: outlook, at: at("10:00:05")).reply
        }
        #expect(reply(outlook())?.outcome == .failed(.notFound, text))
        #expect(reply(outlook(), .notExecutable)?.outcome == .failed(.notExecutable, text))
        #expect(reply(outlook(), .exhausted) == nil)
        #expect(reply(Outlook(spec: .manual("news"))) == nil)
    }

    @Test func `records nothing of the bot where it was not asked`() {
        let untried = AttemptFault(.budget, "sage: no", wasTried: false)
        #expect(decider.ended(run, record(fault: untried), outlook: outlook()).reply == nil)
        let command = Outlook(spec: .manual("news"))
        #expect(decider.ended(run, record(), outlook: command).reply == nil)
        #expect(decider.ended(run, record(.lost), outlook: outlook()).reply == nil)
    }
}

@Suite struct `a month of the calendar` {
    @Test func `begins by the clocks of its zone`() throws {
        let berlin = try #require(machineZones("Europe/Berlin"))
        let late = try Moment(iso8601: "2026-11-30T23:30:00Z")
        #expect(CalendarMonth(late, in: .utc).text == "2026-11")
        #expect(CalendarMonth(late, in: berlin).text == "2026-12")
        let month = CalendarMonth(late, in: berlin)
        #expect(month.name == "December" && month.next.text == "2027-01")
        #expect(try month.next.start(in: berlin) == Moment(iso8601: "2026-12-31T23:00:00Z"))
        #expect(CalendarMonth(month.next.start(in: berlin), in: berlin) == month.next)
    }
}
