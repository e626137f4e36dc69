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
        update(message.itemKey, bot: message.bot, by: record.seq) { item in
            if let channel = post.channel { item.only = [channel] }
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

    // MARK: Channels

    /// A test goes to the one channel it names: as an entry, or as a message that only this surface shows.
    private mutating func takeTest(of name: String, _ record: EventRecord) {
        guard let channel = configuration.channels.first(where: { $0.name == name }) else { return }
        var matter = Matter(record.event.fact)
        matter.only = [name]
        let object = JSON.object(["name": .string(name), "kind": .string(channel.kind.rawValue)])
        let text = "This is a test of the channel \"\(name)\"."
        let shown = dispatch(record, matter) { turn in
            (turn.notice(of: text, in: .test(name)), [JSON.Member("channel", object)])
        }
        post(text, in: .test(name), on: shown, by: record)
    }

    /// A channel's trouble is an event for webhooks, and something said by Belfry where items are shown.
    private mutating func takeChannelNews(
        _ news: CircuitNews, of channel: Fact.Channel, _ record: EventRecord
    ) {
        let event = record.event
        let why = channel.error ?? channel.reason?.rawValue ?? ""
        let text =
            if let item = channel.item {
                news.words(of: item, on: channel.name, why)
            } else {
                news.words(
                    of: channel.name, why, reason: channel.reason, isLevel: levels.contains(channel.name))
            }
        let shown = dispatch(record, words: (text, .channel(channel.name))) {
            [JSON.Member("channel", $0.channel(channel, after: news, at: event.at))]
        }
        post(text, in: .channel(channel.name), on: shown, by: record)
    }

    /// The channel as the event left it.
    private func channel(_ channel: Fact.Channel, after news: CircuitNews, at moment: Moment) -> JSON {
        let state: ChannelBoard.Health.State =
            switch news {
            case .failing: .failing
            case .disabled: .disabled
            case .restored: .working
            }
        let kind = configuration.channels.first { $0.name == channel.name }?.kind.rawValue
        return .object([
            "name": .string(channel.name), "kind": kind.map(JSON.string), "state": .string(state.rawValue),
            "since": .string(moment.iso8601), "lastError": channel.error.map(JSON.string),
        ])
    }

    /// What keeps runs from beginning is an event for webhooks, and something said by Belfry where items are shown.
    private mutating func takeLedgerNews(_ record: EventRecord) {
        let text =
            record.event.type == .ledgerFull
            ? "The disk is full. No job starts before there is room; missed slots are then caught up."
            : "There is room on the disk again; jobs start as planned."
        let shown = dispatch(record, words: (text, .ledger))
        // Also when it was full a moment ago: that there is room is what the reader waits for.
        post(text, in: .ledger, on: shown, by: record, ringAgainAfter: .zero)
    }

    /// That a bot can no longer be asked, or can be again, is an event for webhooks, and something said by Belfry where
    /// items are shown.
    private mutating func takeStatus(_ status: Fact.BotStatus, _ record: EventRecord) {
        let shown = dispatch(record, words: (status.notice, .bot(status.bot))) { _ in
            [JSON.Member("bot", status.object(at: record.event.at))]
        }
        post(status.notice, in: .bot(status.bot), on: shown, by: record)
    }

    /// The same of a budget.
    private mutating func takeBudget(_ budget: Fact.BotBudget, _ record: EventRecord) {
        let shown = dispatch(record, words: (budget.notice, .bot(budget.bot))) { _ in
            [JSON.Member("bot", budget.object)]
        }
        // Also when it was near a moment ago: that it is used up is news.
        post(budget.notice, in: .bot(budget.bot), on: shown, by: record, ringAgainAfter: .zero)
    }

    /// What a gateway keeps silent about is an event for webhooks, and something said by Belfry where items are shown.
    private mutating func takeGatewayJob(_ job: Fact.GatewayJob, _ record: EventRecord) {
        let shown = dispatch(record, words: (job.notice, .gateway(job.bot))) { _ in
            [JSON.Member("gateway", job.object)]
        }
        // Also when another job of it had news a moment ago.
        post(job.notice, in: .gateway(job.bot), on: shown, by: record, ringAgainAfter: .zero)
    }

    /// What did not report in time, or does again, is an event for webhooks, and something said by Belfry where items
    /// are shown.
    private mutating func takeExpectation(_ news: Fact.Expectation, _ record: EventRecord) {
        let shown = dispatch(record, words: (news.notice, .expectation(news.name))) { _ in
            [JSON.Member("expectation", news.object)]
        }
        // Also when it was late a moment ago: that it reports again is news.
        post(news.notice, in: .expectation(news.name), on: shown, by: record, ringAgainAfter: .zero)
    }

    /// A clock that went back far may be wrong now, or was before: a person must look.
    private mutating func takeClockNews(
        _ back: Fact.ClockBack, _ record: EventRecord
    ) {
        let far = back.backSeconds.map { " by \(Duration.seconds($0).text)" } ?? ""
        let text = "The clock went back\(far). Jobs follow it: times that come again run again."
        let shown = dispatch(record, words: (text, .clock))
        post(text, in: .clock, on: shown, by: record)
    }

    /// What the daemon left out at its start is missed by somebody.
    private mutating func takeLeftOut(
        _ leftOut: Fact.LeftOut, _ record: EventRecord
    ) {
        func named(_ name: String) -> JSON {
            .object([
                "name": .string(name), "state": .string("leftOut"),
                "lastError": leftOut.message.map(JSON.string),
            ])
        }
        let text = leftOut.message.map { "The \($0)." }
        let shown = dispatch(record, words: (text ?? "", .configuration)) { _ in
            [
                leftOut.job.map { JSON.Member("job", named($0)) },
                leftOut.channel.map { JSON.Member("channel", named($0)) },
                leftOut.job == nil ? leftOut.bot.map { JSON.Member("bot", named($0)) } : nil,
            ].compactMap(\.self)
        }
        guard let text else { return }
        post(text, in: .configuration, on: shown, by: record)
    }

    /// Posts a message in a thread of Belfry's own that only these channels show.
    private mutating func post(
        _ text: String, in thread: OwnThread, on channels: [String], by record: EventRecord,
        ringAgainAfter: Duration = ThreadPolicy().ringAgainAfter
    ) {
        guard !channels.isEmpty else { return }
        let message = Message(
            id: tools.makeID(), bot: OwnThread.bot, thread: thread.name, text: text, at: now)
        let now = now
        update(message.itemKey, bot: "belfry", by: record.seq) { item in
            item.only = channels
            return item.receive(
                message, at: now, policy: ThreadPolicy(wait: .zero, ringAgainAfter: ringAgainAfter))
        }
    }

    /// The same of a matter that is nothing but the event, in Belfry's own words.
    @discardableResult
    private mutating func dispatch(
        _ record: EventRecord, words: (text: String, thread: OwnThread),
        _ objects: (ItemTurn) -> [JSON.Member] = { _ in [] }
    ) -> [String] {
        dispatch(record, Matter(record.event.fact), about: words.thread.key) {
            ($0.notice(of: words.text, in: words.thread), objects($0))
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
                id: tools.makeID(), channel: channel, cause: "event:\(record.seq):\(channel)",
                type: dispatch.type, reason: dispatch.reason, createdAt: now, nextAt: due,
                run: record.event.fact.columns.run, item: item.map { "\($0)" }, body: body), hold,
            bulletin.notice)
    }
}
