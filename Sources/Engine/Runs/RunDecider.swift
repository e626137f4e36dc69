import Delivery
import Ledger
import Performing
import Timeline
import Tracking

/// The next step of a run, decided by what happened to it.
///
/// Pure: a run and a fact in, one step out.
struct RunDecider {
    /// This boot of the machine.
    var boot: String
    /// The month of the calendar that a moment lies in, as ``BotMonth`` names it.
    var month: MonthLookup = { CalendarMonth($0, in: .utc).text }

    static let alive: Set<RunState> = [.starting, .running, .blocked, .paused, .stalled]
    /// After this long at the latest a process of the attempt before is looked for again.
    static let leftoverInterval: Duration = .seconds(10)

    // MARK: Before it starts

    /// The run is about to be started, and is ours from now on.
    ///
    /// Written before the order is sent, so that a crash between the two shows.
    ///
    /// One that answers people is given what they said, up to a row of `reply`.
    func claim(_ run: RunRecord, _ reply: ReplyPrompt? = nil) -> RunStep {
        var move = RunMove(run, from: [.queued], to: .starting)
        move.nextToken = run.token + 1
        move.process = ProcessMark(pid: 0, startTime: 0, boot: boot)
        var step = RunStep(run: run, move: move, effects: [.start])
        if let reply, let thread = run.spec?.thread {
            step.talk = [
                .giveMessages(
                    bot: run.bot, thread: thread, run: run.id, through: reply.through, at: reply.at)
            ]
        }
        return step
    }

    /// A run that somebody else started, an earlier daemon as a rule, is ours from now on.
    func adopt(_ run: RunRecord) -> RunStep {
        var move = RunMove(run, from: [run.state], to: run.state, reason: run.reason)
        move.nextToken = run.token + 1
        let key = RunKey(run: run.id, attempt: run.attempt)
        return RunStep(run: run, move: move, effects: [.ask(key)])
    }

    /// Nobody knows any more what it should do, as `text` says: it can't be started, and must not wait for ever.
    func unstartable(_ run: RunRecord, text: String, at now: Moment) -> RunStep {
        leave(run, RunOutcome(.failed, .spawnFailed), message: text, at: now)
    }

    /// Somebody ends a run that has not been started.
    func withdrawn(_ run: RunRecord, at now: Moment) -> RunStep {
        leave(run, RunOutcome(.canceled, run.endAsked ?? .canceled), at: now)
    }

    private func leave(
        _ run: RunRecord, _ outcome: RunOutcome, message: String? = nil, at now: Moment
    ) -> RunStep {
        let from: Set<RunState> = run.isParked ? [.blocked] : [.scheduled, .queued]
        var move = RunMove(run, from: from, to: outcome.state, reason: outcome.reason)
        move.endedAt = now
        let fact = outcome.fact(of: Fact.Run(run), message: message)
        var step = RunStep(
            run: run, move: move, events: [NewEvent(fact, at: now)], effects: [.end(outcome)])
        // It was to answer all that was said: nothing of it asks for another run, and it comes with what is said next.
        if let thread = run.spec?.thread {
            step.talk = [.giveMessages(bot: run.bot, thread: thread, run: run.id, through: .max, at: now)]
        }
        return step
    }

    // MARK: What the performer reports

    /// The performer started a `starting` run; `clockChange` is how far the clock was set since it began
    /// to wait.
    func started(
        _ run: RunRecord, _ process: StartedProcess?, at moment: Moment, clockChange: Duration = .zero
    ) -> RunStep {
        var move = RunMove(run, from: [.starting], to: .running)
        move.process = process.map { ProcessMark(pid: $0.pid, startTime: $0.startTime, boot: boot) }
        var attempt = AttemptRecord(run: run.id, n: run.attempt, state: .running)
        attempt.startedAt = moment
        let events = begin(run, at: moment, clockChange, &move)
        return RunStep(run: run, move: move, attempt: attempt, events: events)
    }

