import Delivery
import FoundationEssentials
import Grouping
import Ledger
import Timeline
import Tracking

// What each kind of event comes to.

extension ItemTurn {
    /// Takes in an event: tells webhooks of it, and lets the item it is about decide.
    mutating func take(_ record: EventRecord) throws(LedgerError) {
        switch record.event.type {
        case .messagePosted: try takeMessage(record.event)
        case .messageRead: try takeRead(record.event)
        case .itemDismissed: try takeDismissal(record.event)
        case .runStarted, .runBlocked, .runCompleted, .runFailed, .runCanceled, .runLost:
            try takeRun(record)
        case .runRecovered: try takeRecovery(record)
        // A run that gave way to a newer one is told as a run, slots that never got one as slots.
        case .runSkipped where record.event.run != nil: try takeRun(record)
        case .runMissed, .runSkipped: try takeSlots(record)
        case .test: try takeTest(record)
        case .channelFailing, .channelDisabled, .channelRestored: try takeChannelNews(record)
        case .configReloaded: tell(record, [])
        case .configPartial, .jobLeftOut: try takeLeftOut(record)
        case .ledgerFull, .ledgerRestored: try takeLedgerNews(record)
        case .clockBack: try takeClockNews(record)
        case .messageGroup, .runProgress, .runLate, .runSlow, .runStuck, .runFlapping, .questionAsked,
            .questionAnswered:
            return
        }
    }

    /// Takes in where a run is right now.
    mutating func take(_ live: LiveState) throws(LedgerError) {
        let audience = Audience(of: try reads.run(id: live.task.id), configuration.routing)
        let (now, fact) = (now, JobFact(live))
        var policy = jobPolicy
        policy.hears = audience.hears(of: policy.hears)
        guard !audience.isNobody, policy.hears.contains(.progress) else { return }
        try update(.job(live.task.name), bot: live.task.botID, isTick: true) { item in
            item.receive(fact, at: now, policy: policy)
        }
    }

    // MARK: Talk

    private mutating func takeMessage(_ event: NewEvent) throws(LedgerError) {
        guard let id = event.subject, let message = try reads.message(id: id)?.message else {
            return
        }
        let (now, policy) = (now, configuration.bot(message.bot).policy)
        try update(message.itemKey, bot: message.bot) { item in
            item.receive(message, at: now, policy: policy)
        }
    }

    private mutating func takeRead(_ event: NewEvent) throws(LedgerError) {
        guard let key = event.subject.flatMap(ItemKey.init) else { return }
        let (now, through) = (now, Int64(event.detail).map { Moment(microseconds: $0) })
        try update(key, bot: event.bot ?? "belfry") { item in
            // Somebody read an old message: what was said since is still news.
            if let through, case .thread(let thread) = item.decider, let last = thread.last.last,
                last.at > through
            {
                return []
            }
            return item.seen(revision: nil, at: now)
        }
    }

    private mutating func takeDismissal(_ event: NewEvent) throws(LedgerError) {
        guard let key = event.subject.flatMap(ItemKey.init) else { return }
        let (now, revision) = (now, Int(event.detail))
        let bot = event.bot ?? "belfry"
        if case .thread(let bot, let thread) = key, let shown = try item(key, bot: bot).shown,
            shown.revision == revision, case .messages(_, let last) = shown.content, let newest = last.last
        {
            changes.append(.markRead(bot: bot, thread: thread, through: newest.at))
        }
        try update(key, bot: bot) { $0.seen(revision: revision, at: now) }
    }

    // MARK: Runs

    private mutating func takeRun(_ record: EventRecord) throws(LedgerError) {
        guard let id = record.event.run, let run = try reads.run(id: id) else { return }
        let audience = Audience(of: run, configuration.routing)
        guard !audience.isNobody else { return }
        if audience.hears(record.event.type) {
            tell(record, [JSON.Member("run", JSON(run))], also: audience.also)
        }
        let now = now
        var policy = jobPolicy
        policy.hears = audience.hears(of: policy.hears)
        let only = audience.channels(of: record.event.type, among: levels, configuration.routing)
        let fact = JobFact(event: record.event, run: run)
        var wasFailingSince: Moment?
        try update(.job(run.job), bot: run.bot) { item in
            item.only = only
            if case .job(let job) = item.decider { wasFailingSince = job.failingSince }
            return item.receive(fact, at: now, policy: policy)
        }
        guard fact.state == .completed, let wasFailingSince else { return }
        let outage = max(.zero, fact.at - wasFailingSince)
        changes.append(
            .append(
                NewEvent(
                    .runRecovered, at: now, reason: "recovered", job: run.job, run: run.id, bot: run.bot,
                    detail: Recovery(outageSeconds: outage.microseconds / 1_000_000).text)))
    }

    private mutating func takeRecovery(_ record: EventRecord) throws(LedgerError) {
        guard let id = record.event.run, let run = try reads.run(id: id) else { return }
        let recovery = Recovery(record.event.detail)
        tell(
            record,
            [JSON.Member("run", JSON(run))]
                + (recovery.map { [JSON.Member("outageSeconds", .int($0.outageSeconds))] } ?? []))
    }

    private mutating func takeSlots(_ record: EventRecord) throws(LedgerError) {
        let event = record.event
        guard let job = event.job,
            let detail = try? JSONDecoder().decode(SlotDetail.self, from: Data(event.detail.utf8))
        else { return }
        tell(record, [JSON.Member("run", JSON(slotsOf: event, detail))])
        let fact = JobFact(
            run: nil, state: event.type == .runMissed ? .missed : .skipped,
            reason: event.reason.flatMap(RunReason.init), slots: detail.count, at: event.at)
        let (now, policy) = (now, jobPolicy)
        try update(.job(job), bot: event.bot ?? "belfry") { item in
            item.receive(fact, at: now, policy: policy)
        }
    }

