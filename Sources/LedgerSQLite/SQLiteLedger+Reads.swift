package import Delivery
package import Grouping
package import Ledger
package import Timeline
package import Tracking

// The reads, each on a reader of its own.

extension SQLiteLedger {
    package func jobs(after name: String, limit: Int) async throws(LedgerError) -> [JobRecord] {
        try await read { database throws(StoreFailure) in
            try JobRows.jobs(after: name, limit: limit, in: database)
        }
    }

    package func slotJobs(after name: String, limit: Int) async throws(LedgerError) -> [SlotJob] {
        try await read { database throws(StoreFailure) in
            try SlotJobRows.jobs(after: name, limit: limit, in: database)
        }
    }

    package func jobs(named names: some Sequence<String> & Sendable) async throws(LedgerError) -> [JobRecord]
    {
        try await read { database throws(StoreFailure) in try JobRows.jobs(named: names, in: database) }
    }

    package func job(named name: String) async throws(LedgerError) -> JobRecord? {
        try await read { database throws(StoreFailure) in try JobRows.job(named: name, in: database) }
    }

    package func spec(of job: String, revision: Int) async throws(LedgerError) -> JobSpec? {
        try await read { database throws(StoreFailure) in
            try JobRows.spec(of: job, revision: revision, in: database)
        }
    }

    package func lastRevision(of job: String) async throws(LedgerError) -> Int {
        try await read { database throws(StoreFailure) in
            try JobRows.lastRevision(of: job, in: database)
        }
    }

    package func fact(named name: String) async throws(LedgerError) -> String? {
        try await read { database throws(StoreFailure) in try JobRows.fact(named: name, in: database) }
    }
}

extension SQLiteLedger {
    package func watermark() async throws(LedgerError) -> Watermark? {
        try await read { database throws(StoreFailure) in try SlotRows.watermark(in: database) }
    }

    package func spans(of job: String?, limit: Int) async throws(LedgerError) -> [SlotSpan] {
        try await read { database throws(StoreFailure) in
            try SlotRows.spans(of: job, limit: limit, in: database)
        }
    }
}

extension SQLiteLedger {
    package func run(id: String) async throws(LedgerError) -> RunRecord? {
        try await read { database throws(StoreFailure) in try RunRows.run(id: id, in: database) }
    }

    package func run(job: String, ordinal: Int) async throws(LedgerError) -> RunRecord? {
        try await read { database throws(StoreFailure) in
            try RunRows.run(job: job, ordinal: ordinal, in: database)
        }
    }

    package func run(job: String, cause: String) async throws(LedgerError) -> RunRecord? {
        try await read { database throws(StoreFailure) in
            try RunRows.run(job: job, cause: cause, in: database)
        }
    }

    package func run(cause: String) async throws(LedgerError) -> RunRecord? {
        try await read { database throws(StoreFailure) in try RunRows.run(cause: cause, in: database) }
    }

    package func activeRuns() async throws(LedgerError) -> [RunRecord] {
        try await read { database throws(StoreFailure) in try RunRows.active(in: database) }
    }

    package func runs(ids: some Sequence<String> & Sendable) async throws(LedgerError) -> [RunRecord] {
        try await read { database throws(StoreFailure) in try RunRows.runs(ids: ids, in: database) }
    }

    package func runs(_ filter: RunFilter) async throws(LedgerError) -> [RunRecord] {
        try await read { database throws(StoreFailure) in try RunRows.runs(filter, in: database) }
    }

    package func lastRuns(
        of jobs: some Sequence<String> & Sendable
    ) async throws(LedgerError) -> [RunRecord] {
        try await read { database throws(StoreFailure) in try RunRows.last(of: jobs, in: database) }
    }

    package func profiles(of job: String, limit: Int) async throws(LedgerError) -> [RunProfile] {
        try await read { database throws(StoreFailure) in
            try ProfileRows.last(of: job, limit: limit, in: database)
        }
    }

    package func attempts(of run: String) async throws(LedgerError) -> [AttemptRecord] {
        try await read { database throws(StoreFailure) in try RunRows.attempts(of: run, in: database) }
    }
}

extension SQLiteLedger {
    package func message(id: String) async throws(LedgerError) -> MessageRecord? {
        try await read { database throws(StoreFailure) in try TalkRows.message(id: id, in: database) }
    }

