import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

// A state machine: the whole change language once more, over arrays, as slow and plain as can be.

/// What a ledger must be, in memory: the store is compared with it after every list.
struct ModelLedger: Sendable {
    /// Why a change was refused; nothing else is known about it.
    struct Refused: Error {}

    var jobs: [String: JobRecord] = [:]
    var specs: [String: [Int: JobSpec]] = [:]
    var facts: [String: String] = [:]
    var mark: Watermark?
    var spans: [SlotSpan] = []
    /// In the order they were inserted, as are messages and entries.
    var runs = ModelRuns()
    var attempts: [AttemptRecord] = []
    var profiles: [String: RunProfile] = [:]
    var months: [BotMonth] = []
    var states: [String: BotRecord] = [:]
    var ownBots: [String: BotEntry] = [:]
    /// In the order in which they were made.
    var ownChannels: [ChannelEntry] = []
    var allSilences: [Silence] = []
    var doorTokens: [TokenRecord] = []
    var allExpectations: [ExpectationRecord] = []
    var messages: [MessageRecord] = []
    var talk = ModelTalk()
    /// In the order they were asked.
    var questions: [QuestionRecord] = []
    var items: [ItemKey: ItemRecord] = [:]
    var outbox: [OutboxRecord] = []
    var surfaces: [ModelSurface] = []
    var receipts: [ReceiptRecord] = []
    var failedAttempts: [OutboxAttempt] = []
    var allFallbacks: [FallbackRecord] = []
    var channels: [String: ChannelRecord] = [:]
    var events: [EventRecord] = []
    var verdicts: [VerdictRecord] = []
    var cursors: [String: Int64] = [:]
    /// The runs that the last list passed over.
    var passedOver: Set<String> = []
    /// What was given once is not given again, also when the row was removed.
    var lastNumber: Int64 = 0
    var lastOrdinals: [String: Int] = [:]

    /// The outcome of a list: the commit, or the place of the change that was refused.
    mutating func commit(_ changes: [Change]) -> Result<Commit, RefusedAt> {
        var next = self
        var commit = Commit(lastEvent: lastNumber)
        next.passedOver = []
        for (index, change) in changes.enumerated() {
            do {
                if let run = try next.apply(change) {
                    commit.inserted.append(Commit.Inserted(run.id, run.ordinal))
                }
                if case .insertOutbox(let entry) = change, next.outbox.last?.id == entry.id {
                    commit.entries.append(entry)
                }
            } catch {
                return .failure(RefusedAt(index: index))
            }
        }
        self = next
        commit.passedOver = passedOver
        commit.lastEvent = lastNumber
        return .success(commit)
    }

    struct RefusedAt: Error, Equatable {
        var index: Int
    }