    // MARK: Channels

    /// A test goes to the one channel it names: as an entry, or as a message that only this surface shows.
    private mutating func takeTest(_ record: EventRecord) throws(LedgerError) {
        guard let name = record.event.channel,
            let channel = configuration.channels.first(where: { $0.name == name })
        else { return }
        guard channel.kind.isLevel else {
            let told = JSON.object(["name": .string(name), "kind": .string(channel.kind.rawValue)])
            return tell(record, [JSON.Member("channel", told)], only: [name])
        }
        try say("This is a test of the channel \"\(name)\".", in: "test \(name)", on: [name])
    }

    /// A channel's trouble is an event for webhooks, and something said by Belfry where items are shown.
    private mutating func takeChannelNews(_ record: EventRecord) throws(LedgerError) {
        let event = record.event
        guard let name = event.channel, let news = CircuitNews(eventType: event.type.rawValue) else { return }
        tell(record, [JSON.Member("channel", channel(name, after: news, event))])
        let told = configuration.routing.channels(for: event.type.rawValue, about: name)
            .filter(levels.contains)
        guard !told.isEmpty else { return }
        let text = news.words(
            of: name, event.detail.isEmpty ? event.reason ?? "" : event.detail,
            reason: event.reason.flatMap(DeliveryReason.init))
        try say(text, in: "channel \(name)", on: told)
    }

    /// The channel as the event left it.
    private func channel(_ name: String, after news: CircuitNews, _ event: NewEvent) -> JSON {
        let state: ChannelBoard.Health.State =
            switch news {
            case .failing: .failing
            case .disabled: .disabled
            case .restored: .working
            }
        let kind = configuration.channels.first { $0.name == name }?.kind.rawValue
        return .object([
            "name": .string(name), "kind": kind.map(JSON.string), "state": .string(state.rawValue),
            "since": .string(event.at.iso8601),
            "lastError": event.detail.isEmpty ? nil : .string(event.detail),
        ])
    }

    /// What keeps runs from beginning is an event for webhooks, and something said by Belfry where items are shown.
    private mutating func takeLedgerNews(_ record: EventRecord) throws(LedgerError) {
        tell(record, [])
        let told = configuration.routing.channels(for: record.event.type.rawValue).filter(levels.contains)
        guard !told.isEmpty else { return }
        let text =
            record.event.type == .ledgerFull
            ? "The disk is full. No job starts before there is room; what is missed is caught up then."
            : "There is room on the disk again; jobs start as planned."
        try say(text, in: "ledger", on: told)
    }

    /// A clock that went back far may be wrong now, or was before: a person must look.
    private mutating func takeClockNews(_ record: EventRecord) throws(LedgerError) {
        tell(record, [])
        let told = configuration.routing.channels(for: record.event.type.rawValue).filter(levels.contains)
        guard !told.isEmpty else { return }
        try say(
            "The clock went back by \(record.event.detail). Jobs follow it: times that come again run again.",
            in: "clock", on: told)
    }

    /// What the daemon left out at its start is missed by somebody.
    private mutating func takeLeftOut(_ record: EventRecord) throws(LedgerError) {
        let event = record.event
        func named(_ name: String) -> JSON {
            .object(["name": .string(name), "state": .string("leftOut"), "lastError": .string(event.detail)])
        }
        tell(
            record,
            [
                event.job.map { JSON.Member("job", named($0)) },
                event.channel.map { JSON.Member("channel", named($0)) },
            ].compactMap(\.self))
        let told = configuration.routing.channels(for: event.type.rawValue, about: event.channel)
            .filter(levels.contains)
        guard !told.isEmpty else { return }
        try say("The \(event.detail).", in: "config", on: told)
    }

    /// Says something in a thread of Belfry's own that only these channels show.
    private mutating func say(
        _ text: String, in thread: String, on channels: [String]
    ) throws(LedgerError) {
        let message = Message(id: tools.makeID(), bot: "belfry", thread: thread, text: text, at: now)
        let now = now
        try update(message.itemKey, bot: "belfry") { item in
            item.only = channels
            return item.receive(message, at: now, policy: ThreadPolicy(wait: .zero))
        }
    }

    /// Makes an outbox entry of the event for each webhook it is routed to and `also` for these, or for `only` these.
    private mutating func tell(
        _ record: EventRecord, _ objects: [JSON.Member], only: [String]? = nil, also: [String] = []
    ) {
        let event = record.event
        var routed = only ?? configuration.routing.channels(for: event.type.rawValue, about: event.channel)
        routed += also.filter { !routed.contains($0) }
        let names = routed.filter(edges.contains)
        guard !names.isEmpty else { return }
        let reason = event.reason ?? event.type.rawValue.split(separator: ".").last.map(String.init) ?? ""
        let body = WebhookBody(
            type: event.type.rawValue, timestamp: event.at, reason: reason, objects: objects)
        for name in names {
            changes.append(
                .insertOutbox(
                    OutboxRecord(
                        id: tools.makeID(), channel: name, cause: "event:\(record.seq):\(name)",
                        type: event.type.rawValue, reason: reason, createdAt: now, nextAt: now,
                        run: event.run, body: body.bytes)))
        }
    }
}

/// What the event of a recovery carries.
private struct Recovery: Codable {
    var outageSeconds: Int64

    init(outageSeconds: Int64) {
        self.outageSeconds = outageSeconds
    }

    init?(_ text: String) {
        guard let read = try? JSONDecoder().decode(Recovery.self, from: Data(text.utf8)) else { return nil }
        self = read
    }

    var text: String { "{\"outageSeconds\":\(outageSeconds)}" }
}
