import Delivery
import Ledger
import Performing
import Testing
import Timeline
import Tracking
import WardenProtocol

@testable import Engine

@Suite struct `another attempt` {
    let now = at("10:00:00")

    private func chance(
        attempts: Int = 3, nextSlot: Moment? = nil, _ change: (inout JobSpec) -> Void = { _ in }
    ) -> RetryChance {
        RetryChance(
            spec: JobSpec.manual("job").with {
                $0.attempts = attempts
                $0.action = .command(["true"])
                change(&$0)
            }, nextSlot: nextSlot)
    }

    private func run(attempt: Int = 1, id: String = "r") -> RunRecord {
        var run = RunRecord(
            id: id, job: "job", bot: "belfry", kind: .manual, cause: "key:1", state: .running,
            queuedAt: now, revision: 1)
        run.attempt = attempt
        return run
    }

    @Test(
        arguments: [
            (RunState.failed, RunReason.exitCode, 1, true), (.failed, .exitCode, 127, true),
            (.failed, .signal, nil, true), (.timedOut, .timeout, nil, true),
            (.failed, .spawnFailed, nil, true),
            (.failed, .notFound, nil, false), (.failed, .notExecutable, nil, false),
            (.failed, .badDirectory, nil, false), (.failed, .badUser, nil, false),
            (.canceled, .canceled, nil, false), (.canceled, .replaced, nil, false),
            (.lost, .wardenLost, nil, false), (.completed, nil, 0, false),
        ] as [(RunState, RunReason?, Int?, Bool)])
    func `follows a failure that may pass`(state: RunState, reason: RunReason?, code: Int?, isTried: Bool) {
        let outcome = RunOutcome(state, reason)
        let moment = chance().moment(after: outcome, of: run(), exitCode: code, at: now)
        #expect((moment != nil) == isTried)
        #expect(chance(attempts: 1).moment(after: outcome, of: run(), exitCode: code, at: now) == nil)
    }

    @Test(arguments: [(126, false), (127, false), (1, true), (128, true)])
    func `does not follow a command that the shell could not find or execute`(code: Int, isTried: Bool) {
        let shell = chance { $0.action = .shell("nothing") }
        let moment = shell.moment(after: RunOutcome(.failed, .exitCode), of: run(), exitCode: code, at: now)
        #expect((moment != nil) == isTried)
    }

    @Test func `follows a loss only where the job asks for it`() {
        let outcome = RunOutcome(.lost, .wardenLost)
        let moment = chance { $0.retriesLost = true }.moment(
            after: outcome, of: run(), exitCode: nil, at: now)
        #expect(moment != nil)
    }

    @Test func `of a prompt follows what its provider says may pass, though the job asks for none`() {
        let outcome = RunOutcome(.failed, .rateLimited)
        func moment(
            _ fault: AttemptFault, attempt: Int = 1, of chance: RetryChance? = nil
        ) -> Moment? {
            (chance ?? self.chance(attempts: 1) { $0.action = .prompt("Hi") })
                .moment(after: outcome, of: run(attempt: attempt), exitCode: nil, fault: fault, at: now)
        }
        func fault(_ reason: RunReason, wait: Duration? = nil) -> AttemptFault {
            var fault = AttemptFault(reason, "", mayPass: true, wait: wait)
            fault.isOfProvider = true
            return fault
        }
        let busy = fault(.overloaded)
        #expect(moment(busy).map { (.seconds(2.5)...(.seconds(5))).contains($0 - now) } == true)
        #expect(moment(busy, attempt: 5).map { (.seconds(40)...(.seconds(80))).contains($0 - now) } == true)
        #expect(moment(busy, attempt: 6) == nil)
        #expect(moment(AttemptFault(.auth, "")) == nil)
        // What its job wants of the reply is no matter of the provider's.
        #expect(moment(AttemptFault(.ensure, "", mayPass: true)) == nil)
        let limited = fault(.rateLimited, wait: .seconds(3600))
        #expect(moment(limited) == now + .seconds(3600))
        // The next slot asks the same.
        let soon = chance(attempts: 1, nextSlot: now + .seconds(600)) { $0.action = .prompt("Hi") }
        #expect(moment(limited, of: soon) == nil)
        // Where the job asks for attempts, those count; and only a prompt has a provider.
        let own = chance(attempts: 2) { $0.action = .prompt("Hi") }
        #expect(moment(busy, of: own) != nil && moment(busy, attempt: 2, of: own) == nil)
        #expect(moment(busy, of: chance(attempts: 1)) == nil)
        let once = chance(attempts: 1) { ($0.action, $0.isTriedOnce) = (.prompt("Hi"), true) }
        #expect(moment(busy, of: once) == nil)
    }

    @Test func `does not follow the last one, nor a run to be canceled`() {
        let outcome = RunOutcome(.failed, .exitCode)
        #expect(chance().moment(after: outcome, of: run(attempt: 2), exitCode: 1, at: now) != nil)
        #expect(chance().moment(after: outcome, of: run(attempt: 3), exitCode: 1, at: now) == nil)
        var asked = run()
        asked.endAsked = .canceled
        #expect(chance().moment(after: outcome, of: asked, exitCode: 1, at: now) == nil)
    }

    @Test func `waits twice as long each time, at least half of it, and never beyond an hour`() {
        let patient = chance(attempts: 100) { $0.backoff = .seconds(10) }
        for attempt in 1...99 {
            let whole = min(10 * (1 << min(attempt - 1, 20)), 3600)
            for number in 0..<20 {
                let run = run(attempt: attempt, id: "run-\(number)")
                let moment = patient.moment(
                    after: RunOutcome(.failed, .exitCode), of: run, exitCode: 1, at: now)
                let wait = (moment ?? now) - now
                #expect(wait >= .seconds(whole) / 2 && wait <= .seconds(whole))
            }
        }
    }

