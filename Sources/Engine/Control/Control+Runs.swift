import Delivery
import Grouping
package import Ledger
import Logging
import Timeline
import Tracking

extension Control {
    /// Runs a job now.
    ///
    /// With a `key`, asking again answers with the run that the key made before.
    package func runNow(
        _ job: String, force: Bool, key: String?
    ) async throws(EngineError) -> RunRecord {
        let cause = key.map(RunCause.key) ?? RunCause.request(makeID())
        return try await run(RequestedRun(job: job, kind: .manual, cause: cause, force: force))
    }

    /// Runs a job for a delivery of a hook; a repetition answers with the run that the first made.
    package func run(_ job: String, byHook delivery: String) async throws(EngineError) -> RunRecord {
        try await run(RequestedRun(job: job, kind: .hook, cause: RunCause.hook(delivery)))
    }

    /// Runs a command that belongs to no job, under a name of its own.
    ///
    /// What it brings along is kept in memory until it has ended, never in the ledger. With an `id`, asking again
    /// answers with the run that the id made before. A job's name is refused, so that the run is none of the
    /// job's; unless `isNamed`, when it runs as `NAME.exec`.
    package func exec(
        _ spec: JobSpec, id: String? = nil, isNamed: Bool = true, _ loan: ExecLoan
    ) async throws(EngineError) -> RunRecord {
        if let fault = JobName.fault(in: spec.name) { throw .invalid("\"\(spec.name)\": \(fault)") }
        var spec = spec
        let cause = RunCause.exec(id ?? makeID())
        let known =
            id == nil
            ? nil : try await read { () async throws(LedgerError) in try await ledger.run(cause: cause) }
        if let known {
            // Sent again: a job of that name may have been added since.
            spec.name = known.job
        } else if await slots.isJob(spec.name) {
            guard !isNamed else { throw .jobsName(spec.name) }
            spec.name = Self.execName(beside: spec.name)
            if await slots.isJob(spec.name) { throw .jobsName(spec.name) }
        }
        await runs.lend(loan, to: cause)
        spec.environment = [:]
        do throws(EngineError) {
            let run = try await run(
                RequestedRun(job: spec.name, kind: .exec, cause: cause, force: true, spec: spec))
            if run.state.isEnded { await runs.takeBack(from: cause) }
            return run
        } catch {
            await runs.takeBack(from: cause)
            throw error
        }
    }

    /// What a command is filed under whose own name is a job's.
    static func execName(beside job: String) -> String { job.prefix(58) + ".exec" }

    /// Makes a new run of the same job as one that has ended.
    package func retry(_ run: RunRecord) async throws(EngineError) -> RunRecord {
        guard run.state.isEnded else { throw .notEnded(run: run.name) }
        guard run.kind != .reply else { throw .answered(run: run.name, bot: run.bot) }
        guard run.spec == nil else {
            throw .notRepeatable(run: run.name)
        }
        let again = try await self.run(
            RequestedRun(
                job: run.job, kind: .manual, cause: RunCause.request(makeID()), retryOf: run.id))
        await acknowledge(run, by: "run retry")
        return again
    }

    /// Ends a run: at once when it waits, by TERM, grace and KILL when it is under way.
    ///
    /// Returns when the word is given, not when the process has ended.
    package func cancel(_ run: RunRecord) async throws(EngineError) {
        guard !run.state.isEnded else { throw .ended(run: run.name, state: run.state.rawValue) }
        try await runs.cancel(run.id)
        await acknowledge(run, by: "run cancel")
    }

    /// Whoever does something about a job has seen how it is.
    ///
    /// What was asked for is done already, and is not reported as failed because this could not be noted.
    private func acknowledge(_ run: RunRecord, by what: String) async {
        let key = ItemKey.job(run.job)
        do throws(EngineError) {
            let record = try await read { () async throws(LedgerError) in try await ledger.item(key) }
            guard record != nil else { return }
            try await note(Fact.Reading("\(key)", bot: run.bot, through: clock.now, by: what))
        } catch {
            logger.warning(
                "an acknowledgement could not be noted",
                metadata: ["item": "\(key)", "by": "\(what)", "error": "\(error)"])
        }
    }

    /// Stops the processes of a run, or has them continue.
    ///
    /// Returns once that is in the ledger; a repeated request changes nothing.
    package func setPaused(_ isPaused: Bool, _ run: RunRecord) async throws(EngineError) {
        guard !run.state.isEnded else { throw .ended(run: run.name, state: run.state.rawValue) }
        try await runs.setPaused(isPaused, run.id)
    }

    /// The run called `JOB#N`.
    package func run(named job: String, _ ordinal: Int) async throws(EngineError) -> RunRecord {
        let run = try await read { () async throws(LedgerError) in
            try await ledger.run(job: job, ordinal: ordinal)
        }
        guard let run else { throw .noSuchRun("\(job)#\(ordinal)") }
        return run
    }

