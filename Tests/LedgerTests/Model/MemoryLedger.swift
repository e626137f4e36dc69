import Delivery
import Dispatch
import Grouping
import Ledger
import Synchronization
import Timeline
import Tracking

/// The model as a ledger: the smallest store there is behind the commits of `Ledger`.
///
/// It is all that a store must bring: a ``Transaction`` on a thread of its own, and the reads.
final class MemoryLedger: CommittingLedger {
    let committer: Committer
    private let store: MemoryStore

    /// Opens what an earlier ledger of this process left at `path`, or makes a new one.
    init(path: String) {
        let store = MemoryStore.at(path)
        let thread = DispatchQueue(label: "ledger in memory")
        committer = Committer(MemoryTransaction(of: store)) { work in thread.async(execute: work) }
        self.store = store
    }

    func close() async { _ = await committer.close() }

    private func read<Value: Sendable>(
        _ body: (ModelLedger) -> Value
    ) async throws(LedgerError) -> Value {
        try await committer.read { () throws(LedgerError) in body(store.committed) }
    }
}

/// What was committed at one path.
private final class MemoryStore: Sendable {
    private static let stores = Mutex<[String: MemoryStore]>([:])
    private let model = Mutex(ModelLedger())

    static func at(_ path: String) -> MemoryStore {
        stores.withLock { stores in
            let store = stores[path] ?? MemoryStore()
            stores[path] = store
            return store
        }
    }

    var committed: ModelLedger {
        get { model.withLock(\.self) }
        set { model.withLock { $0 = newValue } }
    }
}

/// A copy of the model, which takes its place when the transaction is committed.
private final class MemoryTransaction: Transaction {
    private let store: MemoryStore
    private var model: ModelLedger

    init(of store: MemoryStore) {
        self.store = store
        model = store.committed
    }

    var lastEvent: Int64 { model.lastEvent() }

    func begin() { model = store.committed }

    func apply(_ changes: [Change]) throws(TransactionFailure) -> Commit {
        switch model.commit(changes) {
        case .success(let commit): return commit
        case .failure(let refusal):
            throw .refused(.fenced(index: refusal.index, change: changes[refusal.index].label))
        }
    }

    func read(_ reads: TurnReads, into input: inout TurnInput) {
        switch reads.events {
        case nil: break
        case .after(let seq, let limit)?: input.events = model.events(after: seq, limit: limit)
        case .of(let consumer, let limit)?:
            input.cursor = model.cursor(of: consumer)
            input.events = model.events(after: input.cursor, limit: limit)
        }
        if reads.itemsToWake > 0 { input.itemsToWake = model.itemsToWake(limit: reads.itemsToWake) }
        for id in reads.runs { input.runs[id] = model.run(id: id) }
        for (run, onlyWish) in input.runsWithSpec(of: reads) {
            let spec = model.spec(of: run.job, revision: run.revision)
            input.specs[run.id] = onlyWish && spec?.notify == nil ? nil : spec
            if run.state.isFailure, model.job(named: run.job) == nil, model.lastRevision(of: run.job) > 0 {
                input.removedJobs.insert(run.job)
            }
        }
        for run in reads.forecasts.compactMap({ input.runs[$0] }) {
            input.profiles[run.id] = model.profiles(of: run.job, limit: reads.profileCount)
        }
        for name in reads.jobs {
            let spec = model.job(named: name)?.spec
            input.jobSpecs[name] = spec?.notify == nil ? nil : spec
        }
        for id in reads.messages { input.messages[id] = model.message(id: id) }
        for key in input.items(of: reads) { input.items[key] = model.item(key) }
        for thread in input.threads(of: reads) {
            for record in model.messages where record.pinned && record.message.itemKey == thread {
                input.pinned.insert(record.message.id)
            }
            let unread = model.messages.filter { !$0.read && $0.message.itemKey == thread }
            // Of those of one moment the later row is the newer one.
            let newest = unread.enumerated().sorted {
                ($0.element.message.at, $0.offset) > ($1.element.message.at, $1.offset)
            }
            for (_, record) in newest.prefix(reads.unreadCount) { input.messages[record.message.id] = record }
            for channel in reads.channels {
                guard let entry = model.untriedOutbox(channel: channel, item: "\(thread)") else { continue }
                input.untried[thread, default: [:]][channel] = entry
            }
        }
    }

