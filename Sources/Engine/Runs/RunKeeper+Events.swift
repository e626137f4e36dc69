import Grouping
import Ledger
import Logging
import Performing
import Timeline
import Tracking

// What performers report, and what jobs report of themselves.

extension RunKeeper {
    func apply(
        _ event: PerformerEvent, from link: PerformerLink, into steps: inout [RunStep]
    ) async {
        let now = clock.now
        switch event {
        // Of the programs before and after an attempt only the end counts.
        case .started(let key, _, _) where !key.isAttempt: break
        case .refused(let key, let refusal, let text) where !key.isAttempt:
            await programEnded(key, .refused(refusal, text: text), into: &steps)
        case .ended(let record) where !record.key.isAttempt:
            await programEnded(record.key, .ended(record), into: &steps)
        case .started(let key, let process, let moment):
            await started(key, process, at: moment, from: link, into: &steps)
        case .refused(let key, let refusal, let text):
            guard let run = known(key) else { return }
            logger.warning(
                "a run could not be started", metadata: ["run.id": "\(run.name)", "reason": "\(text)"])
            await end(run, .refused(refusal, text: text), into: &steps)
        case .output(let key, _, let bytes):
            await receive(key, at: now, into: &steps) { await $0.scan(bytes, of: key.run, at: now) }
        case .report(let key, let line, let number):
            await receive(key, at: now, into: &steps) {
                await $0.receive(line: line, numbered: number, of: key, at: now)
            }
        case .progress(let key, let report):
            await receive(key, at: now, into: &steps) { await $0.receive(report, of: key.run, at: now) }
        case .notify(let key, let datagrams, let number):
            for datagram in datagrams.compactMap({ NotifyDatagram($0[...]) }) {
                // First: once the report is saved it is not repeated.
                if let question = datagram.question, let run = known(key) { await ask(question, in: run) }
                await receive(key, at: now, into: &steps) {
                    await $0.receive(datagram.report, numbered: number, of: key, at: now)
                }
            }
        case .ended(let record): await ended(record, from: link, into: &steps)
        case .unknown(let key):
            // An answer to an earlier question says nothing of an attempt that was ordered since.
            guard runs.active[key.run]?.isAsked == true, let run = known(key) else { return }
            await end(run, .vanished, into: &steps)
        case .inputTaken: break  // The keeper sends no input.
        case .caughtUp: caughtUp(link)
        case .disconnected: link.disconnected()
        }
    }

    /// The script before an attempt, or the check after it, has ended.
    private func programEnded(_ key: RunKey, _ end: AttemptEnd, into steps: inout [RunStep]) async {
        if let attempt = key.woken { await woke(attempt, end, by: key, into: &steps) }
        if let attempt = key.checked { await checked(attempt, end, by: key, into: &steps) }
    }

    /// Records what the board makes of a report, where it is of a run that is ours.
    private func receive(
        _ key: RunKey, at now: Moment, into steps: inout [RunStep],
        _ report: (LiveBoard) async -> LiveState?
    ) async {
        guard known(key) != nil else { return }
        record(await report(board), at: now, into: &steps)
    }

    /// The performer has reported all that it knew when the connection was made.
    private func caughtUp(_ link: PerformerLink) {
        for question in runs.active.questions(for: link.kind) { link.send(question) }
        for request in runs.active.pauses(for: link.kind) { link.send(request) }
        guard link.kind == .warden else { return }
        repeatChecks()
        repeatWakeScripts()
    }

    /// The attempt's run, which its performer has just reported; nil when it is none of ours, or when its end is about
    /// to be committed, so that it is too late for all else.
    private func known(_ key: RunKey) -> RunRecord? { isLeaving(key) ? nil : runs.active.known(key) }

    private func isLeaving(_ key: RunKey) -> Bool { runs.active[key.run]?.isLeaving == true }

    // MARK: Starts and ends

    private func started(
        _ key: RunKey, _ process: StartedProcess?, at moment: Moment, from link: PerformerLink,
        into steps: inout [RunStep]
    ) async {
        guard !isLeaving(key) else { return }
        guard let run = runs.active.known(key) else {
            return readRow(of: key, from: link, then: .cancel(key, reason: "unknown run"))
        }
        // Its reports, or its end, may come in this very turn, and must find it started.
        if run.state == .starting || run.state == .running {
            await board.become(.running, reason: nil, of: key.run, at: clock.now)
        }
        orders.started(key.run)
        guard run.state == .starting else { return }
        let step = decider.started(run, process, at: moment, clockChange: clockChange(since: key.run))
        add(step, to: &steps)
    }

    private func ended(_ record: ExitRecord, from link: PerformerLink, into steps: inout [RunStep]) async {
        let key = record.key
        guard !isLeaving(key) else { return }
        guard let run = runs.active.known(key) else {
            return readRow(of: key, from: link, then: .acknowledge(key))
        }
        link.strays.forget(key)
        await end(run, .ended(record), into: &steps)
    }

