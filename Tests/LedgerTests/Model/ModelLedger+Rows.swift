import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

extension ModelLedger {
    mutating func put(_ job: JobRecord, replacing old: Int?) throws(Refused) {
        try require(jobs[job.name]?.revision == old)
        if let known = specs[job.name]?[job.revision] {
            try require(old == job.revision && known == job.spec)
        }
        specs[job.name, default: [:]][job.revision] = job.spec
        var job = job
        if let stored = jobs[job.name] { job.pause = stored.pause }
        jobs[job.name] = job
    }

    mutating func record(_ span: SlotSpan, follows: Moment?) {
        if let follows,
            let index = spans.firstIndex(where: {
                $0.job == span.job && $0.era == span.era && $0.state == span.state
                    && $0.reason == span.reason && $0.last == follows
            })
        {
            spans[index].last = span.last
            spans[index].count += span.count
        } else if !spans.contains(where: {
            $0.job == span.job && $0.era == span.era && $0.first == span.first
        }) {
            spans.append(span)
        }
    }

    mutating func insert(_ run: RunRecord, orIgnore: Bool) throws(Refused) -> RunRecord? {
        if runs.like(run) != nil {
            try require(orIgnore)
            return nil
        }
        try require(runs[run.id] == nil)
        var run = run
        run.ordinal = lastOrdinals[run.job, default: 0] + 1
        lastOrdinals[run.job] = run.ordinal
        runs.append(run)
        return run
    }

    mutating func move(_ move: RunMove) throws(Refused) {
        guard var run = runs[move.run] else { throw Refused() }
        try require(move.from.contains(run.state) && !run.state.isEnded)
        try require(run.attempt == move.attempt && run.token == move.token)
        try require(move.to != .starting || run.endAsked == nil)
        run.state = move.to
        run.reason = move.reason
        run.notBefore = move.notBefore
        run.attempt = move.nextAttempt ?? run.attempt
        run.token = move.nextToken ?? run.token
        run.startedAt = move.startedAt ?? run.startedAt
        run.endedAt = move.endedAt ?? run.endedAt
        run.exitCode = move.exitCode ?? run.exitCode
        run.signal = move.signal ?? run.signal
        run.queueDelay = move.queueDelay ?? run.queueDelay
        run.outputBytes = move.outputBytes ?? run.outputBytes
        run.cpu = move.cpu ?? run.cpu
        run.maxRssKb = move.maxRssKb ?? run.maxRssKb
        run.survivors = move.survivors ?? run.survivors
        run.usage = move.usage ?? run.usage
        run.process = move.process ?? run.process
        runs[move.run] = run
        profiles[move.run] = move.profile ?? profiles[move.run]
    }

    mutating func passOver(_ id: String, _ event: NewEvent) {
        guard var run = runs[id] else { return }
        let waits = run.state == .scheduled || run.state == .queued
        guard waits, run.attempt == 1, run.startedAt == nil else { return }
        (run.state, run.reason, run.endedAt) = (.skipped, .superseded, event.at)
        runs[id] = run
        passedOver.insert(id)
        lastNumber += 1
        events.append(EventRecord(seq: lastNumber, event: event))
    }

    mutating func record(_ reply: BotReply) {
        let index = months.firstIndex { $0.bot == reply.bot && $0.month == reply.month }
        var month = index.map { months.remove(at: $0) } ?? BotMonth(bot: reply.bot, month: reply.month)
        month.apply(reply)
        months.append(month)
        months.sort { ($0.bot, $0.month) < ($1.bot, $1.month) }
        if reply.outcome != .canceled {
            states[reply.bot, default: BotRecord(name: reply.bot)].apply(reply)
        }
    }

    mutating func move(_ move: OutboxMove) throws(Refused) {
        guard let index = outbox.firstIndex(where: { $0.id == move.id }) else { throw Refused() }
        var entry = outbox[index]
        try require(entry.state == move.from && entry.attempts == move.attempts)
        entry.state = move.to
        entry.attempts = move.nextAttempts
        entry.nextAt = move.nextAt
        entry.lastError = move.lastError ?? entry.lastError
        entry.status = move.status ?? entry.status
        entry.settledAt = move.settledAt
        entry.held = move.held ?? entry.held
        entry.listedIn = move.listedIn ?? entry.listedIn
        outbox[index] = entry
    }

    mutating func release(_ step: OutboxRelease) {
        for index in outbox.indices where outbox[index].channel == step.channel {
            var entry = outbox[index]
            if entry.state == .pending, let due = entry.nextAt {
                let asked = step.later[entry.id] ?? .some(step.at)
                entry.nextAt = min(due, asked ?? due)
            } else if step.reviving.contains(entry.state) {
                (entry.state, entry.nextAt, entry.settledAt) = (.pending, step.at, nil)
            }
            if entry.state == .pending, let name = step.newChannel { entry.channel = name }
            outbox[index] = entry
        }
    }