    @Test func `waits as long as it was asked to, and a month at most`() {
        for (asked, waited) in [(90_000, 90_000), (9_000_000, 31 * 86_400)] as [(Int64, Int64)] {
            let fault = AttemptFault(.rateLimited, "busy", mayPass: true, wait: .seconds(asked))
            let moment = chance().moment(
                after: RunOutcome(.failed, .rateLimited), of: run(), exitCode: nil, fault: fault, at: now)
            #expect(moment == now + .seconds(waited))
        }
    }

    @Test func `waits no longer than its own wait, whatever a clock that was set makes of its moment`() {
        let spec = chance { $0.backoff = .seconds(90) }.spec
        #expect(RetryChance.longestWait(after: 1, of: spec) == .seconds(90))
        #expect(RetryChance.longestWait(after: 3, of: spec) == .seconds(360))
        #expect(RetryChance.longestWait(after: 50, of: spec) == .seconds(3600))
        // A process of the attempt before may be waited for.
        let quick = chance { $0.backoff = .seconds(1) }.spec
        #expect(RetryChance.longestWait(after: 1, of: quick) == RunDecider.leftoverInterval)
        #expect(RetryChance.longestWait(after: 1, of: nil) == .seconds(3600))
    }

    @Test func `comes at other moments for other runs, and at the same for the same`() {
        let moments = (0..<100).map {
            chance().moment(
                after: RunOutcome(.failed, .exitCode), of: run(id: "run-\($0)"), exitCode: 1, at: now)
        }
        #expect(Set(moments).count > 90)
        let again = chance().moment(
            after: RunOutcome(.failed, .exitCode), of: run(id: "run-7"), exitCode: 1, at: now)
        #expect(moments[7] == again)
    }

    @Test func `never begins at or after the next slot`() {
        let outcome = RunOutcome(.failed, .exitCode)
        let moment = chance().moment(after: outcome, of: run(), exitCode: 1, at: now)
        let wait = (moment ?? now) - now
        for (slot, isTried) in [(now + wait, false), (now + wait + .microseconds(1), true)] {
            let bound = chance(nextSlot: slot).moment(after: outcome, of: run(), exitCode: 1, at: now)
            #expect((bound != nil) == isTried)
        }
    }

    @Test func `is the run's, which is reported as failed once`() throws {
        let decider = RunDecider(boot: "this boot")
        let record = ExitRecord(
            key: RunKey(run: "r", attempt: 1), cause: .exited, exitCode: 3, pid: 7, startedAt: now,
            endedAt: now + .seconds(5))
        let first = decider.ended(run(), record, outlook: Outlook(chance: chance(attempts: 2)))
        #expect(first.after.state == .queued && first.after.reason == .retryWait)
        #expect(first.after.attempt == 2 && first.after.exitCode == nil)
        #expect(try #require(first.after.notBefore) > record.endedAt)
        #expect(first.events == [.runStarted] && first.effects == [.wait, .acknowledge(record.key)])
        var again = first.after
        again.state = .running
        let last = decider.ended(again, record, outlook: Outlook(chance: chance(attempts: 2)))
        #expect(last.after.state == .failed && last.after.exitCode == 3 && last.events == [.runFailed])
        #expect(last.attempts.map(\.n) == [2] && first.attempts.map(\.state) == [.failed])
    }

    @Test func `waits while a process of the one before lives, but not beyond the next slot`() {
        let decider = RunDecider(boot: "this boot")
        var starting = run(attempt: 2)
        starting.state = .starting
        let waits = decider.refused(
            starting, .stillAlive, text: "pid 7", outlook: Outlook(chance: chance()), at: now)
        #expect(waits.after.state == .queued && waits.after.attempt == 2 && waits.events.isEmpty)
        let late = chance(nextSlot: now + .seconds(5))
        let over = decider.refused(
            starting, .stillAlive, text: "pid 7", outlook: Outlook(chance: late), at: now)
        #expect(over.after.state == .failed && over.after.reason == .leftovers)
    }

    @Test(arguments: [
        (LeftoverPolicy.Step.end, [0: 10, 25: 5, 30: 1, 49: 1], 50),
        (.fail, [0: 10, 25: 5], 30),
    ])
    func `waits for such a process as long as the job allows, and no longer`(
        then: LeftoverPolicy.Step, waits: [Int: Int], end: Int
    ) {
        let decider = RunDecider(boot: "this boot")
        var starting = run(attempt: 2)
        starting.state = .starting
        let chance = chance { $0.leftovers = LeftoverPolicy(wait: .seconds(30), then: then) }
        func step(_ waited: Int) -> RunStep {
            decider.refused(
                starting, .stillAlive, text: "process 7 (sleep) of an earlier attempt still runs",
                outlook: Outlook(chance: chance), waited: .seconds(waited), at: now)
        }
        for (waited, wait) in waits {
            #expect(step(waited).after.notBefore == now + .seconds(wait))
            #expect(chance.spec.endsLeftovers(afterWaiting: .seconds(waited)) == (waited >= 30))
        }
        let over = step(end)
        #expect(over.after.state == .failed && over.after.reason == .leftovers)
        #expect(over.events == [.runFailed])
    }
}

extension RunStep {
    /// The types of its events.
    var events: [EventType] {
        changes.compactMap { if case .append(let event) = $0 { event.type } else { nil } }
    }

    /// The attempts it writes.
    var attempts: [AttemptRecord] {
        changes.compactMap { if case .putAttempt(let attempt) = $0 { attempt } else { nil } }
    }
}