    /// The attempt is in nobody's hand: its row shows whether it has ended, and then the answer may be given.
    private func readRow(of key: RunKey, from link: PerformerLink, then answer: PerformerRequest) {
        link.strays.note(key, answer)
        rows.add([.changed(key.run)])
    }

    /// Releases the run's attempts that have ended.
    func release(_ run: String, _ row: RunRecord?) {
        for link in performers.all { link.release(run, row) }
    }

    /// The attempt of a run has ended; while the ledger can't be read, nobody knows whether another one follows, and it
    /// is decided later.
    func end(
        _ run: RunRecord, _ reported: AttemptEnd, isEnsured: Bool = false, into steps: inout [RunStep]
    ) async {
        var end = reported
        if case .vanished = end, let record = checkedWork(of: run) { end = .ended(record) }
        if case .ended(var record) = end, end.isSuccess, run.endAsked == nil, let waiting = record.parked {
            if waiting.call == nil || waiting.call != run.live?.parked?.call {
                return append(await park(run, record, waiting), to: &steps)
            }
            // It goes on for ever where nobody is asked.
            record.fault = AttemptFault(
                .malformed, "\(run.bot): the call that was answered was put off again", mayPass: false)
            end = .ended(record)
        }
        if !isEnsured, case .ended(let record) = end, end.isSuccess {
            guard let ensured = await ensured(run, record, into: &steps) else { return }
            end = .ended(ensured)
        }
        guard let outlook = await outlook(of: run, at: end) else { return }
        let now = clock.now
        switch end {
        case .refused(let refusal, let text):
            let waited = refusal == .stillAlive ? orders.waitedForLeftovers(of: run.id) : .zero
            let step = decider.refused(run, refusal, text: text, outlook: outlook, waited: waited, at: now)
            steps.append(await closing(step, saying: text))
        case .vanished:
            let survives =
                runs.active[run.id].map { performers[$0.performer].performer.survivesTheDaemon } ?? true
            let path = orders.places.output(of: run.id, job: run.job, attempt: run.attempt)
            // One that never began has no file.
            let printed = survives ? [] : (try? specs.files.readOutput(path, Self.longestReply)) ?? []
            let step = decider.vanished(
                run, survivesTheDaemon: survives, printed: printed, outlook: outlook, at: now)
            steps.append(await closing(step))
        case .ended(var record):
            if let text = record.fault?.text {
                record.fault?.text = outlook.hidden?.hide(in: text) ?? HiddenTexts.reason
            }
            let change = clockChange(since: run.id)
            let step = decider.ended(
                run, record, outlook: outlook, clockChange: change, waited: now - run.queuedAt - change)
            append(
                await closing(step, after: record.elapsed, saying: record.fault?.shown(outlook)), to: &steps)
        }
    }

    /// No reply is longer, in bytes: see `BotCall`.
    private static let longestReply = 32 << 20

    /// What is known of the job of a run whose attempt has ended; nil: it is decided later, as the ledger can't be read.
    private func outlook(of run: RunRecord, at end: AttemptEnd) async -> Outlook? {
        var outlook = Outlook()
        do throws(LedgerError) {
            if end.isSuccess {
                outlook.spec = runs.active[run.id]?.spec
                if outlook.spec == nil { outlook.spec = try await specs.spec(of: run) }
            } else {
                outlook = try await specs.outlook(of: run)
            }
        } catch .damaged(_, let detail) {
            // To read it again would not help: without the job's rules there is no other attempt.
            logger.error(
                "the rules of a run can't be read",
                metadata: ["run.id": "\(run.name)", "reason": "\(detail)"])
        } catch {
            owe(end, of: run, because: error)
            return nil
        }
        outlook.hidden = runs.active[run.id]?.secrets?.hidden
        if end.isSuccess, outlook.spec?.outputMessage == .all { outlook.output = output(of: run) }
        return outlook
    }

    /// Decides the end of an attempt later: the ledger can't be read.
    func owe(_ end: AttemptEnd, of run: RunRecord, because error: LedgerError) {
        unrecorded.add(end, of: RunKey(run: run.id, attempt: run.attempt))
        runs.active[run.id]?.isUndecided = true
        unrecorded.note(error)
    }

    /// The end of work that an earlier daemon was checking when it ended, of a performer that ended with it; nil: there
    /// is none.
    private func checkedWork(of run: RunRecord) -> ExitRecord? {
        guard let entry = runs.active[run.id], !performers[entry.performer].performer.survivesTheDaemon,
            let live = run.live, live.attempt == run.attempt, let work = live.workEnd
        else { return nil }
        var record = ExitRecord(run, resuming: work)
        // What a bot replies is its output.
        if entry.performer == .bots { record.reply = String(decoding: output(of: run), as: UTF8.self) }
        return record
    }