    func run(_ request: RequestedRun) async throws(EngineError) -> RunRecord {
        switch try await slots.request(request) {
        case .queued(let run), .known(let run): return run
        case .busy(let runs): throw .busy(job: request.job, runs: runs)
        case .noSuchJob: throw .noSuchJob(request.job)
        }
    }
}

extension Control {
    /// The run under a name that is no job's: nobody can be asked for another one any more.
    package func filed(_ run: RunRecord) async -> RunRecord {
        var run = run
        if await slots.isJob(run.job) { run.job = Self.execName(beside: run.job) }
        return run
    }

    /// Takes in a run that was done without a daemon: its row and the event of its end, in one transaction.
    ///
    /// Its id, its cause and its end are set; the ledger gives the ordinal.
    /// - Returns: false when its cause made a run before.
    package func takeIn(_ run: RunRecord) async throws(EngineError) -> Bool {
        precondition(run.state.isEnded, "only what has ended can be taken in")
        do throws(LedgerError) {
            if try await ledger.run(id: run.id) != nil { return false }
            var attempt = AttemptRecord(run: run.id, n: run.attempt, state: run.state)
            attempt.reason = run.reason
            attempt.startedAt = run.startedAt
            attempt.endedAt = run.endedAt
            attempt.exitCode = run.exitCode
            attempt.signal = run.signal
            let outcome = RunOutcome(run.state, run.reason)
            try await ledger.commit([
                .insertRun(run, orIgnore: false), .putAttempt(attempt),
                .append(
                    NewEvent(outcome.fact(of: Fact.Run(run)), at: run.endedAt ?? clock.now)),
            ])
            return true
        } catch {
            if case .fenced = error { return false }
            throw .ledger(error)
        }
    }
}

/// Work that a bot hands to another one.
package struct Subtask: Hashable, Sendable {
    /// The id of the run that hands it out.
    let parent: String
    /// Names the call and the place in it: made again after a crash, it is handed out once.
    let call: String
    /// The bot that hands it out.
    let asker: String
    let prompt: String

    package init(parent: String, call: String, by asker: String, _ prompt: String) {
        (self.parent, self.call, self.asker, self.prompt) = (parent, call, asker, prompt)
    }

    /// A run of it is tried so often: one that ended with the daemon is asked again.
    private static let attempts = 4

    /// The name that the runs of a bot have which others ask for.
    package static func job(of bot: String) -> String { bot.prefix(53) + ".delegated" }

    /// The beginning of the causes of what a call hands out.
    package static func cause(_ call: String) -> String { RunRecord.delegated + call }

    fileprivate func spec(for bot: String) -> JobSpec {
        var spec = JobSpec(
            name: Self.job(of: bot), bot: bot, action: .prompt(prompt),
            schedule: ScheduleSpec(kind: .manual, text: "", zone: "UTC"))
        (spec.overlap, spec.notify) = (.queueAll, .never)
        (spec.attempts, spec.retriesLost, spec.backoff) = (Self.attempts, true, .seconds(1))
        return spec
    }
}

extension Control {
    /// Has a bot do a part of another one's work; asked for again, the run is the same.
    package func delegate(_ subtask: Subtask, to bot: String) async throws(EngineError) -> RunRecord {
        guard let profile = activeConfiguration.configuration.bots[bot] else { throw .noSuchBot(bot) }
        guard profile.contact != nil else { throw .silentBot(bot) }
        let request = RequestedRun(
            job: Subtask.job(of: bot), kind: .delegated, cause: Subtask.cause(subtask.call), force: true,
            spec: subtask.spec(for: bot))
        return try await run(request)
    }
}

/// What a person asks for by a button on a notice of a job.
package enum JobPress: Hashable, Sendable {
    /// The run that a notice is about; nil: slots that never got one.
    package struct Run: Hashable, Sendable {
        package var job: String
        package var ordinal: Int?

        package init(job: String, ordinal: Int?) { (self.job, self.ordinal) = (job, ordinal) }
    }

    /// The job is to run once more.
    case runAgain(Run)
    /// The run is to end.
    case cancel(Run)
    /// The processes of the run are to stop, or to go on.
    case setPaused(Bool, Run)
}

extension Control {
    /// Does what a button asks for; a refusal is logged, as nobody waits for an answer.
    package func act(on press: JobPress) async {
        do throws(EngineError) {
            switch press {
            case .cancel(let run):
                guard let ordinal = run.ordinal else { return }
                try await cancel(try await self.run(named: run.job, ordinal))
            case .setPaused(let isPaused, let run):
                guard let ordinal = run.ordinal else { return }
                try await setPaused(isPaused, try await self.run(named: run.job, ordinal))
            case .runAgain(let run):
                let made = try await runAgain(run)
                logger.info("run requested by a button", metadata: ["run": "\(made.name)"])
            }
        } catch {
            logger.notice("request of a button rejected", metadata: ["reason": "\(error)"])
        }
    }

    private func runAgain(_ run: JobPress.Run) async throws(EngineError) -> RunRecord {
        guard let ordinal = run.ordinal else { return try await runNow(run.job, force: false, key: nil) }
        return try await retry(try await self.run(named: run.job, ordinal))
    }
}