    mutating func park(_ step: OutboxPark) {
        for index in outbox.indices where outbox[index].channel == step.channel {
            if outbox[index].state == .pending {
                (outbox[index].state, outbox[index].nextAt) = (.waiting, nil)
            }
            guard outbox[index].state == .waiting, outbox[index].createdAt < step.expiring else { continue }
            (outbox[index].state, outbox[index].settledAt) = (.expired, step.at)
            outbox[index].lastError = outbox[index].lastError ?? step.reason
        }
    }

    mutating func removeHistory(before moment: Moment, limit: Int) {
        let old = history(before: moment, limit: limit)
        events.removeAll { old.events.contains($0.seq) }
        verdicts.removeAll { old.verdicts.contains($0) }
        outbox.removeAll { old.entries.contains($0.id) }
        failedAttempts.removeAll { old.entries.contains($0.outbox) }
        allFallbacks.removeAll { old.entries.contains($0.outbox) }
        for index in old.receipts.reversed() { receipts.remove(at: index) }
        spans.removeAll { old.spans.contains($0) }
        for key in old.items { items[key] = nil }
        surfaces.removeAll { old.surfaces.contains($0.record) }
        questions.removeAll { old.questions.contains($0.id) }
    }

    /// What ``removeHistory(before:limit:)`` removes; receipts by their place.
    func history(
        before moment: Moment, limit: Int
    ) -> (
        events: [Int64], verdicts: [VerdictRecord], entries: [String], receipts: [Int], spans: [SlotSpan],
        items: [ItemKey], surfaces: [SurfaceRecord], questions: [String]
    ) {
        let read = cursors.values.min() ?? 0
        let oldEvents = events.prefix(limit * 10).filter {
            $0.event.at < moment && $0.seq <= read && $0.seq < (events.last?.seq ?? 0)
        }
        let oldVerdicts = verdicts.prefix(limit * 10).filter { $0.at < moment }
        let oldEntries = outbox.prefix(limit * 10).filter {
            $0.state.isSettled && ($0.settledAt.map { $0 < moment } ?? false)
        }
        let oldReceipts = receipts.indices.prefix(limit * 10).filter { receipts[$0].receipt.at < moment }
        let oldSpans = spans.filter { $0.last < moment }
            .sorted { ($0.era, $0.last, $0.job, $0.first) < ($1.era, $1.last, $1.job, $1.first) }
        let known = Set(questions.map(\.id))
        func isOrphan(_ key: ItemKey?) -> Bool {
            if case .question(let id)? = key { !known.contains(id) } else { false }
        }
        let oldItems = items.keys.filter(isOrphan).sorted { "\($0)" < "\($1)" }
        let oldSurfaces = surfaces.map(\.record).filter { isOrphan(ItemKey($0.item)) }
            .sorted { ($0.channel, $0.item) < ($1.channel, $1.item) }
        let oldQuestions = questions.prefix(limit * 10).filter { $0.end.map { $0.at < moment } ?? false }
        return (
            oldEvents.prefix(limit).map(\.seq), Array(oldVerdicts.prefix(limit)),
            oldEntries.prefix(limit).map(\.id), Array(oldReceipts.prefix(limit)),
            Array(oldSpans.prefix(limit)), Array(oldItems.prefix(limit)), Array(oldSurfaces.prefix(limit)),
            oldQuestions.prefix(limit).map(\.id)
        )
    }

    func surfaceIndex(_ channel: String, _ item: String) -> Int? {
        surfaces.firstIndex { $0.record.channel == channel && $0.record.item == item }
    }

    mutating func surfaceIndex(_ channel: String, _ item: String, at moment: Moment) -> Int {
        if let index = surfaceIndex(channel, item) { return index }
        surfaces.append(
            ModelSurface(
                record: SurfaceRecord(channel: channel, item: item, wanted: 0, ring: false, wantedAt: moment))
        )
        return surfaces.count - 1
    }
}

/// A surface, and which revision still has to ring.
struct ModelSurface {
    var record: SurfaceRecord
    var rings: Int64?

    mutating func want(_ revision: Int64, ring: Bool, at moment: Moment) {
        record.wanted = revision
        record.wantedAt = moment
        if ring {
            rings = revision
            record.dismissed = false
        }
        record.ring = rings != nil
    }

    mutating func show(_ revision: Int64, _ remote: RemoteID?) {
        record.shown = revision
        record.remote = remote
        if let pending = rings, pending <= revision { rings = nil }
        record.ring = rings != nil
        record.refused = 0
        record.refusal = nil
    }

    /// Only what is on the screen can be put away.
    mutating func dismiss(_ dismissed: Bool) {
        if !dismissed {
            record.dismissed = false
        } else if record.wanted == record.shown {
            record.dismissed = true
        }
    }

    mutating func forget() {
        if record.remote == nil { return }
        record.remote = nil
        record.shown = 0
    }
}

extension OutboxRecord {
    /// Whether it was settled, and not because another entry took its place.
    var isReplayable: Bool { [.delivered, .dead, .expired, .discarded].contains(state) }
}
