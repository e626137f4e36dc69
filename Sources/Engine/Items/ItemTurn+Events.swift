import API
import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

// What each kind of event comes to.

extension ItemTurn {
    /// Applies an event: queues it for webhooks, and lets the item it is about decide.
    mutating func apply(_ record: EventRecord) {
        switch record.event.fact {
        case .messagePosted(let post): takeMessage(post, record)
        case .messageRead(let reading): takeRead(reading)
        case .itemDismissed(let dismissal): takeDismissal(dismissal)
        case .runStarted, .runBlocked, .runCompleted, .runFailed, .runCanceled, .runLost, .runSkipped:
            takeRun(record)
        case .runRecovered(let recovery): takeRecovery(recovery, record)
        case .runMissed(let slots): takeSlots(slots, .missed, record)
        case .slotsSkipped(let slots): takeSlots(slots, .skipped, record)
        case .test(let channel?): takeTest(of: channel, record)
        case .channelFailing(let channel): takeChannelNews(.failing, of: channel, record)
        case .channelDisabled(let channel): takeChannelNews(.disabled, of: channel, record)
        case .channelRestored(let channel): takeChannelNews(.restored, of: channel, record)
        case .configReloaded(let reload):
            dispatch(record, words: (reload.sentence, .configuration))
        case .configPartial(let leftOut), .jobLeftOut(let leftOut): takeLeftOut(leftOut, record)
        case .botStatus(let status): takeStatus(status, record)
        case .botBudget(let budget): takeBudget(budget, record)
        case .gatewayJob(let job): takeGatewayJob(job, record)
        case .expectLate(let news), .expectRecovered(let news): takeExpectation(news, record)
        case .questionAsked(let news), .questionAnswered(let news), .questionExpired(let news),
            .questionWithdrawn(let news):
            takeQuestion(news, record)
        case .ledgerFull, .ledgerRestored: takeLedgerNews(record)
        case .clockBack(let back): takeClockNews(back, record)
        case .itemActed(let action): takeAction(action, at: record.event.at)
        case .runLate(let run), .runSlow(let run), .runStuck(let run), .runFlapping(let run):
            takeCharge(of: run, record)
        case .runProgress(let run): takeProgress(of: run, record)
        case .messageGroup, .test, .unknown:
            return
        }
    }

    /// Applies where a run is right now.
    mutating func apply(_ live: LiveState) {
        let id = live.task.id
        let wish = (input.runs[id]?.spec ?? input.specs[id])?.notify
        let (now, fact) = (now, JobFact(live, at: now))
        let policies = jobPolicies.heard(by: wish)
        guard policies.all.hears.contains(.progress) else { return }
        update(.job(live.task.name), bot: live.task.botID, isTick: true) { item in
            item.receive(fact, at: now, policies: policies)
        }
    }

    // MARK: Talk

    private mutating func takeMessage(_ post: Fact.Post, _ record: EventRecord) {
        guard let message = input.messages[post.message]?.message else { return }
        // Whoever replies has read it.
        if message.author == .user {
            endWaits(of: message.itemKey, seenBy: input.messages[post.message]?.sender ?? "a reply")
        }
        let (now, policy) = (now, configuration.bot(message.bot).policy)
        var channel = post.channel
        // What a run printed goes by the routes where its channel no longer exists.
        let isOutput = post.run != nil && !DirectThread.isName(message.thread)
        if isOutput, let name = channel, !configuration.channelNames.contains(name) { channel = nil }
        update(message.itemKey, bot: message.bot, by: record.seq) { item in
            if let channel { item.only = [channel] } else if isOutput { item.only = nil }
            return item.receive(message, at: now, policy: policy)
        }
    }

    private mutating func takeRead(_ reading: Fact.Reading) {
        guard let key = ItemKey(reading.item) else { return }
        // Somebody read an old message: what was said since is still news.
        if let through = reading.through, case .thread(let thread) = item(key, bot: reading.bot).decider,
            let last = thread.last.last, last.at > through
        {
            return
        }
        // The same of a run that a later one has followed.
        if let through = reading.through, case .job(let job) = item(key, bot: reading.bot).decider,
            let report = job.report, report.fact.at > through
        {
            return
        }
        endWaits(of: key, seenBy: reading.by ?? "somebody")
        let now = now
        update(key, bot: reading.bot) { $0.seen(revision: nil, on: nil, at: now) }
    }

