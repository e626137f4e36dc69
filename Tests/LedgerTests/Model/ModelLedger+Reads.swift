import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

// Every read over the model's arrays: of lists the newest are the last.

extension ModelLedger: JobReading, SlotReading {
    func jobs(after name: String, limit: Int) -> [JobRecord] {
        Array(jobs.values.filter { $0.name > name }.sorted { $0.name < $1.name }.prefix(limit))
    }

    func slotJobs(after name: String, limit: Int) -> [SlotJob] {
        jobs(after: name, limit: limit).map { SlotJob($0) }
    }

    func jobs(named names: some Sequence<String> & Sendable) -> [JobRecord] { names.compactMap { jobs[$0] } }

    func job(named name: String) -> JobRecord? { jobs[name] }

    func spec(of job: String, revision: Int) -> JobSpec? { specs[job]?[revision] }

    func lastRevision(of job: String) -> Int { specs[job]?.keys.max() ?? 0 }

    func fact(named name: String) -> String? { facts[name] }

    func watermark() -> Watermark? { mark }

    func spans(of job: String?, limit: Int) -> [SlotSpan] {
        let named = spans.filter { job == nil || $0.job == job }
        return Array(named.sorted { ($0.era, $0.last) > ($1.era, $1.last) }.prefix(limit))
    }
}

extension ModelLedger: BotReading {
    func bots() -> [BotRecord] { states.values.sorted { $0.name < $1.name } }

    func botEntries() -> [BotEntry] { ownBots.values.sorted { $0.name < $1.name } }

    func months(of bot: String?) -> [BotMonth] { months.filter { bot == nil || $0.bot == bot } }
}

extension ModelLedger: RunReading, HistoryReading {
    func run(id: String) -> RunRecord? { runs[id] }

    func run(job: String, ordinal: Int) -> RunRecord? {
        runs.all.first { $0.job == job && $0.ordinal == ordinal }
    }

    func run(job: String, cause: String) -> RunRecord? {
        runs.all.first { $0.job == job && $0.cause == cause }
    }

    func run(cause: String) -> RunRecord? { runs.all.first { $0.cause == cause } }

    func activeRuns() -> [RunRecord] { runs.all.filter { !$0.state.isEnded } }

    func runs(ids: some Sequence<String> & Sendable) -> [RunRecord] {
        let ids = Set(ids)
        return runs.all.filter { ids.contains($0.id) }
    }

    func runs(_ filter: RunFilter) -> [RunRecord] {
        let found = runs.all.reversed().filter { run in
            (filter.job == nil || run.job == filter.job)
                && (filter.states.isEmpty || filter.states.contains(run.state))
                && (filter.since.map { run.queuedAt >= $0 } ?? true)
        }
        return Array(found.prefix(filter.limit))
    }

    func lastRuns(of jobs: some Sequence<String> & Sendable) -> [RunRecord] {
        jobs.compactMap { job in runs.all.last { $0.job == job } }
    }

    func profiles(of job: String, limit: Int) -> [RunProfile] {
        let ended = runs.all.filter { $0.job == job && $0.state.isEnded }.suffix(10 * limit)
        return ended.filter { $0.state == .completed }.suffix(limit).compactMap { run in
            if let bytes = profiles[run.id]?.bytes { return RunProfile(bytes: bytes) }
            guard run.attempt == 1, let start = run.startedAt, let end = run.endedAt else { return nil }
            return RunProfile(total: (end - start) / .seconds(1))
        }
    }

    func attempts(of run: String) -> [AttemptRecord] {
        attempts.filter { $0.run == run }.sorted { $0.n < $1.n }
    }

    func jobsWithHistory(after job: String, limit: Int) -> [String] {
        let names = Set(runs.all.filter { $0.state.isEnded && $0.job > job }.map(\.job))
        return Array(names.sorted().prefix(limit))
    }

    func expiredRuns(
        of job: String, by retention: Retention, boot: String, at now: Moment, limit: Int
    ) -> [ExpiredRun] {
        let ended = runs.all.filter { $0.job == job && $0.state.isEnded }
        let failed = ended.filter { [.failed, .timedOut, .lost].contains($0.state) }
        let completed = ended.filter { $0.state == .completed }
        let kept = Set(
            (failed.suffix(retention.failures) + completed.suffix(retention.completions)).map(\.id))
        let newest = Set(ended.suffix(retention.runs).map(\.id))
        let expired = ended.filter { run in
            let isOld = run.endedAt.map { now - $0 > retention.age } ?? false
            return run.cause != "boot:\(boot)" && (isOld || !newest.contains(run.id))
                && !kept.contains(run.id)
        }
        return expired.prefix(limit).map { ExpiredRun(id: $0.id, attempts: $0.attempt) }
    }