    func commit() { store.committed = model }

    func rollback() { model = store.committed }
}

extension MemoryLedger {
    func jobs(after name: String, limit: Int) async throws(LedgerError) -> [JobRecord] {
        try await read { $0.jobs(after: name, limit: limit) }
    }

    func slotJobs(after name: String, limit: Int) async throws(LedgerError) -> [SlotJob] {
        try await read { $0.slotJobs(after: name, limit: limit) }
    }

    func jobs(named names: some Sequence<String> & Sendable) async throws(LedgerError) -> [JobRecord] {
        try await read { $0.jobs(named: names) }
    }

    func job(named name: String) async throws(LedgerError) -> JobRecord? {
        try await read { $0.job(named: name) }
    }

    func spec(of job: String, revision: Int) async throws(LedgerError) -> JobSpec? {
        try await read { $0.spec(of: job, revision: revision) }
    }

    func lastRevision(of job: String) async throws(LedgerError) -> Int {
        try await read { $0.lastRevision(of: job) }
    }

    func fact(named name: String) async throws(LedgerError) -> String? {
        try await read { $0.fact(named: name) }
    }

    func watermark() async throws(LedgerError) -> Watermark? {
        try await read { $0.watermark() }
    }

    func spans(of job: String?, limit: Int) async throws(LedgerError) -> [SlotSpan] {
        try await read { $0.spans(of: job, limit: limit) }
    }

    func run(id: String) async throws(LedgerError) -> RunRecord? {
        try await read { $0.run(id: id) }
    }

    func run(job: String, ordinal: Int) async throws(LedgerError) -> RunRecord? {
        try await read { $0.run(job: job, ordinal: ordinal) }
    }

    func run(job: String, cause: String) async throws(LedgerError) -> RunRecord? {
        try await read { $0.run(job: job, cause: cause) }
    }

    func run(cause: String) async throws(LedgerError) -> RunRecord? {
        try await read { $0.run(cause: cause) }
    }

    func activeRuns() async throws(LedgerError) -> [RunRecord] {
        try await read { $0.activeRuns() }
    }

    func runs(ids: some Sequence<String> & Sendable) async throws(LedgerError) -> [RunRecord] {
        try await read { $0.runs(ids: ids) }
    }

    func runs(_ filter: RunFilter) async throws(LedgerError) -> [RunRecord] {
        try await read { $0.runs(filter) }
    }

    func lastRuns(of jobs: some Sequence<String> & Sendable) async throws(LedgerError) -> [RunRecord] {
        try await read { $0.lastRuns(of: jobs) }
    }

    func profiles(of job: String, limit: Int) async throws(LedgerError) -> [RunProfile] {
        try await read { $0.profiles(of: job, limit: limit) }
    }

    func attempts(of run: String) async throws(LedgerError) -> [AttemptRecord] {
        try await read { $0.attempts(of: run) }
    }

    func bots() async throws(LedgerError) -> [BotRecord] {
        try await read { $0.bots() }
    }

    func channelEntries() async throws(LedgerError) -> [ChannelEntry] {
        try await read { $0.channelEntries() }
    }

    func silences() async throws(LedgerError) -> [Silence] {
        try await read { $0.silences() }
    }

    func tokens() async throws(LedgerError) -> [TokenRecord] {
        try await read { $0.tokens() }
    }

    func token(digest: String) async throws(LedgerError) -> TokenRecord? {
        try await read { $0.token(digest: digest) }
    }

    func expectations() async throws(LedgerError) -> [ExpectationRecord] {
        try await read { $0.expectations() }
    }

    func expectation(digest: String) async throws(LedgerError) -> ExpectationRecord? {
        try await read { $0.expectation(digest: digest) }
    }

    func botEntries() async throws(LedgerError) -> [BotEntry] {
        try await read { $0.botEntries() }
    }

    func months(of bot: String?) async throws(LedgerError) -> [BotMonth] {
        try await read { $0.months(of: bot) }
    }

    func message(id: String) async throws(LedgerError) -> MessageRecord? {
        try await read { $0.message(id: id) }
    }