    /// Returns the run it inserted, if it did.
    private mutating func apply(_ change: Change) throws(Refused) -> RunRecord? {
        switch change {
        case .putJob(let job, let old): try put(job, replacing: old)
        case .removeJob(let name, let revision):
            try require(jobs[name]?.revision == revision)
            jobs[name] = nil
        case .pauseJob(let name, let pause):
            try require(jobs[name] != nil)
            jobs[name]?.pause = pause
        case .moveWatermark(let old, let new):
            try require(mark == nil || mark == old)
            mark = new
        case .recordSpan(let span, let follows): record(span, follows: follows)
        case .insertRun(let run, let orIgnore): return try insert(run, orIgnore: orIgnore)
        case .moveRun(let move): try self.move(move)
        case .passOver(let id, let event): passOver(id, event)
        case .askEnd(let id, let reason):
            guard let run = runs[id], !run.state.isEnded else { break }
            runs[id]?.endAsked = run.endAsked ?? reason
        case .putAttempt(let attempt):
            try require(runs[attempt.run] != nil)
            attempts.removeAll { $0.run == attempt.run && $0.n == attempt.n }
            attempts.append(attempt)
        case .saveLive(let id, let live):
            if let stored = runs[id]?.live, (stored.attempt, stored.seq) > (live.attempt, live.seq) { break }
            runs[id]?.live = live
        case .recordReply(let reply): record(reply)
        case .putBot(let bot, let old):
            try require(ownBots[bot.name]?.revision == old)
            ownBots[bot.name] = bot
        case .removeBot(let name, let revision):
            try require(ownBots[name]?.revision == revision)
            ownBots[name] = nil
        case .putChannelEntry(let channel):
            try require(!ownChannels.contains { $0.name == channel.name })
            ownChannels.append(channel)
        case .removeChannelEntry(let name):
            try require(ownChannels.contains { $0.name == name })
            ownChannels.removeAll { $0.name == name }
        case .putSilence(let silence, let moment):
            allSilences.removeAll { $0.until < moment }
            try require(!allSilences.contains { $0.id == silence.id })
            allSilences.append(silence)
        case .endSilence(let id, let moment):
            let index = allSilences.firstIndex { $0.id == id && $0.until > moment }
            try require(index != nil)
            if let index { allSilences[index].until = moment }
        case .putToken(let token):
            try require(!doorTokens.contains { $0.name == token.name || $0.digest == token.digest })
            doorTokens.append(token)
        case .noteToken(let id, let moment):
            for index in doorTokens.indices where doorTokens[index].id == id {
                doorTokens[index].usedAt = max(doorTokens[index].usedAt ?? moment, moment)
            }
        case .removeToken(let name):
            try require(doorTokens.contains { $0.name == name })
            doorTokens.removeAll { $0.name == name }
        case .putExpectation(let expectation, let old):
            let stored = allExpectations.first { $0.name == expectation.name }
            try require(stored?.revision == old)
            try require(old != nil || !allExpectations.contains { $0.digest == expectation.digest })
            allExpectations.removeAll { $0.name == expectation.name }
            allExpectations.append(expectation)
        case .removeExpectation(let name):
            try require(allExpectations.contains { $0.name == name })
            allExpectations.removeAll { $0.name == name }
        case .noteBot(let name, let note): states[name, default: BotRecord(name: name)].note = note
        case .insertMessage(let record):
            if !messages.contains(where: { $0.message.id == record.message.id }) { messages.append(record) }
        case .markRead(let bot, let thread, let moment):
            for index in messages.indices {
                let message = messages[index].message
                if message.itemKey == .thread(bot: bot, thread: thread), message.at <= moment {
                    messages[index].read = true
                }
            }
        case .pinMessage(let id, let isPinned):
            for index in messages.indices where messages[index].message.id == id {
                messages[index].pinned = isPinned
            }
        case .giveMessages, .answerMessages, .keepSession, .keepSummary, .beginSession, .react,
            .insertAttachment:
            talk.apply(change, messages: &messages)
        case .insertQuestion(let record):
            try require(!questions.contains { $0.id == record.id })
            questions.append(QuestionRecord(record.question, run: record.run))
        case .closeQuestion(let id, let end):
            guard let index = questions.firstIndex(where: { $0.id == id && $0.end == nil }) else {
                throw Refused()
            }
            questions[index].end = end
        case .putItem(let item, let old):
            try require(items[item.key]?.revision == old)
            items[item.key] = item
        case .insertOutbox(let entry):
            if outbox.contains(where: { $0.cause == entry.cause }) { break }
            try require(!outbox.contains { $0.id == entry.id })
            outbox.append(entry)
        case .moveOutbox(let move): try self.move(move)
        case .releaseOutbox(let step): release(step)
        case .parkOutbox(let step): park(step)
        case .replayOutbox(let channel, let since, let at):
            for index in outbox.indices
            where outbox[index].isReplayable && outbox[index].channel == channel
                && outbox[index].createdAt >= since
            {
                (outbox[index].state, outbox[index].nextAt, outbox[index].settledAt) = (.pending, at, nil)
                outbox[index].attempts = 1
            }
        case .discardOutbox(let channel, let at):
            for index in outbox.indices
            where outbox[index].channel == channel && !outbox[index].state.isSettled {
                (outbox[index].state, outbox[index].nextAt) = (.discarded, nil)
                outbox[index].settledAt = at
            }
        case .supersedeHeld(let item, let at):
            for index in outbox.indices
            where outbox[index].item == item && outbox[index].state == .held
                && (outbox[index].held?.reason ?? .othersFirst) == .othersFirst
            {
                (outbox[index].state, outbox[index].nextAt) = (.superseded, nil)
                outbox[index].settledAt = at
            }
        case .rewriteOutbox(let id, let reason, let body, let item, let nextAt):
            guard let index = outbox.firstIndex(where: { $0.id == id }) else { throw Refused() }
            try require(outbox[index].state == .pending && outbox[index].attempts == 0)
            outbox[index].reason = reason
            outbox[index].body = body
            outbox[index].item = item
            outbox[index].nextAt = nextAt
        case .wantSurface(let channel, let item, let revision, let ring, let at):
            let index = surfaceIndex(channel, item, at: at)
            surfaces[index].want(revision, ring: ring, at: at)
        case .showSurface(let channel, let item, let revision, let remote, _):
            guard let index = surfaceIndex(channel, item) else { throw Refused() }
            surfaces[index].show(revision, remote)
        case .dismissSurface(let channel, let item, let dismissed):
            guard let index = surfaceIndex(channel, item) else { throw Refused() }
            surfaces[index].dismiss(dismissed)
        case .refuseSurface(let channel, let item, let revision, let reason):
            guard let index = surfaceIndex(channel, item) else { throw Refused() }
            surfaces[index].record.refused = revision
            surfaces[index].record.refusal = reason
        case .forgetRemotes(let channel):
            for index in surfaces.indices where surfaces[index].record.channel == channel {
                surfaces[index].forget()
            }
        case .insertOutboxAttempt(var attempt):
            let numbers = failedAttempts.filter { $0.outbox == attempt.outbox }.map(\.number)
            if numbers.contains(attempt.number) { attempt.number = (numbers.max() ?? 0) + 1 }
            failedAttempts.append(attempt)
        case .putFallback(let fallback):
            var fallback = fallback
            let old = allFallbacks.first { $0.outbox == fallback.outbox }
            fallback.dueAt = min(fallback.dueAt, old?.dueAt ?? fallback.dueAt)
            allFallbacks.removeAll { $0.outbox == fallback.outbox }
            allFallbacks.append(fallback)
        case .removeFallback(let id):
            try require(allFallbacks.contains { $0.outbox == id })
            allFallbacks.removeAll { $0.outbox == id }
        case .insertReceipt(let receipt): receipts.append(receipt)
        case .putChannel(let channel): channels[channel.name] = channel
        case .append(let event):
            lastNumber += 1
            events.append(EventRecord(seq: lastNumber, event: event))
        case .moveConsumer(let name, let old, let new):
            try require(cursors[name, default: 0] == old)
            cursors[name] = new
        case .recordVerdicts(let records):
            for record in records {
                verdicts.removeAll { $0.event == record.event && $0.channel == record.channel }
                verdicts.append(record)
            }
            verdicts.sort { ($0.event, $0.channel) < ($1.event, $1.channel) }
        case .removeRun(let id):
            try require(runs[id]?.state.isEnded ?? true)
            runs[id] = nil
            attempts.removeAll { $0.run == id }
            profiles[id] = nil
        case .removeHistory(let moment, let limit): removeHistory(before: moment, limit: limit)
        case .setFact(let name, let value): facts[name] = value
        }
        return nil
    }

    func require(_ isTrue: Bool) throws(Refused) {
        if !isTrue { throw Refused() }
    }
}

/// Runs by id, and in the order they were inserted.
struct ModelRuns {
    private var runs: [String: (number: Int, run: RunRecord)] = [:]
    /// The run of each job and cause.
    private var ids: [String: String] = [:]
    private var last = 0

    /// A run that changes; nil removes it.
    subscript(id: String) -> RunRecord? {
        get { runs[id]?.run }
        set {
            if let newValue {
                runs[id]?.run = newValue
            } else if let old = runs.removeValue(forKey: id) {
                ids[Self.cause(old.run)] = nil
            }
        }
    }

    mutating func append(_ run: RunRecord) {
        last += 1
        runs[run.id] = (last, run)
        ids[Self.cause(run)] = run.id
    }

    /// The run of the same job and cause.
    func like(_ run: RunRecord) -> RunRecord? { ids[Self.cause(run)].flatMap { self[$0] } }

    /// All of them, in the order they were inserted.
    var all: [RunRecord] { runs.values.sorted { $0.number < $1.number }.map(\.run) }

    private static func cause(_ run: RunRecord) -> String { "\(run.job) \(run.cause)" }
}