    func expiredRows(before moment: Moment, limit: Int) -> Int {
        let old = history(before: moment, limit: limit)
        return old.events.count + old.verdicts.count + old.entries.count + old.receipts.count
            + old.spans.count + old.items.count + old.surfaces.count + old.questions.count
    }
}

extension ModelLedger: QuestionReading {
    func question(id: String) -> QuestionRecord? { questions.first { $0.id == id } }

    func openQuestions() -> [QuestionRecord] { questions.filter { $0.end == nil } }

    func question(about subject: String, answered answer: String, after moment: Moment) -> QuestionRecord? {
        let alike = questions.filter { record in
            guard let end = record.end, record.question.subject == subject else { return false }
            let isGiven = end.by.map { $0 != QuestionEnd.byDefault && !$0.hasPrefix(QuestionEnd.trust) }
            return end.state == .answered && end.answer == answer && end.at > moment && isGiven ?? false
        }
        return alike.enumerated().max {
            ($0.element.end?.at ?? moment, $0.offset) < ($1.element.end?.at ?? moment, $1.offset)
        }?.element
    }

    func questions(limit: Int) -> [QuestionRecord] { Array(questions.reversed().prefix(limit)) }
}

extension ModelLedger: TalkReading {
    func message(id: String) -> MessageRecord? { messages.first { $0.message.id == id } }

    func mentions(after number: Int64, limit: Int) -> (messages: [NumberedMessage], last: Int64) {
        let found = messages.enumerated().map {
            NumberedMessage(number: Int64($0.offset + 1), record: $0.element)
        }
        .filter { $0.number > number && $0.record.message.text.contains("@") }
        return (Array(found.prefix(limit)), Int64(messages.count))
    }

    func search(_ text: String, bot: String?, since: Moment?, limit: Int) -> MessageHits {
        func words(_ text: String) -> [String] {
            text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
        }
        let asked = words(text)
        func find(_ matches: @escaping (String, String) -> Bool) -> MessageHits? {
            let all = messages.reversed().filter { record in
                let said = words((record.message.title ?? "") + " " + record.message.text)
                return !asked.isEmpty && asked.allSatisfy { word in said.contains { matches($0, word) } }
            }
            let found = all.filter { record in
                (bot == nil || record.message.bot == bot) && since.map { record.message.at >= $0 } ?? true
            }
            return found.isEmpty
                ? nil
                : MessageHits(Array(found.prefix(limit)), isRanked: all.count <= MessageHits.mostRanked)
        }
        let said = Set(messages.flatMap { words(($0.message.title ?? "") + " " + $0.message.text) })
        return find { said.contains($1) ? $0 == $1 : $0.hasPrefix($1) } ?? find { $0.hasPrefix($1) }
            ?? MessageHits([], isRanked: true)
    }

    func messages(bot: String?, search: String?, since: Moment?, limit: Int) -> [MessageRecord] {
        let found = messages.reversed().filter { record in
            (bot == nil || record.message.bot == bot) && since.map { record.message.at >= $0 } ?? true
                && (search.map { record.message.text.lowercased().contains($0.lowercased()) } ?? true)
        }
        return Array(found.prefix(limit))
    }

    func messages(bot: String, thread: String, after number: Int64, limit: Int) -> [NumberedMessage] {
        Array(lines(bot, thread, after: number).reversed().prefix(limit))
    }

    func said(bot: String, thread: String, after number: Int64, limit: Int) -> [NumberedMessage] {
        let said = lines(bot, thread, after: number).filter {
            $0.record.message.author == .user && $0.record.askedRun != MessageRecord.saidElsewhere
        }
        return Array(said.prefix(limit))
    }

    private func lines(_ bot: String, _ thread: String, after number: Int64) -> [NumberedMessage] {
        messages.enumerated().map { NumberedMessage(number: Int64($0.offset + 1), record: $0.element) }
            .filter { $0.number > number && $0.record.message.itemKey == .thread(bot: bot, thread: thread) }
    }

    func conversation(bot: String, thread: String) -> ConversationRecord? {
        talk.conversations[.thread(bot: bot, thread: thread)]?.record
    }

    func unaskedThreads() -> [UnaskedThread] {
        let open = messages.enumerated().filter {
            $0.element.message.author == .user && $0.element.askedRun == nil
        }
        let threads = Dictionary(grouping: open) { $0.element.message.itemKey }.values
        return threads.compactMap { said in
            guard let first = said.first, let last = said.last?.element.message else { return nil }
            return UnaskedThread(
                bot: last.bot, thread: last.thread, first: Int64(first.offset + 1), newest: last.id)
        }.sorted { ($0.bot, $0.thread) < ($1.bot, $1.thread) }
    }