    private mutating func takeDismissal(_ dismissal: Fact.Dismissal) {
        guard let key = ItemKey(dismissal.item) else { return }
        endWaits(of: key, seenBy: dismissal.channel ?? "somebody")
        let now = now
        if case .thread(let bot, let thread) = key, let shown = item(key, bot: bot).shown,
            shown.revision == dismissal.revision, case .messages(_, let last) = shown.content,
            let newest = last.last
        {
            changes.append(.markRead(bot: bot, thread: thread, through: newest.at))
        }
        update(key, bot: "belfry") {
            $0.seen(revision: dismissal.revision, on: dismissal.channel, at: now)
        }
    }

    /// Whoever presses a button, or types a reply, has seen it: nobody else need.
    ///
    /// A question is closed by its answer, which may be none.
    private mutating func takeAction(_ action: Fact.Action, at: Moment) {
        guard let key = ItemKey(action.item) else { return }
        if case .question = key { return }
        endWaits(of: key, seenBy: action.channel ?? "somebody")
        guard action.key == NoticeButton.snooze.rawValue, let channel = action.channel else { return }
        let until = at + NoticeButton.snoozeTime
        update(key, bot: OwnThread.bot) { item in
            item.snooze(until: until, on: channel)
            return []
        }
    }

    // MARK: Runs

    private mutating func takeRun(_ record: EventRecord) {
        guard let id = record.event.fact.columns.run, let run = input.runs[id] else { return }
        let judged = verdicts.count
        let spec = run.spec ?? input.specs[id]
        var matter = Matter(record.event, of: run, as: spec)
        var fact = JobFact(record.event, of: run)
        fact.urgency = spec?.urgency ?? configuration.bot(run.bot).urgency
        describe(&matter, spec, job: run.job, bot: run.bot, urgency: fact.urgency)
        if fact.state.isFailure { describeFailure(&matter, fact, of: run) }
        if fact.state == .completed { endWaits(of: .job(run.job)) }
        let shown = dispatch(record, matter, about: .job(run.job)) { turn in
            (
                turn.notice(of: fact, job: run.job, bot: run.bot, icon: spec?.icon),
                turn.object("run", WireRun(run, live: turn.forecast(of: run), at: turn.now))
            )
        }
        if fact.state.isEnded {
            standing.note(matter.topic, isFailing: fact.state.isFailure, by: rules)
        }
        guard matter.wish != .never else { return }
        let sent = informed(by: verdicts[judged...], shown)
        let (now, labels) = (now, matter.topic.labels)
        let only = matter.wish == .always || matter.wish?.names(matter.type) == true ? shown : nil
        let policies = policies(for: matter, JobNews(fact.state), only: only)
        let isListed = fact.state.isEnded && countStorm(fact, of: run, matter, by: record.seq)
        var (wasFailingSince, informed, failures) = (Moment?.none, Set<String>?.none, 0)
        update(.job(run.job), bot: run.bot, by: record.seq) { item in
            item.only = only
            item.labels = labels
            if let spec { item.alertAfter = spec.alertAfter }
            if fact.state.isEnded { item.isListed = isListed }
            (wasFailingSince, informed, failures) = (item.failingSince, item.informed, item.failures)
            return item.receive(fact, at: now, policies: policies, sentTo: sent)
        }
        guard fact.state == .completed, let wasFailingSince else { return }
        let outage = max(.zero, fact.at - wasFailingSince)
        let recovery = Fact.Recovery(
            Fact.Run(run), outage: outage, channels: informed?.sorted(), failures: failures)
        changes.append(.append(NewEvent(.runRecovered(recovery), at: now)))
    }

    /// Completes a failure by how it compares with those before it, and by who knows of them.
    private func describeFailure(_ matter: inout Matter, _ fact: JobFact, of run: RunRecord) {
        let kept = item(.job(run.job), bot: run.bot)
        guard case .job(let job) = kept.decider, job.failures > 0 else { return }
        matter.isSameFailure = job.version(of: fact, at: now, policy: jobPolicy).reason == .sameFailure
        let lost = (input.arrivals[run.id] ?? [:]).filter { $0.value == .lost }.keys
        // Who is notified after a while will be.
        matter.informed = (kept.informed ?? []).union(kept.waiting.keys).subtracting(lost)
    }