    /// The beginning of what the run's attempt printed; nothing where that can't be read.
    private func output(of run: RunRecord) -> [UInt8] {
        let path = orders.places.output(of: run.id, job: run.job, attempt: run.attempt)
        do {
            return try specs.files.readOutput(path, OutputMessage.longest)
        } catch {
            logger.warning(
                "the output of a run can't be read",
                metadata: ["run.id": "\(run.name)", "reason": "\(error)"])
            return []
        }
    }

    /// Appends the end of an attempt, as one step with its start where that is in this turn, too.
    private func append(_ end: RunStep, to steps: inout [RunStep]) {
        if let place = steps.lastIndex(where: { $0.run.id == end.run.id }),
            let both = steps[place].followed(by: end)
        {
            steps[place] = both
        } else {
            steps.append(end)
        }
    }

    /// Decides the ends of attempts that could not be decided when they were reported.
    func decideOwedEnds(into steps: inout [RunStep]) async {
        for (key, end) in unrecorded.takeEnds() {
            guard let run = runs.active[key.run]?.record, run.attempt == key.attempt, !isLeaving(key) else {
                continue
            }
            await self.end(run, end, into: &steps)
        }
    }

    // MARK: Reports of jobs

    /// Records which jobs have been silent for too long, or speak again.
    func noteSilences(into steps: inout [RunStep]) async {
        let now = clock.now
        for live in await board.refresh(at: now) { record(live, at: now, into: &steps) }
    }

    /// Records that a run's state changed by what its job reported, or by its silence.
    func record(
        _ live: LiveState?, at now: Moment, isAsked: Bool = false, into steps: inout [RunStep]
    ) {
        guard let live, let run = runs.active[live.task.id]?.record,
            let step = decider.reported(run, live, isAsked: isAsked, at: now)
        else { return }
        add(step, to: &steps)
    }

    func add(_ step: RunStep, to steps: inout [RunStep]) {
        runs.active[step.run.id]?.record = step.after
        steps.append(step)
    }

    /// How far the clock on the wall was set since the run began to wait, as far as this daemon saw.
    func clockChange(since run: String) -> Duration {
        runs.active[run]?.since?.change(until: ClockReading(of: clock)) ?? .zero
    }

    // MARK: Runs that wait for the answer to a question

    /// The runs that wait for the answer to a question, by id; those that did, or were left waiting by an earlier daemon
    /// (`before`), and are not among them go on.
    func setAsking(_ runs: Set<String>, before: Set<String> = []) {
        asking.shown.formUnion(before)
        guard runs != asking.due || !before.isEmpty else { return }
        asking.due = runs
        loop.bell.ring()
    }

    /// Shows which runs wait for an answer; what a run that has not started yet asks is shown once it has.
    func noteQuestions(into steps: inout [RunStep]) async {
        guard asking.due != asking.shown else { return }
        let now = clock.now
        for id in asking.shown.subtracting(asking.due) {
            asking.shown.remove(id)
            // What is parked goes on by itself.
            if parked[id] != nil { continue }
            record(
                await board.receive(ProgressReport(word: .working), of: id, at: now), at: now, into: &steps)
        }
        for id in asking.due.subtracting(asking.shown) {
            guard let state = runs.active[id]?.record.state, state != .starting else { continue }
            let blocked = ProgressReport(word: .blocked(.question))
            record(
                await board.receive(blocked, of: id, at: now), at: now, isAsked: true, into: &steps)
            asking.shown.insert(id)
        }
    }
}

/// The runs with open questions: those that should be shown as waiting, and those that are.
struct AskingRuns {
    var due: Set<String> = []
    var shown: Set<String> = []
}

// What jobs ask by datagrams.

extension RunKeeper {
    /// So many questions of a run are open at once: a job in a loop buries nobody.
    private static let mostAsked = 16

    /// Asks a person for a run, once for each key; the run goes on.
    ///
    /// It is written at once, apart from the run's own steps: the same datagram again, or the job by that key, finds it.
    func ask(_ asked: ReportedQuestion, in run: RunRecord) async {
        let (id, now) = (ReportedQuestion.id(of: asked.key, in: run.id), clock.now)
        var question = Question(id: id, bot: run.bot, text: asked.text, choices: asked.choices, askedAt: now)
        question.run = run.name
        question.takesText = asked.choices.isEmpty
        question.fallback = asked.fallback
        question.deadline = asked.openFor.map { now + $0 }
        do throws(LedgerError) {
            guard try await ledger.question(id: id) == nil else { return }
            let open = try await ledger.openQuestions()
            guard open.count(where: { $0.run == run.id }) < Self.mostAsked else {
                return logger.notice(
                    "what a job asked is left out: it asks too much", metadata: ["run.id": "\(run.name)"])
            }
            _ = try await ledger.commitUnlessFenced(QuestionRecord(question, run: run.id).asking())
        } catch {
            logger.error(
                "what a job asked could not be recorded",
                metadata: ["run.id": "\(run.name)", "reason": "\(error)"])
        }
    }
}