    func search(
        _ text: String, bot: String?, since: Moment?, limit: Int
    ) async throws(LedgerError) -> MessageHits {
        try await read { $0.search(text, bot: bot, since: since, limit: limit) }
    }

    func messages(
        bot: String?, search: String?, since: Moment?, limit: Int
    ) async throws(LedgerError) -> [MessageRecord] {
        try await read { $0.messages(bot: bot, search: search, since: since, limit: limit) }
    }

    func mentions(
        after number: Int64, limit: Int
    ) async throws(LedgerError) -> (messages: [NumberedMessage], last: Int64) {
        try await read { $0.mentions(after: number, limit: limit) }
    }

    func messages(
        bot: String, thread: String, after number: Int64, limit: Int
    ) async throws(LedgerError) -> [NumberedMessage] {
        try await read { $0.messages(bot: bot, thread: thread, after: number, limit: limit) }
    }

    func said(
        bot: String, thread: String, after number: Int64, limit: Int
    ) async throws(LedgerError) -> [NumberedMessage] {
        try await read { $0.said(bot: bot, thread: thread, after: number, limit: limit) }
    }

    func conversation(bot: String, thread: String) async throws(LedgerError) -> ConversationRecord? {
        try await read { $0.conversation(bot: bot, thread: thread) }
    }

    func unaskedThreads() async throws(LedgerError) -> [UnaskedThread] {
        try await read { $0.unaskedThreads() }
    }

    func newReactions(bot: String, thread: String) async throws(LedgerError) -> [ReactionRecord] {
        try await read { $0.newReactions(bot: bot, thread: thread) }
    }

    func attachment(of message: String) async throws(LedgerError) -> [UInt8]? {
        try await read { $0.attachment(of: message) }
    }

    func question(id: String) async throws(LedgerError) -> QuestionRecord? {
        try await read { $0.question(id: id) }
    }

    func openQuestions() async throws(LedgerError) -> [QuestionRecord] {
        try await read { $0.openQuestions() }
    }

    func question(
        about subject: String, answered answer: String, after moment: Moment
    ) async throws(LedgerError) -> QuestionRecord? {
        try await read { $0.question(about: subject, answered: answer, after: moment) }
    }

    func questions(limit: Int) async throws(LedgerError) -> [QuestionRecord] {
        try await read { $0.questions(limit: limit) }
    }

    func unread() async throws(LedgerError) -> [String: Int] {
        try await read { $0.unread() }
    }

    func item(_ key: ItemKey) async throws(LedgerError) -> ItemRecord? {
        try await read { $0.item(key) }
    }

    func items(limit: Int) async throws(LedgerError) -> [ItemRecord] {
        try await read { $0.items(limit: limit) }
    }

    func itemsToWake(limit: Int) async throws(LedgerError) -> [ItemRecord] {
        try await read { $0.itemsToWake(limit: limit) }
    }

    func outbox(id: String) async throws(LedgerError) -> OutboxRecord? {
        try await read { $0.outbox(id: id) }
    }

    func outbox(cause: String) async throws(LedgerError) -> OutboxRecord? {
        try await read { $0.outbox(cause: cause) }
    }

    func outbox(
        item: String, channel: String, limit: Int
    ) async throws(LedgerError) -> [OutboxRecord] {
        try await read { $0.outbox(item: item, channel: channel, limit: limit) }
    }

    func outbox(states: Set<OutboxState>, limit: Int) async throws(LedgerError) -> [OutboxRecord] {
        try await read { $0.outbox(states: states, limit: limit) }
    }

    func pendingOutbox(channel: String, limit: Int) async throws(LedgerError) -> [OutboxRecord] {
        try await read { $0.pendingOutbox(channel: channel, limit: limit) }
    }

    func outboxLine(
        of channel: String, limit: Int
    ) async throws(LedgerError) -> (pending: [OutboxRecord], heldUntil: Moment?) {
        try await read { $0.outboxLine(of: channel, limit: limit) }
    }

    func replayableOutbox(channel: String, since: Moment) async throws(LedgerError) -> Int {
        try await read { $0.replayableOutbox(channel: channel, since: since) }
    }

    func failureArrivals(before run: String) async throws(LedgerError) -> [String: FailureArrival] {
        try await read { $0.failureArrivals(before: run) }
    }