    func newReactions(bot: String, thread: String) -> [ReactionRecord] {
        talk.reactions.filter { reaction in
            !reaction.isShown
                && message(id: reaction.record.message)?.message.itemKey == .thread(bot: bot, thread: thread)
        }.map(\.record)
    }

    func attachment(of message: String) -> [UInt8]? { talk.files[message] }

    func unread() -> [String: Int] {
        messages.filter { !$0.read }.reduce(into: [:]) { $0[$1.message.bot, default: 0] += 1 }
    }

    func item(_ key: ItemKey) -> ItemRecord? { items[key] }

    func items(limit: Int) -> [ItemRecord] {
        Array(items.values.sorted { $0.updatedAt > $1.updatedAt }.prefix(limit))
    }

    func itemsToWake(limit: Int) -> [ItemRecord] {
        let waiting = items.values.filter { $0.flushAt != nil }
        return Array(waiting.sorted { ($0.flushAt ?? at(0)) < ($1.flushAt ?? at(0)) }.prefix(limit))
    }
}

extension ModelLedger: OutboxReading, EventReading {
    func channelEntries() -> [ChannelEntry] { ownChannels }

    func silences() -> [Silence] { allSilences }

    func tokens() -> [TokenRecord] { doorTokens.sorted { $0.name < $1.name } }

    func token(digest: String) -> TokenRecord? { doorTokens.first { $0.digest == digest } }

    func expectations() -> [ExpectationRecord] { allExpectations.sorted { $0.name < $1.name } }

    func expectation(digest: String) -> ExpectationRecord? { allExpectations.first { $0.digest == digest } }

    func outbox(id: String) -> OutboxRecord? { outbox.first { $0.id == id } }

    func outbox(cause: String) -> OutboxRecord? { outbox.first { $0.cause == cause } }

    func outbox(item: String, channel: String, limit: Int) -> [OutboxRecord] {
        Array(outbox.reversed().filter { $0.item == item && $0.channel == channel }.prefix(limit))
    }

    func outbox(states: Set<OutboxState>, limit: Int) -> [OutboxRecord] {
        Array(outbox.reversed().filter { states.isEmpty || states.contains($0.state) }.prefix(limit))
    }

    func pendingOutbox(channel: String, limit: Int) -> [OutboxRecord] {
        var lines: Set<String> = []
        let heads = pending(channel).filter { entry in
            (entry.item ?? entry.run).map { lines.insert($0).inserted } ?? true
        }
        // The sort is stable: of two due together the first inserted comes first.
        let sorted = heads.sorted { ($0.nextAt ?? .distantPast) < ($1.nextAt ?? .distantPast) }
        return Array(sorted.prefix(limit))
    }

    func outboxLine(of channel: String, limit: Int) -> (pending: [OutboxRecord], heldUntil: Moment?) {
        let held = outbox.filter { $0.channel == channel && $0.state == .held }
        return (pendingOutbox(channel: channel, limit: limit), held.compactMap(\.nextAt).min())
    }

    func untriedOutbox(channel: String, item: String) -> OutboxRecord? {
        pending(channel).last { $0.item == item && $0.attempts == 0 }
    }

    private func pending(_ channel: String) -> [OutboxRecord] {
        outbox.filter { $0.channel == channel && $0.state == .pending }
    }

    func replayableOutbox(channel: String, since: Moment) -> Int {
        outbox.filter { $0.channel == channel && $0.createdAt >= since && $0.isReplayable }.count
    }

    func failureArrivals(before id: String) -> [String: FailureArrival] {
        guard let last = runs[id] else { return [:] }
        let earlier = runs.all.filter {
            $0.job == last.job && $0.ordinal < last.ordinal && $0.state.isEnded
        }
        let success = earlier.filter { $0.state == .completed }.map(\.ordinal).max() ?? 0
        let failed = Set(earlier.filter { $0.ordinal > success }.map(\.id))
        var arrivals: [String: FailureArrival] = [:]
        for entry in outbox
        where ["run.failed", "run.lost"].contains(entry.type) && entry.run.map(failed.contains) == true {
            let digest = outbox.first { $0.id == entry.listedIn }
            let arrival = FailureArrival((digest ?? entry).state)
            arrivals[entry.channel] = max(arrivals[entry.channel] ?? arrival, arrival)
        }
        return arrivals
    }

