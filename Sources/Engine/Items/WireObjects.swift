package import API
import Delivery
package import Grouping
package import Ledger
package import Timeline
package import Tracking

// The objects that the API and webhooks show, made of the ledger's records.

extension LiveState {
    /// The same of a run whose row has ended: for a moment that is ahead of what is shown live.
    fileprivate func ended(as record: RunRecord) -> LiveState {
        guard record.state.isEnded, !state.isEnded else { return self }
        var live = self
        (live.state, live.reason) = (record.state, record.reason)
        live.updatedAt = record.endedAt ?? updatedAt
        return live
    }
}

extension WireRun {
    /// The run; `live` is where it is now, when it is under way.
    package init(_ record: RunRecord, live: LiveState?, at now: Moment) {
        self.init(job: record.job, state: record.state, reason: record.reason)
        id = record.id
        name = record.name
        bot = record.bot
        kind = record.kind.rawValue
        cause = record.cause
        slot = Timestamp(record.slot)
        attempt = record.attempt
        retryOf = record.retryOf
        parent = record.parent
        notBefore = Timestamp(record.notBefore)
        queuedAt = Timestamp(record.queuedAt)
        startedAt = Timestamp(record.startedAt)
        endedAt = Timestamp(record.endedAt)
        exitCode = record.exitCode
        signal = record.signal
        latenessMs = record.lateness?.milliseconds
        queueDelayMs = record.queueDelay?.milliseconds
        self.live = (live ?? record.live).map { WireLive($0.ended(as: record), at: now) }
        outputBytes = record.outputBytes
        outputTail = record.outputTail
        cpuMs = record.cpu?.milliseconds
        maxRssKb = record.maxRssKb
        survivors = record.survivors?.map { WireSurvivor(pid: $0.pid, name: $0.name) }
        usage = record.usage.map { WireUsage($0) }
    }

    /// Slots that did not run, as one row.
    package init(_ span: SlotSpan) {
        self.init(job: span.job, state: span.state, reason: span.reason)
        slot = Timestamp(span.first)
        lastSlot = Timestamp(span.last)
        count = span.count
    }

    /// Slots that an event says did not run.
    init(_ slots: Fact.Slots, _ span: Fact.Slots.Span, state: RunState) {
        self.init(job: slots.job, state: state, reason: slots.reason)
        bot = slots.bot
        kind = RunKind.scheduled.rawValue
        slot = Timestamp(span.first)
        lastSlot = Timestamp(span.last)
        count = span.count
    }
}

extension WireUsage {
    /// The usage.
    package init(_ usage: BotUsage) {
        self.init(inputTokens: usage.inputTokens, outputTokens: usage.outputTokens)
        cachedTokens = usage.cachedTokens == 0 ? nil : usage.cachedTokens
        costUsd = usage.costUSD
    }
}

extension WireAttempt {
    /// The attempt.
    package init(_ record: AttemptRecord) {
        self.init(n: record.n, state: record.state, reason: record.reason)
        usage = record.usage.map { WireUsage($0) }
        startedAt = Timestamp(record.startedAt)
        endedAt = Timestamp(record.endedAt)
        exitCode = record.exitCode
        signal = record.signal
    }
}

extension WireMessage {
    /// The message.
    package init(_ record: MessageRecord) {
        self.init(record.message)
        read = record.read
        pinned = record.pinned
        run = record.run
        replyTo = record.replyTo
        sender = record.sender
        if !record.reactions.isEmpty { reactions = record.reactions }
        attachments = record.attachment.map { [WireAttachment(name: $0.name, bytes: $0.bytes)] }
    }

    /// A message of which no more is known.
    package init(_ message: Message) {
        self.init(
            id: message.id, bot: message.bot, thread: message.thread, from: message.author.rawValue,
            text: message.text, at: Timestamp(message.at))
        title = message.title
        run = message.run
    }
}

extension WireItem {
    /// The item as a person sees it now; `messages` are its last ones, oldest first.
    package init(_ item: ItemSnapshot, messages: [WireMessage]) {
        self.init(
            key: "\(item.key)", kind: "thread", urgency: item.urgency.rawValue,
            revision: Int64(item.revision))
        bot = item.bot
        reason = item.reason.rawValue
        last = messages
        switch item.key {
        case .thread(_, let thread): self.thread = thread
        case .job(let name):
            kind = "job"
            job = name
        case .storm: kind = "storm"
        case .question: kind = "question"
        }
        switch item.content {
        case .messages(let count, _): self.count = count
        case .job(let report):
            count = report.failures
            if item.reason == .acknowledgementExpired { note = report.fact.text }
        case .storm(let report): count = report.total
        case .question: count = 1
        }
    }

    /// The same of an item whose messages nobody has read; `pinned` are the ids of those that a person keeps.
    package init(_ item: ItemSnapshot, pinned: Set<String>) {
        var last: [WireMessage] = []
        if case .messages(_, let messages) = item.content { last = messages.map { WireMessage($0) } }
        for index in last.indices { last[index].pinned = pinned.contains(last[index].id) }
        self.init(item, messages: last)
    }
}