    /// The performer could not start it; `waited` is how long the attempt has waited for what those before it left
    /// running.
    func refused(
        _ run: RunRecord, _ refusal: Refusal, text: String, outlook: Outlook = Outlook(),
        waited: Duration = .zero, at now: Moment
    ) -> RunStep {
        let reason: RunReason
        let noMore = outlook.withoutChance
        switch refusal {
        case .notFound: reason = .notFound
        case .notExecutable: reason = .notExecutable
        case .badFolder: reason = .badDirectory
        case .noSuchUser:
            return end(run, RunOutcome(.failed, .badUser), at: now, message: text, outlook: noMore)
        case .badOrder, .tooLong, .badInput, .notPermitted:
            return end(run, RunOutcome(.failed, .spawnFailed), at: now, message: text, outlook: noMore)
        case .badOutput, .exhausted, .other: reason = .spawnFailed
        case .stillAlive: return postponed(run, text: text, outlook: outlook, waited: waited, at: now)
        }
        return end(run, RunOutcome(.failed, reason), at: now, message: text, outlook: outlook)
    }

    /// Its attempt has ended; `waited` is how long ago the run was queued, whatever the clock on the wall showed
    /// meanwhile.
    func ended(
        _ run: RunRecord, _ record: ExitRecord, outlook: Outlook = Outlook(), clockChange: Duration = .zero,
        waited: Duration? = nil
    ) -> RunStep {
        var record = record
        let isFollower = run.spec?.followedProcess != nil
        if isFollower, record.signal == FollowedProcess.unknownEnd { record = record.withoutStatus }
        var outcome = RunOutcome(record)
        if outcome.state == .canceled, let why = run.endAsked { outcome.reason = why }
        let waited = waited ?? record.end - run.queuedAt
        if ReplyRun.hasExpired(run, record.fault, waited: waited) { outcome.reason = .expired }
        var step = end(
            run, outcome, at: record.end, record: record, outlook: outlook, clockChange: clockChange,
            waited: waited)
        step.effects.append(.acknowledge(record.key))
        return step
    }

    /// The performer knows nothing of it.
    ///
    /// An attempt of a performer that does not survive the daemon ended with it, however far it was. Else in this boot a
    /// `starting` run was never started, and waits again. What ran, or was started in another boot, is lost: nobody can
    /// say how it ended. One that never was started, and that somebody wants ended, is at its end.
    ///
    /// `printed` is what the attempt of such a performer had printed.
    func vanished(
        _ run: RunRecord, survivesTheDaemon: Bool = true, printed: [UInt8] = [],
        outlook: Outlook = Outlook(), at now: Moment
    ) -> RunStep {
        guard survivesTheDaemon else {
            if let why = run.endAsked {
                return end(run, RunOutcome(.canceled, why), at: now, outlook: outlook)
            }
            let waited = now - run.queuedAt
            if ReplyRun.hasExpired(run, nil, isCutBeforeOutput: printed.isEmpty, waited: waited) {
                return end(run, RunOutcome(.failed, .expired), at: now, outlook: outlook.withoutChance)
            }
            return end(
                run, RunOutcome(.lost, .streamCut), at: now, record: ExitRecord(cut: run, printed, at: now),
                outlook: outlook, isCutBeforeOutput: printed.isEmpty)
        }
        let isThisBoot = run.process?.boot == boot
        guard run.state == .starting, isThisBoot else {
            let reason: RunReason = isThisBoot ? .wardenLost : .hostRestarted
            return end(run, RunOutcome(.lost, reason), at: now, outlook: outlook)
        }
        if let why = run.endAsked { return end(run, RunOutcome(.canceled, why), at: now) }
        return RunStep(run: run, move: RunMove(run, from: [.starting], to: .queued), effects: [.wait])
    }

    /// The job reported that it waits for a person, or goes on; or it fell silent, or reported again.
    ///
    /// Where the ledger has the question (`isAsked`), the event that it was asked says all there is to say.
    func reported(
        _ run: RunRecord, _ live: LiveState, isAsked: Bool = false, at now: Moment
    ) -> RunStep? {
        guard live.state != run.state, [.running, .blocked, .stalled].contains(live.state) else { return nil }
        let move = RunMove(run, from: Self.alive.subtracting([.starting]), to: live.state)
        var step = RunStep(run: run, move: move, live: live)
        if live.state == .blocked, !isAsked {
            let fact = Fact.runBlocked(Fact.Blocked(Fact.Run(run), kind: live.blockedKind))
            step.events.append(NewEvent(fact, at: now))
        }
        return step
    }