    func outboxCounts(byChannelIn states: Set<OutboxState>) -> [String: Int] {
        outbox.filter { states.contains($0.state) }.reduce(into: [:]) { $0[$1.channel, default: 0] += 1 }
    }

    func outboxCounts() -> [OutboxState: Int] {
        outbox.reduce(into: [:]) { $0[$1.state, default: 0] += 1 }
    }

    func surfaces(channel: String, all: Bool) -> [SurfaceRecord] {
        surfaces.map(\.record).filter { surface in
            surface.channel == channel
                && (all
                    || (surface.wanted != surface.shown && !surface.dismissed
                        && surface.refused != surface.wanted))
        }.sorted { ($0.wantedAt, $0.item) < ($1.wantedAt, $1.item) }
    }

    func refusedSurfaces(channel: String) -> [SurfaceRecord] {
        surfaces(channel: channel, all: true).filter {
            $0.refused != 0 && $0.refused == $0.wanted && !$0.dismissed
        }
    }

    func surface(channel: String, item: String) -> SurfaceRecord? {
        surfaceIndex(channel, item).map { surfaces[$0].record }
    }

    func surface(channel: String, remote: RemoteID) -> SurfaceRecord? {
        surfaces.map(\.record).first { $0.channel == channel && $0.remote == remote }
    }

    func outboxAttempts(of id: String) -> [OutboxAttempt] {
        failedAttempts.filter { $0.outbox == id }.sorted { $0.number < $1.number }
    }

    func nextFallback() -> Moment? { allFallbacks.map(\.dueAt).min() }

    func fallbackCount() -> Int { allFallbacks.count }

    func fallbacks(dueBy moment: Moment, limit: Int) -> [FallbackRecord] {
        let due = allFallbacks.filter { fallback in
            fallback.dueAt <= moment || outbox.first { $0.id == fallback.outbox }?.state.isSettled ?? true
        }
        return Array(due.sorted { ($0.dueAt, $0.outbox) < ($1.dueAt, $1.outbox) }.prefix(limit))
    }

    func outboxWeights(of channel: String) -> [OutboxWeight] {
        outbox.filter { $0.channel == channel && [.pending, .waiting, .held].contains($0.state) }.map {
            OutboxWeight(
                id: $0.id, type: $0.type, state: $0.state, attempts: $0.attempts, createdAt: $0.createdAt,
                bytes: $0.body.count)
        }
    }

    func receipts(of outbox: String) -> [ReceiptRecord] { receipts.filter { $0.outbox == outbox } }

    func channel(named name: String) -> ChannelRecord? { channels[name] }

    func events(of types: Set<EventType>, after seq: Int64, limit: Int) -> [EventRecord] {
        Array(events(after: seq, limit: .max).filter { types.contains($0.event.type) }.prefix(limit))
    }

    func events(after seq: Int64, limit: Int) -> [EventRecord] {
        Array(events.filter { $0.seq > seq }.prefix(limit))
    }

    func lastEvent() -> Int64 { lastNumber }

    func cursor(of consumer: String) -> Int64 { cursors[consumer] ?? 0 }
}

extension ModelLedger: VerdictReading {
    func events(about subject: EventSubject, limit: Int) -> [EventRecord] {
        let found = events.filter {
            let columns = $0.event.fact.columns
            return switch subject {
            case .job(let name): columns.job == name
            case .run(let id): columns.run == id
            case .subject(let text): columns.subject == text
            }
        }
        return Array(found.suffix(limit))
    }

    func events(numbered numbers: some Sequence<Int64> & Sendable) -> [EventRecord] {
        let numbers = Set(numbers)
        return events.filter { numbers.contains($0.seq) }
    }

    func verdicts(on events: some Sequence<Int64> & Sendable) -> [VerdictRecord] {
        let numbers = Set(events)
        return verdicts.filter { numbers.contains($0.event) }
    }

    func verdicts(
        onItem key: String, from event: Int64, newest: Bool, limit: Int
    ) -> [VerdictRecord] {
        let found = verdicts.filter { $0.item == key && $0.event >= event }
        return Array(newest ? found.suffix(limit) : found.prefix(limit))
    }

    func ids(of kind: IDKind, matching short: ShortID, limit: Int) -> [String] {
        let all =
            switch kind {
            case .run: runs.all.map(\.id)
            case .message: messages.map(\.message.id)
            case .outbox: outbox.map(\.id)
            case .question: questions.map(\.id)
            }
        let begun = all.filter { $0.hasPrefix(short.text) }
        let found = begun.isEmpty ? all.filter { $0.suffix(8).hasPrefix(short.text) } : begun
        return Array(found.sorted(by: >).prefix(limit))
    }
}