    func outboxCounts(byChannelIn states: Set<OutboxState>) async throws(LedgerError) -> [String: Int] {
        try await read { $0.outboxCounts(byChannelIn: states) }
    }

    func outboxCounts() async throws(LedgerError) -> [OutboxState: Int] {
        try await read { $0.outboxCounts() }
    }

    func surfaces(channel: String, all: Bool) async throws(LedgerError) -> [SurfaceRecord] {
        try await read { $0.surfaces(channel: channel, all: all) }
    }

    func refusedSurfaces(channel: String) async throws(LedgerError) -> [SurfaceRecord] {
        try await read { $0.refusedSurfaces(channel: channel) }
    }

    func surface(channel: String, item: String) async throws(LedgerError) -> SurfaceRecord? {
        try await read { $0.surface(channel: channel, item: item) }
    }

    func surface(channel: String, remote: RemoteID) async throws(LedgerError) -> SurfaceRecord? {
        try await read { $0.surface(channel: channel, remote: remote) }
    }

    func outboxAttempts(of outbox: String) async throws(LedgerError) -> [OutboxAttempt] {
        try await read { $0.outboxAttempts(of: outbox) }
    }

    func fallbacks(dueBy moment: Moment, limit: Int) async throws(LedgerError) -> [FallbackRecord] {
        try await read { $0.fallbacks(dueBy: moment, limit: limit) }
    }

    func nextFallback() async throws(LedgerError) -> Moment? {
        try await read { $0.nextFallback() }
    }

    func fallbackCount() async throws(LedgerError) -> Int {
        try await read { $0.allFallbacks.count }
    }

    func outboxWeights(of channel: String) async throws(LedgerError) -> [OutboxWeight] {
        try await read { $0.outboxWeights(of: channel) }
    }

    func receipts(of outbox: String) async throws(LedgerError) -> [ReceiptRecord] {
        try await read { $0.receipts(of: outbox) }
    }

    func channel(named name: String) async throws(LedgerError) -> ChannelRecord? {
        try await read { $0.channel(named: name) }
    }

    func events(after seq: Int64, limit: Int) async throws(LedgerError) -> [EventRecord] {
        try await read { $0.events(after: seq, limit: limit) }
    }

    func events(
        of types: Set<EventType>, after seq: Int64, limit: Int
    ) async throws(LedgerError) -> [EventRecord] {
        try await read { $0.events(of: types, after: seq, limit: limit) }
    }

    func events(about subject: EventSubject, limit: Int) async throws(LedgerError) -> [EventRecord] {
        try await read { $0.events(about: subject, limit: limit) }
    }

    func events(
        numbered numbers: some Sequence<Int64> & Sendable
    ) async throws(LedgerError) -> [EventRecord] {
        try await read { $0.events(numbered: numbers) }
    }

    func verdicts(
        on events: some Sequence<Int64> & Sendable
    ) async throws(LedgerError) -> [VerdictRecord] {
        try await read { $0.verdicts(on: events) }
    }

    func verdicts(
        onItem key: String, from event: Int64, newest: Bool, limit: Int
    ) async throws(LedgerError) -> [VerdictRecord] {
        try await read { $0.verdicts(onItem: key, from: event, newest: newest, limit: limit) }
    }

    func lastEvent() async throws(LedgerError) -> Int64 {
        try await read { $0.lastEvent() }
    }

    func cursor(of consumer: String) async throws(LedgerError) -> Int64 {
        try await read { $0.cursor(of: consumer) }
    }

    func jobsWithHistory(after job: String, limit: Int) async throws(LedgerError) -> [String] {
        try await read { $0.jobsWithHistory(after: job, limit: limit) }
    }

    func expiredRuns(
        of job: String, by retention: Retention, boot: String, at now: Moment, limit: Int
    ) async throws(LedgerError) -> [ExpiredRun] {
        try await read { $0.expiredRuns(of: job, by: retention, boot: boot, at: now, limit: limit) }
    }

    func expiredRows(before moment: Moment, limit: Int) async throws(LedgerError) -> Int {
        try await read { $0.expiredRows(before: moment, limit: limit) }
    }

    func ids(of kind: IDKind, matching short: ShortID, limit: Int) async throws(LedgerError) -> [String] {
        try await read { $0.ids(of: kind, matching: short, limit: limit) }
    }
}