    /// Somebody stops its processes for a while.
    func paused(_ run: RunRecord, _ live: LiveState?) -> RunStep {
        let move = RunMove(run, from: [.running, .blocked, .stalled], to: .paused)
        let key = RunKey(run: run.id, attempt: run.attempt)
        return RunStep(run: run, move: move, live: live, effects: [.pause(key)])
    }

    /// It goes on after a pause.
    func resumed(_ run: RunRecord, _ live: LiveState?) -> RunStep {
        let move = RunMove(run, from: [.paused], to: live?.state == .blocked ? .blocked : .running)
        let key = RunKey(run: run.id, attempt: run.attempt)
        return RunStep(run: run, move: move, live: live, effects: [.resume(key)])
    }

    /// Its work, which began at `start`, has ended well, and a program is to check it; of an adopted run this may be the
    /// first that is known of its start.
    func checking(
        _ run: RunRecord, _ live: LiveState?, since start: Moment, clockChange: Duration = .zero
    ) -> RunStep {
        let isNew = run.state == .starting
        var move = RunMove(
            run, from: Self.alive, to: isNew ? .running : run.state, reason: isNew ? nil : run.reason)
        let events = begin(run, at: start, clockChange, &move)
        var attempt: AttemptRecord?
        if isNew {
            attempt = AttemptRecord(run: run.id, n: run.attempt, state: .running)
            attempt?.startedAt = start
        }
        return RunStep(
            run: run, move: move, attempt: attempt, live: live, events: events, effects: [.check])
    }

    /// The script before it decided that its bot is asked.
    func woken(_ run: RunRecord, _ live: LiveState?) -> RunStep {
        let move = RunMove(run, from: [.starting], to: .starting, reason: run.reason)
        return RunStep(run: run, move: move, live: live, effects: [.start])
    }

    /// The script before it found nothing to do, as `text` says.
    func skipped(_ run: RunRecord, text: String, at now: Moment) -> RunStep {
        let outcome = RunOutcome(.skipped, .nothingToDo)
        var move = RunMove(run, from: [.starting], to: outcome.state, reason: outcome.reason)
        move.endedAt = now
        let fact = Fact.runSkipped(Fact.End(Fact.Run(run), reason: outcome.reason, message: text))
        return RunStep(run: run, move: move, events: [NewEvent(fact, at: now)], effects: [.end(outcome)])
    }

    /// The script before it may be at work: it waits for its turn, and the warden knows of the script then.
    func waitsAgain(_ run: RunRecord) -> RunStep {
        RunStep(run: run, move: RunMove(run, from: [.starting], to: .queued), effects: [.wait])
    }

    // MARK: The end of an attempt

