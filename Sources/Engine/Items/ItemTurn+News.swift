import API
import Delivery
import Grouping
import Ledger
import Logging
import Timeline
import Tracking

// What news of channels, bots, gateways, the clock and the configuration come to, in Belfry's own words.

extension ItemTurn {
    // MARK: Channels

    /// A test goes to the one channel it names: as an entry, or as a message that only this surface shows.
    mutating func takeTest(of name: String, _ record: EventRecord) {
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
    mutating func takeChannelNews(
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
    mutating func takeLedgerNews(_ record: EventRecord) {
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
    mutating func takeStatus(_ status: Fact.BotStatus, _ record: EventRecord) {
        let shown = dispatch(record, words: (status.notice, .bot(status.bot))) { _ in
            [JSON.Member("bot", status.object(at: record.event.at))]
        }
        post(status.notice, in: .bot(status.bot), on: shown, by: record)
    }

    /// The same of a budget.
    mutating func takeBudget(_ budget: Fact.BotBudget, _ record: EventRecord) {
        let shown = dispatch(record, words: (budget.notice, .bot(budget.bot))) { _ in
            [JSON.Member("bot", budget.object)]
        }
        // Also when it was near a moment ago: that it is used up is news.
        post(budget.notice, in: .bot(budget.bot), on: shown, by: record, ringAgainAfter: .zero)
    }

    /// What a gateway keeps silent about is an event for webhooks, and something said by Belfry where items are shown.
    mutating func takeGatewayJob(_ job: Fact.GatewayJob, _ record: EventRecord) {
        let shown = dispatch(record, words: (job.notice, .gateway(job.bot))) { _ in
            [JSON.Member("gateway", job.object)]
        }
        // Also when another job of it had news a moment ago.
        post(job.notice, in: .gateway(job.bot), on: shown, by: record, ringAgainAfter: .zero)
    }

    /// What did not report in time, or does again, is an event for webhooks, and something said by Belfry where items
    /// are shown.
    mutating func takeExpectation(_ news: Fact.Expectation, _ record: EventRecord) {
        let shown = dispatch(record, words: (news.notice, .expectation(news.name))) { _ in
            [JSON.Member("expectation", news.object)]
        }
        // Also when it was late a moment ago: that it reports again is news.
        post(news.notice, in: .expectation(news.name), on: shown, by: record, ringAgainAfter: .zero)
    }

    /// A clock that went back far may be wrong now, or was before: a person must look.
    mutating func takeClockNews(
        _ back: Fact.ClockBack, _ record: EventRecord
    ) {
        let far = back.backSeconds.map { " by \(Duration.seconds($0).text)" } ?? ""
        let text = "The clock went back\(far). Jobs follow it: times that come again run again."
        let shown = dispatch(record, words: (text, .clock))
        post(text, in: .clock, on: shown, by: record)
    }

    /// What the daemon left out at its start is missed by somebody.
    mutating func takeLeftOut(
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
    mutating func post(
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
    mutating func dispatch(
        _ record: EventRecord, words: (text: String, thread: OwnThread),
        _ objects: (ItemTurn) -> [JSON.Member] = { _ in [] }
    ) -> [String] {
        dispatch(record, Matter(record.event.fact), about: words.thread.key) {
            ($0.notice(of: words.text, in: words.thread), objects($0))
        }
    }
}

// What a person reads of an event on channels that do not edit in place.

extension ItemTurn {
    /// Of a version of an item.
    func notice(of snapshot: ItemSnapshot, icon: String? = nil) -> Notice {
        let notice = NoticeComposer.compose(
            snapshot, manner: configuration.bot(snapshot.bot).manner, jobIcon: icon)
        return withLink(notice, of: snapshot)
    }

    /// Of a fact of a job, with the failures before it.
    func notice(of fact: JobFact, job: String, bot: String, icon: String?) -> Notice {
        let kept = item(.job(job), bot: bot)
        let item = if case .job(let item) = kept.decider { item } else { JobItem(job: job, bot: bot) }
        return notice(of: item.version(of: fact, at: now, policy: jobPolicy), icon: icon)
    }

    /// Of the first success of a job after failures.
    func notice(
        of recovery: Fact.Recovery, _ fact: JobFact, job: String, bot: String, icon: String?
    ) -> Notice {
        let version = JobItem(job: job, bot: bot).version(
            ofRecovery: fact, after: recovery.failures ?? 0,
            outage: recovery.outageSeconds.map { .seconds($0) }, policy: jobPolicy)
        return notice(of: version, icon: icon)
    }

    /// Of something said by Belfry itself.
    func notice(of text: String, in thread: OwnThread) -> Notice {
        let message = Message(id: "", bot: OwnThread.bot, thread: thread.name, text: text, at: now)
        return notice(
            of: ItemSnapshot(
                key: thread.key, revision: 1, bot: OwnThread.bot, urgency: .normal, reason: .first, at: now,
                content: .messages(count: 1, last: [message])))
    }
}