    package func search(
        _ text: String, bot: String?, since: Moment?, limit: Int
    ) async throws(LedgerError) -> MessageHits {
        // Where nothing can be written, what was found before still is.
        if words.ask() { _ = try? await commit([]) }
        return try await read { database throws(StoreFailure) in
            try SearchRows.search(text, bot: bot, since: since, limit: limit, in: database)
        }
    }

    package func messages(
        bot: String?, search: String?, since: Moment?, limit: Int
    ) async throws(LedgerError) -> [MessageRecord] {
        try await read { database throws(StoreFailure) in
            try TalkRows.messages(bot: bot, search: search, since: since, limit: limit, in: database)
        }
    }

    package func mentions(
        after number: Int64, limit: Int
    ) async throws(LedgerError) -> (messages: [NumberedMessage], last: Int64) {
        try await read { database throws(StoreFailure) in
            try ConversationRows.mentions(after: number, limit: limit, in: database)
        }
    }

    package func messages(
        bot: String, thread: String, after number: Int64, limit: Int
    ) async throws(LedgerError) -> [NumberedMessage] {
        try await read { database throws(StoreFailure) in
            try ConversationRows.messages(
                bot: bot, thread: thread, after: number, limit: limit, in: database)
        }
    }

    package func said(
        bot: String, thread: String, after number: Int64, limit: Int
    ) async throws(LedgerError) -> [NumberedMessage] {
        try await read { database throws(StoreFailure) in
            try ConversationRows.said(bot: bot, thread: thread, after: number, limit: limit, in: database)
        }
    }

    package func conversation(
        bot: String, thread: String
    ) async throws(LedgerError) -> ConversationRecord? {
        try await read { database throws(StoreFailure) in
            try ConversationRows.conversation(bot: bot, thread: thread, in: database)
        }
    }

    package func unaskedThreads() async throws(LedgerError) -> [UnaskedThread] {
        try await read { database throws(StoreFailure) in try ConversationRows.unasked(in: database) }
    }

    package func newReactions(
        bot: String, thread: String
    ) async throws(LedgerError) -> [ReactionRecord] {
        try await read { database throws(StoreFailure) in
            try ConversationRows.newReactions(bot: bot, thread: thread, in: database)
        }
    }

    package func attachment(of message: String) async throws(LedgerError) -> [UInt8]? {
        try await read { database throws(StoreFailure) in
            try ConversationRows.attachment(of: message, in: database)
        }
    }

    package func bots() async throws(LedgerError) -> [BotRecord] {
        try await read { database throws(StoreFailure) in try BotRows.bots(in: database) }
    }

    package func botEntries() async throws(LedgerError) -> [BotEntry] {
        try await read { database throws(StoreFailure) in try BotRows.entries(in: database) }
    }

    package func replayableOutbox(channel: String, since: Moment) async throws(LedgerError) -> Int {
        try await read { database throws(StoreFailure) in
            try OutboxRows.replayable(channel: channel, since: since, in: database)
        }
    }

    package func channelEntries() async throws(LedgerError) -> [ChannelEntry] {
        try await read { database throws(StoreFailure) in try ChannelEntryRows.entries(in: database) }
    }

    package func silences() async throws(LedgerError) -> [Silence] {
        try await read { database throws(StoreFailure) in try SilenceRows.silences(in: database) }
    }

    package func tokens() async throws(LedgerError) -> [TokenRecord] {
        try await read { database throws(StoreFailure) in try TokenRows.tokens(in: database) }
    }

    package func token(digest: String) async throws(LedgerError) -> TokenRecord? {
        try await read { database throws(StoreFailure) in try TokenRows.token(digest: digest, in: database) }
    }

    package func expectations() async throws(LedgerError) -> [ExpectationRecord] {
        try await read { database throws(StoreFailure) in try ExpectationRows.expectations(in: database) }
    }

    package func expectation(digest: String) async throws(LedgerError) -> ExpectationRecord? {
        try await read { database throws(StoreFailure) in
            try ExpectationRows.expectation(digest: digest, in: database)
        }
    }

    package func months(of bot: String?) async throws(LedgerError) -> [BotMonth] {
        try await read { database throws(StoreFailure) in try BotRows.months(of: bot, in: database) }
    }

    package func question(id: String) async throws(LedgerError) -> QuestionRecord? {
        try await read { database throws(StoreFailure) in try QuestionRows.question(id: id, in: database) }
    }

    package func openQuestions() async throws(LedgerError) -> [QuestionRecord] {
        try await read { database throws(StoreFailure) in try QuestionRows.open(in: database) }
    }