    /// Completes what a matter of a job is about: its labels, and how much it disturbs.
    private func describe(
        _ matter: inout Matter, _ spec: JobSpec?, job: String, bot: String, urgency: Urgency?
    ) {
        let item = item(.job(job), bot: bot)
        matter.topic.labels = spec?.labels ?? item.labels
        (matter.shownOn, matter.owedOn) = (item.shownOn, Set(item.owed.keys))
        matter.failures = item.failures + 1
        matter.alertAfter = spec.map(\.alertAfter) ?? item.alertAfter
        guard let urgency else { return }
        let isFailure = matter.topic.urgency == .critical
        matter.topic.urgency = isFailure ? urgency : min(urgency, matter.topic.urgency)
    }

    /// The channels that were notified, or will be in any case: not those where an item may never be shown.
    private func informed(by verdicts: ArraySlice<VerdictRecord>, _ shown: [String]) -> [String] {
        let held = verdicts.filter {
            $0.action == .hold && (levels.contains($0.channel) || $0.stage == .escalation)
        }.map(\.channel)
        let sent = verdicts.filter { $0.action != .suppress }.map(\.channel)
        return (sent + shown).filter { !held.contains($0) }
    }

    /// Where a run is that has just begun, with its finish as past runs of its job show it; nil: nothing shows one.
    private func forecast(of run: RunRecord) -> LiveState? {
        guard let start = run.startedAt, let history = input.profiles[run.id],
            let finish = FinishEstimator(history: history).finish(of: RunTrace(), startedAt: start, at: start)
        else { return nil }
        var live =
            run.live
            ?? LiveState(
                task: LiveTask(id: run.id, botID: run.bot, run: run.name, name: run.job, botName: run.bot),
                attempt: run.attempt, seq: 0, state: run.state, updatedAt: start)
        live.startedAt = live.startedAt ?? start
        live.finish = finish
        return live
    }

    /// What the channels hear of this news, which may be routine.
    private func policies(for matter: Matter, _ news: JobNews, only: [String]? = nil) -> ChannelInterests {
        let policies = jobPolicies.heard(by: matter.wish, only: only)
        let isRoutine = configuration.routing.isDefault && Routine.reason(toLeaveOut: matter) != nil
        return isRoutine ? policies.following(news) : policies
    }

    private mutating func takeRecovery(
        _ recovery: Fact.Recovery, _ record: EventRecord
    ) {
        guard let run = input.runs[recovery.run.id] else { return }
        // It follows the end of the run, and is none itself.
        var matter = Matter(record.event.fact)
        let spec = run.spec ?? input.specs[run.id]
        matter.wish = spec?.notify
        var fact = JobFact(record.event, of: run)
        fact.urgency = spec?.urgency ?? configuration.bot(run.bot).urgency
        describe(&matter, spec, job: run.job, bot: run.bot, urgency: fact.urgency)
        _ = dispatch(record, matter, about: .job(run.job)) { turn in
            (
                turn.notice(of: recovery, fact, job: run.job, bot: run.bot, icon: spec?.icon),
                turn.object("run", WireRun(run, live: nil, at: turn.now))
                    + (recovery.outageSeconds.map { [JSON.Member("outageSeconds", .int($0))] } ?? [])
            )
        }
    }

    /// How a run gets on, or its job in the long run, is an event for webhooks, and something said by Belfry where items
    /// are shown.
    private mutating func takeCharge(of name: Fact.Run, _ record: EventRecord) {
        guard let run = input.runs[name.id] else { return }
        let spec = run.spec ?? input.specs[run.id]
        var matter = Matter(record.event.fact)
        matter.wish = spec?.notify
        matter.topic.labels = spec?.labels ?? [:]
        let (text, thread) = (run.charge(record.event), OwnThread.job(run.job))
        let shown = dispatch(record, matter, about: thread.key) { turn in
            (
                turn.notice(of: text, in: thread),
                turn.object("run", WireRun(run, live: run.live, at: turn.now))
            )
        }
        guard matter.wish != .never else { return }
        post(text, in: thread, on: shown, by: record, ringAgainAfter: .zero)
    }

    /// Sends how far a run is where that is sent at all; items that are edited in place show it by themselves.
    private mutating func takeProgress(of name: Fact.Run, _ record: EventRecord) {
        guard let run = input.runs[name.id], !run.state.isEnded, let live = run.live else { return }
        let spec = run.spec ?? input.specs[run.id]
        guard spec?.notify != .never else { return }
        var matter = Matter(record.event.fact)
        (matter.wish, matter.topic.labels) = (spec?.notify, spec?.labels ?? [:])
        let fact = JobFact(live, at: now)
        _ = dispatch(record, matter) { turn in
            (
                turn.notice(of: fact, job: run.job, bot: run.bot, icon: spec?.icon),
                turn.object("run", WireRun(run, live: live, at: turn.now))
            )
        }
    }