    private func end(
        _ run: RunRecord, _ outcome: RunOutcome, at now: Moment, record: ExitRecord? = nil,
        message: String? = nil, outlook: Outlook = Outlook(), clockChange: Duration = .zero,
        waited: Duration? = nil, isCutBeforeOutput: Bool = false
    ) -> RunStep {
        // The clock may have gone back since.
        let now = max(now, record?.startedAt ?? run.startedAt ?? now)
        var attempt = AttemptRecord(of: run, outcome, record, at: now)
        attempt.usage = record?.usage
        let next = outlook.chance?.moment(
            after: outcome, of: run, exitCode: record?.exitCode, fault: record?.fault,
            isCutBeforeOutput: isCutBeforeOutput, at: now, waited: waited)
        var move = RunMove(
            run, from: Self.alive, to: next == nil ? outcome.state : .queued,
            reason: next == nil ? outcome.reason : .retryWait)
        var events = record.map { begin(run, at: $0.startedAt, clockChange, &move) } ?? []
        if let next {
            move.nextAttempt = run.attempt + 1
            move.notBefore = next
        } else {
            let fact = close(&move, run, outcome, record, message: message, outlook, at: now)
            events.append(NewEvent(fact, at: now))
        }
        // Of a reply that a person saw come, what there is of it is kept.
        let isCut = next == nil && run.spec?.thread != nil && record?.partialReply != nil
        let isPosted = outcome.state == .completed || isCut
        let post = isPosted ? record.flatMap { OutputPost(run, $0, outlook)?.record } : nil
        if let post {
            // A reply goes where the bot's messages go.
            let channel = record?.reply == nil ? outlook.spec?.outputChannel : nil
            events.append(NewEvent(.messagePosted(post.fact(to: channel)), at: now))
        }
        if let usage = record?.usage { move.usage = run.usage.map { $0 + usage } ?? usage }
        let reply =
            record.flatMap {
                outlook.isPrompt ? BotReply(run, $0, outcome, month: month(now), at: now) : nil
            }
            ?? missingProgram(of: run, outcome, message, outlook, at: now)
        var step = RunStep(
            run: run, move: move, attempt: attempt, reply: reply, post: post, events: events,
            effects: [next == nil ? .end(outcome) : .wait])
        let isSettled = post != nil || next == nil && ReplyRun.isSettled(by: outcome)
        step.talk = talk(of: run, outcome, record, isSettled: isSettled)
        return step
    }

    /// The run has no other attempt: what its row keeps of the end, and the fact of it.
    private func close(
        _ move: inout RunMove, _ run: RunRecord, _ outcome: RunOutcome, _ record: ExitRecord?,
        message: String?, _ outlook: Outlook, at now: Moment
    ) -> Fact {
        move.endedAt = now
        if let record { move.add(record) }
        let output = record.flatMap { outcome.state == .completed ? nil : LastOutput($0, outlook) }
        move.outputTail = output?.tail
        return outcome.fact(
            of: Fact.Run(run), message: message ?? record?.fault?.shown(outlook) ?? output?.cause,
            circumstances: outcome.circumstances(record, outlook))
    }

    /// What the end of an attempt means for the conversation that it was to answer; `isSettled`: though there may be no
    /// reply, what was said is not asked again.
    private func talk(
        of run: RunRecord, _ outcome: RunOutcome, _ record: ExitRecord?, isSettled: Bool
    ) -> [Change] {
        var talk: [Change] = []
        // Also of a reply that failed afterwards: it need not be made again.
        if let summary = record?.summary {
            talk.append(
                .keepSummary(
                    summary.text, bot: run.bot, thread: run.spec?.thread ?? run.job, through: summary.through)
            )
        }
        guard let thread = run.spec?.thread else { return talk }
        // What was not answered stays unanswered: it comes again with the next message.
        if outcome.state == .completed || isSettled {
            talk.append(.answerMessages(bot: run.bot, thread: thread))
        }
        if let session = record?.session {
            talk.append(.keepSession(session, bot: run.bot, thread: thread))
        }
        return talk
    }

    /// What an attempt shows of a bot whose program could not be started; nil: it is another end.
    private func missingProgram(
        of run: RunRecord, _ outcome: RunOutcome, _ text: String?, _ outlook: Outlook, at now: Moment
    ) -> BotReply? {
        guard outlook.isPrompt, let reason = outcome.reason, [.notFound, .notExecutable].contains(reason)
        else { return nil }
        return BotReply(
            bot: run.bot, month: month(now), at: now, outcome: .failed(reason, text))
    }

    /// A process of the attempt before still runs: this one waits, and is given up when the next slot comes first, or
    /// when the job's own time for them ends.
    private func postponed(
        _ run: RunRecord, text: String, outlook: Outlook, waited: Duration, at now: Moment
    ) -> RunStep {
        guard run.endAsked == nil, let chance = outlook.chance,
            let wait = chance.spec.wait(afterWaiting: waited), let moment = chance.isInTime(now + wait)
        else {
            let noMore = outlook.withoutChance
            return end(run, RunOutcome(.failed, .leftovers), at: now, message: text, outlook: noMore)
        }
        var move = RunMove(run, from: [.starting], to: .queued, reason: .retryWait)
        move.notBefore = moment
        return RunStep(run: run, move: move, effects: [.wait])
    }