    package func question(
        about subject: String, answered answer: String, after moment: Moment
    ) async throws(LedgerError) -> QuestionRecord? {
        try await read { database throws(StoreFailure) in
            try QuestionRows.answered(about: subject, answer, since: moment, in: database)
        }
    }

    package func questions(limit: Int) async throws(LedgerError) -> [QuestionRecord] {
        try await read { database throws(StoreFailure) in
            try QuestionRows.newest(limit: limit, in: database)
        }
    }

    package func unread() async throws(LedgerError) -> [String: Int] {
        try await read { database throws(StoreFailure) in try TalkRows.unread(in: database) }
    }

    package func item(_ key: ItemKey) async throws(LedgerError) -> ItemRecord? {
        try await read { database throws(StoreFailure) in try TalkRows.item(key, in: database) }
    }

    package func items(limit: Int) async throws(LedgerError) -> [ItemRecord] {
        try await read { database throws(StoreFailure) in try TalkRows.items(limit: limit, in: database) }
    }

    package func itemsToWake(limit: Int) async throws(LedgerError) -> [ItemRecord] {
        try await read { database throws(StoreFailure) in
            try TalkRows.itemsToWake(limit: limit, in: database)
        }
    }
}

extension SQLiteLedger {
    package func events(after seq: Int64, limit: Int) async throws(LedgerError) -> [EventRecord] {
        try await read { database throws(StoreFailure) in
            try EventRows.events(after: seq, limit: limit, in: database)
        }
    }

    package func events(
        of types: Set<EventType>, after seq: Int64, limit: Int
    ) async throws(LedgerError) -> [EventRecord] {
        try await read { database throws(StoreFailure) in
            try EventRows.events(of: types, after: seq, limit: limit, in: database)
        }
    }

    package func lastEvent() async throws(LedgerError) -> Int64 {
        try await read { database throws(StoreFailure) in try EventRows.last(in: database) }
    }

    package func cursor(of consumer: String) async throws(LedgerError) -> Int64 {
        try await read { database throws(StoreFailure) in
            try EventRows.cursor(of: consumer, in: database)
        }
    }
}

extension SQLiteLedger {
    package func events(
        about subject: EventSubject, limit: Int
    ) async throws(LedgerError) -> [EventRecord] {
        try await read { database throws(StoreFailure) in
            try EventRows.events(about: subject, limit: limit, in: database)
        }
    }

    package func events(
        numbered numbers: some Sequence<Int64> & Sendable
    ) async throws(LedgerError) -> [EventRecord] {
        try await read { database throws(StoreFailure) in
            try EventRows.events(numbered: Array(numbers), in: database)
        }
    }

    package func verdicts(
        on events: some Sequence<Int64> & Sendable
    ) async throws(LedgerError) -> [VerdictRecord] {
        try await read { database throws(StoreFailure) in
            try VerdictRows.verdicts(on: Array(events), in: database)
        }
    }

    package func verdicts(
        onItem key: String, from event: Int64, newest: Bool, limit: Int
    ) async throws(LedgerError) -> [VerdictRecord] {
        try await read { database throws(StoreFailure) in
            try VerdictRows.verdicts(
                onItem: key, from: event, newest: newest, limit: limit, in: database)
        }
    }
}

extension SQLiteLedger {
    package func jobsWithHistory(after job: String, limit: Int) async throws(LedgerError) -> [String] {
        try await read { database throws(StoreFailure) in
            try HistoryRows.jobs(after: job, limit: limit, in: database)
        }
    }

    package func expiredRuns(
        of job: String, by retention: Retention, boot: String, at now: Moment, limit: Int
    ) async throws(LedgerError) -> [ExpiredRun] {
        try await read { database throws(StoreFailure) in
            try HistoryRows.expired(
                of: job, by: retention, boot: boot, at: now, limit: limit, in: database)
        }
    }

    package func expiredRows(before moment: Moment, limit: Int) async throws(LedgerError) -> Int {
        try await read { database throws(StoreFailure) in
            try HistoryRows.count(before: moment, limit: limit, in: database)
        }
    }
}

extension SQLiteLedger {
    package func ids(
        of kind: IDKind, matching short: ShortID, limit: Int
    ) async throws(LedgerError) -> [String] {
        try await read { database throws(StoreFailure) in
            try ShortIDRows.ids(of: kind, matching: short, limit: limit, in: database)
        }
    }
}