    private mutating func takeSlots(
        _ slots: Fact.Slots, _ state: RunState, _ record: EventRecord
    ) {
        guard let span = slots.span else { return }
        let spec = input.jobSpecs[slots.job]
        var matter = Matter(record.event.fact)
        matter.wish = spec?.notify
        var fact = JobFact(
            run: nil, state: state, reason: slots.reason, slots: span.count, at: record.event.at)
        fact.urgency = configuration.bot(slots.bot).urgency
        describe(&matter, spec, job: slots.job, bot: slots.bot, urgency: fact.urgency)
        let shown = dispatch(record, matter, about: .job(slots.job)) { turn in
            (
                turn.notice(of: fact, job: slots.job, bot: slots.bot, icon: spec?.icon),
                turn.object("run", WireRun(slots, span, state: state))
            )
        }
        guard matter.wish != .never else { return }
        let only = matter.wish?.names(matter.type) == true ? shown : nil
        let (now, policies) = (now, policies(for: matter, JobNews(state), only: only))
        update(.job(slots.job), bot: slots.bot, by: record.seq) { item in
            item.only = only
            return item.receive(fact, at: now, policies: policies)
        }
    }

    /// Makes an outbox entry of the event for each channel that is sent it, and records what was decided.
    ///
    /// The notice, and the objects that it is about, are made where an entry holds them. What is held until somebody has
    /// seen the item `key` is noted with it.
    ///
    /// - Returns: the channels that edit in place and hear of it: what their items show of it is decided then.
    mutating func dispatch(
        _ record: EventRecord, _ matter: Matter, about key: ItemKey? = nil,
        _ contents: (ItemTurn) -> (notice: Notice, objects: [JSON.Member])
    ) -> [String] {
        var shown: [String] = []
        var bulletin: Bulletin?
        func make(_ turn: ItemTurn) -> Bulletin {
            let (notice, objects) = contents(turn)
            return Bulletin(matter, at: record.event.at, notice: notice, objects: objects)
        }
        var matter = matter
        (matter.interruptions, matter.failingJobs) = (standing.interruptions, Array(standing.failing.values))
        for verdict in tools.dispatcher.dispatch(matter, by: rules, at: now) {
            let isLevel = levels.contains(verdict.channel)
            switch verdict.action {
            case .send where isLevel:
                shown.append(verdict.channel)
                continue
            case .hold where isLevel: shown.append(verdict.channel)
            case .send(let dispatch):
                // Progress disturbs nobody.
                if let bot = matter.topic.bot, record.event.type != .runProgress {
                    standing.ring(on: verdict.channel, bot, at: now, by: rules)
                }
                let made = bulletin ?? make(self)
                bulletin = made
                insert(dispatch, record, to: verdict.channel, nil, made)
            case .hold(let dispatch, let until, let reason):
                let made = bulletin ?? make(self)
                bulletin = made
                if reason == .othersFirst, let key { waits[key, default: [:]][verdict.channel] = until }
                var held = HeldMatter(
                    reason: reason, event: record.seq, topic: matter.topic, line: line(of: made.notice),
                    relevance: HeldMatter.relevance(of: dispatch.type))
                held.deadline = matter.deadline
                insert(dispatch, record, to: verdict.channel, (held, until), of: key, made)
            case .suppress: break
            }
            verdicts.append(VerdictRecord(verdict, of: record.seq, at: now))
        }
        return shown
    }

    private mutating func insert(
        _ dispatch: Dispatch, _ record: EventRecord, to channel: String,
        _ hold: (held: HeldMatter, until: Moment)? = nil, of item: ItemKey? = nil, _ bulletin: Bulletin
    ) {
        guard let body = configuration.render(bulletin, for: channel) else { return }
        // A person's test goes before all that waits, however much that is.
        let due = record.event.type == .test ? Moment(seconds: 0) : now
        queue(
            OutboxRecord(
                id: tools.makeID(), channel: channel,
                cause: OutboxRecord.cause(event: record.seq, channel: channel),
                type: dispatch.type, reason: dispatch.reason, createdAt: now, nextAt: due,
                run: record.event.fact.columns.run, item: item.map { "\($0)" }, body: body), hold,
            bulletin.notice)
    }
}