    /// What is recorded when the run's first attempt starts; nothing at the later ones.
    func begin(
        _ run: RunRecord, at moment: Moment, _ clockChange: Duration, _ move: inout RunMove
    ) -> [NewEvent] {
        guard run.startedAt == nil else { return [] }
        move.startedAt = moment
        move.queueDelay = max(.zero, moment - run.queuedAt - clockChange)
        return [NewEvent(.runStarted(Fact.Run(run)), at: moment)]
    }
}

extension ExitRecord {
    /// What is left of an attempt that ended with the daemon; nil: it printed nothing.
    fileprivate init?(cut run: RunRecord, _ printed: [UInt8], at now: Moment) {
        guard !printed.isEmpty, let start = run.attemptStart ?? run.startedAt else { return nil }
        self.init(
            key: RunKey(run: run.id, attempt: run.attempt), cause: .lost, startedAt: start, endedAt: now,
            outputBytes: printed.count)
        outputTail = Array(printed.suffix(Self.tailLimit))
    }
}

extension RunRecord {
    /// When the attempt began that the run is at; nil: it did not, or nobody knows.
    fileprivate var attemptStart: Moment? { live?.startedAt ?? (attempt == 1 ? startedAt : nil) }
}

extension AttemptRecord {
    /// The attempt that the run is at, which ended so.
    init(of run: RunRecord, _ outcome: RunOutcome, _ record: ExitRecord?, at end: Moment) {
        self.init(run: run.id, n: run.attempt, state: outcome.state)
        reason = outcome.reason
        startedAt = record?.startedAt ?? run.attemptStart
        endedAt = end
        exitCode = record?.exitCode
        signal = record?.signal
        outputBytes = record.map { Int64($0.outputBytes) }
    }
}

extension BotReply {
    /// What the end of a run's attempt says about its bot; nil: nothing was tried, or nobody knows how it ended.
    init?(
        _ run: RunRecord, _ record: ExitRecord, _ outcome: RunOutcome, month: String, at now: Moment
    ) {
        let end: Outcome
        switch outcome.state {
        case .completed: end = .replied(first: record.firstWord, whole: record.elapsed)
        case .canceled: end = .canceled
        case .lost: return nil
        default:
            guard record.fault?.wasTried ?? true else { return nil }
            end =
                record.fault?.isOfReply == true
                ? .replied(first: record.firstWord, whole: record.elapsed)
                : .failed(outcome.reason ?? .exitCode, record.fault?.text)
        }
        self.init(bot: run.bot, month: month, at: now, usage: record.usage, outcome: end)
    }
}

extension RunMove {
    /// Adds how the last attempt ended, and what it used.
    fileprivate mutating func add(_ record: ExitRecord) {
        exitCode = record.exitCode
        signal = record.signal
        outputBytes = Int64(record.outputBytes)
        cpu = record.cpu
        maxRssKb = record.maxResidentKiB.map(Int64.init)
        survivors = record.leftProcesses
    }
}

extension JobSpec {
    /// Between two looks at processes that are being ended.
    private static let shortWait: Duration = .seconds(1)

    /// Whether what earlier attempts left running is to be ended now that the next one has `waited` for it.
    func endsLeftovers(afterWaiting waited: Duration) -> Bool {
        leftovers.then == .end && waited >= leftovers.wait
    }

    /// When to look again for what earlier attempts left running; nil: the run is given up.
    ///
    /// What is being ended has the job's grace, and then as long as the warden takes to kill it.
    fileprivate func wait(afterWaiting waited: Duration) -> Duration? {
        if waited < leftovers.wait { return min(RunDecider.leftoverInterval, leftovers.wait - waited) }
        guard leftovers.then == .end else { return nil }
        return waited < leftovers.wait + grace + RunDecider.leftoverInterval ? Self.shortWait : nil
    }
}
