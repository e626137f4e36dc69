package import Delivery
package import Grouping
package import Timeline
package import Tracking

// The reads, one protocol a station. Reading never writes.

/// What the keepers of jobs read.
package protocol JobReading: Sendable {
    /// The first `limit` jobs that were not removed and whose names come after `name`, by name.
    func jobs(after name: String, limit: Int) async throws(LedgerError) -> [JobRecord]
    /// The same jobs, of each only what its slots are decided by: a start reads them all.
    func slotJobs(after name: String, limit: Int) async throws(LedgerError) -> [SlotJob]
    /// The jobs of these names that were not removed, in no order.
    func jobs(named names: some Sequence<String> & Sendable) async throws(LedgerError) -> [JobRecord]
    func job(named name: String) async throws(LedgerError) -> JobRecord?
    /// The spec of a revision, also of a removed job; nil when there was none.
    func spec(of job: String, revision: Int) async throws(LedgerError) -> JobSpec?
    /// The newest revision a name ever had, removed or not; 0 when it is new.
    func lastRevision(of job: String) async throws(LedgerError) -> Int
    /// A small named value.
    func fact(named name: String) async throws(LedgerError) -> String?
}

extension JobReading {
    /// All jobs that were not removed, by name: of a million of them gigabytes.
    package func jobs() async throws(LedgerError) -> [JobRecord] { try await jobs(after: "", limit: .max) }
}

/// What the keeper of slots reads.
package protocol SlotReading: Sendable {
    /// The watermark; nil in a new ledger.
    func watermark() async throws(LedgerError) -> Watermark?
    /// The newest `limit` spans by their last slot, newest first; of one job when named.
    func spans(of job: String?, limit: Int) async throws(LedgerError) -> [SlotSpan]
}

/// What the keeper of runs reads.
package protocol RunReading: Sendable {
    func run(id: String) async throws(LedgerError) -> RunRecord?
    func run(job: String, ordinal: Int) async throws(LedgerError) -> RunRecord?
    func run(job: String, cause: String) async throws(LedgerError) -> RunRecord?
    /// A run that this cause made, of whatever job; for causes that no two jobs share.
    func run(cause: String) async throws(LedgerError) -> RunRecord?
    /// Every run that has not ended, in the order they were queued.
    func activeRuns() async throws(LedgerError) -> [RunRecord]
    /// The runs of these ids, ended or not, in the order they were queued.
    func runs(ids: some Sequence<String> & Sendable) async throws(LedgerError) -> [RunRecord]
    /// Runs, newest first.
    func runs(_ filter: RunFilter) async throws(LedgerError) -> [RunRecord]
    /// The newest run of each of these jobs that has one.
    func lastRuns(of jobs: some Sequence<String> & Sendable) async throws(LedgerError) -> [RunRecord]
    /// How the last `limit` completed runs of a job got on, oldest first; of one without a stored profile at least the
    /// time it took. Looked for among the job's newest ended runs, ten times as many as asked for.
    func profiles(of job: String, limit: Int) async throws(LedgerError) -> [RunProfile]
    /// The attempts of a run, first one first.
    func attempts(of run: String) async throws(LedgerError) -> [AttemptRecord]
}

/// Which runs to list.
package struct RunFilter: Hashable, Sendable {
    package var job: String?
    package var states: Set<RunState>
    /// Queued at or after this.
    package var since: Moment?
    package var limit: Int

    /// Every run of every job by default; no `states` means any.
    package init(job: String? = nil, states: Set<RunState> = [], since: Moment? = nil, limit: Int = .max) {
        self.job = job
        self.states = states
        self.since = since
        self.limit = limit
    }
}

/// What is read of bots.
package protocol BotReading: Sendable {
    /// What is known of each bot that was ever asked, by name.
    func bots() async throws(LedgerError) -> [BotRecord]
    /// The bots that were made on the command line, by name.
    func botEntries() async throws(LedgerError) -> [BotEntry]
    /// What bots used in each month, of one bot when named; by name and month.
    func months(of bot: String?) async throws(LedgerError) -> [BotMonth]
}

/// What the keeper of items reads.
package protocol TalkReading: Sendable {
    func message(id: String) async throws(LedgerError) -> MessageRecord?
    /// Messages, newest first; of one bot when named; holding `search` (case ignored) when given; said at `since` or
    /// later.
    func messages(
        bot: String?, search: String?, since: Moment?, limit: Int
    ) async throws(LedgerError) -> [MessageRecord]
    /// Messages whose title or text has each word of `text`, of one bot when named, said at `since` or later.
    ///
    /// A word that is in none of all messages stands for those that begin with it; where nothing is found, one that is in
    /// few of them does, too.
    ///
    /// The best first where at most ``MessageHits/mostRanked`` of all bots match, else the newest first.
    func search(
        _ text: String, bot: String?, since: Moment?, limit: Int
    ) async throws(LedgerError) -> MessageHits
    /// Messages after that row that hold an `@`, oldest first, and the last row there is.
    func mentions(
        after number: Int64, limit: Int
    ) async throws(LedgerError) -> (messages: [NumberedMessage], last: Int64)
    /// Messages of a thread after that row, newest first.
    func messages(
        bot: String, thread: String, after number: Int64, limit: Int
    ) async throws(LedgerError) -> [NumberedMessage]
    /// Messages of people in a thread after that row, oldest first.
    func said(
        bot: String, thread: String, after number: Int64, limit: Int
    ) async throws(LedgerError) -> [NumberedMessage]
    /// How far a conversation is; nil: nobody was given anything of it.
    func conversation(bot: String, thread: String) async throws(LedgerError) -> ConversationRecord?
    /// The threads in which a person said something that no run was given.
    func unaskedThreads() async throws(LedgerError) -> [UnaskedThread]
    /// The reactions in a thread that its bot has not been shown, oldest first.
    func newReactions(bot: String, thread: String) async throws(LedgerError) -> [ReactionRecord]
    /// What the file that came with a message holds.
    func attachment(of message: String) async throws(LedgerError) -> [UInt8]?
    /// How many messages nobody has read, by bot.
    func unread() async throws(LedgerError) -> [String: Int]
    func item(_ key: ItemKey) async throws(LedgerError) -> ItemRecord?
    /// All items, newest first.
    func items(limit: Int) async throws(LedgerError) -> [ItemRecord]
    /// Items whose timer is set, earliest first.
    func itemsToWake(limit: Int) async throws(LedgerError) -> [ItemRecord]
}

/// What a search found.
package struct MessageHits: Hashable, Sendable {
    /// Up to so many are ranked.
    package static let mostRanked = 10_000

    package var messages: [MessageRecord]
    /// Whether the best come first; the newest do otherwise.
    package var isRanked: Bool

    package init(_ messages: [MessageRecord], isRanked: Bool) {
        self.messages = messages
        self.isRanked = isRanked
    }
}

extension TalkReading {
    /// Messages of any time, newest first.
    package func messages(
        bot: String?, search: String?, limit: Int
    ) async throws(LedgerError) -> [MessageRecord] {
        try await messages(bot: bot, search: search, since: nil, limit: limit)
    }
}

/// What the keeper of questions reads, and whoever waits for an answer.
package protocol QuestionReading: Sendable {
    func question(id: String) async throws(LedgerError) -> QuestionRecord?
    /// The questions that can be answered, oldest first.
    func openQuestions() async throws(LedgerError) -> [QuestionRecord]
    /// Questions, newest first.
    func questions(limit: Int) async throws(LedgerError) -> [QuestionRecord]
    /// The last question about that subject, closed after a moment by a person with this answer.
    func question(
        about subject: String, answered answer: String, after moment: Moment
    ) async throws(LedgerError) -> QuestionRecord?
}

/// What the pump and the keeper of surfaces read.
package protocol OutboxReading: Sendable {
    func outbox(id: String) async throws(LedgerError) -> OutboxRecord?
    /// The one entry of a cause.
    func outbox(cause: String) async throws(LedgerError) -> OutboxRecord?
    /// The entries about an item on a channel, newest first.
    ///
    /// - Complexity: O(entries): for people who ask.
    func outbox(item: String, channel: String, limit: Int) async throws(LedgerError) -> [OutboxRecord]
    /// Entries, newest first; of some states when named.
    func outbox(states: Set<OutboxState>, limit: Int) async throws(LedgerError) -> [OutboxRecord]
    /// The pending entries as ``pendingOutbox(channel:limit:)`` lists them, and when the first entry that a rule holds
    /// is due.
    func outboxLine(
        of channel: String, limit: Int
    ) async throws(LedgerError) -> (pending: [OutboxRecord], heldUntil: Moment?)
    /// Pending entries of a channel, earliest due first; of those about one item, or else about one run,
    /// only the one that was made first: the others come after it.
    func pendingOutbox(channel: String, limit: Int) async throws(LedgerError) -> [OutboxRecord]
    /// What happened to the failures of the job of a run since the job's last success before that run, by the channels that
    /// were to be sent any.
    func failureArrivals(before run: String) async throws(LedgerError) -> [String: FailureArrival]
    /// How many entries there are of each channel in one of these states; channels without any are not in it.
    func outboxCounts(byChannelIn states: Set<OutboxState>) async throws(LedgerError) -> [String: Int]
    /// What waits for a channel, held or not, oldest first: without its bytes.
    func outboxWeights(of channel: String) async throws(LedgerError) -> [OutboxWeight]
    /// How many entries of a channel ``Change/replayOutbox(channel:since:at:)`` would make due again.
    func replayableOutbox(channel: String, since: Moment) async throws(LedgerError) -> Int
    /// How many entries there are in each state.
    func outboxCounts() async throws(LedgerError) -> [OutboxState: Int]
    /// Surfaces of a channel that do not show what they should: wanted and shown differ, neither dismissed nor
    /// refused; or, with `all`, every one.
    func surfaces(channel: String, all: Bool) async throws(LedgerError) -> [SurfaceRecord]
    /// Surfaces of a channel whose wanted revision was refused for good and not dismissed; longest wanted first.
    func refusedSurfaces(channel: String) async throws(LedgerError) -> [SurfaceRecord]
    func surface(channel: String, item: String) async throws(LedgerError) -> SurfaceRecord?
    /// The surface whose far end is called `remote`.
    func surface(channel: String, remote: RemoteID) async throws(LedgerError) -> SurfaceRecord?
    func receipts(of outbox: String) async throws(LedgerError) -> [ReceiptRecord]
    /// The attempts to send an entry that failed, the first one first.
    func outboxAttempts(of outbox: String) async throws(LedgerError) -> [OutboxAttempt]
    /// What is kept for other channels of entries that are settled or were due by a moment, the oldest first.
    func fallbacks(dueBy moment: Moment, limit: Int) async throws(LedgerError) -> [FallbackRecord]
    /// When the next entry has not arrived in time; nil: none is waited for.
    func nextFallback() async throws(LedgerError) -> Moment?
    /// Of how many entries something is kept for other channels.
    func fallbackCount() async throws(LedgerError) -> Int
    func channel(named name: String) async throws(LedgerError) -> ChannelRecord?
    /// The channels that were made on the command line, in the order in which they were.
    func channelEntries() async throws(LedgerError) -> [ChannelEntry]
    /// The silences, also those that have ended, in the order in which they were made.
    func silences() async throws(LedgerError) -> [Silence]
    /// The tokens of the door, by name.
    func tokens() async throws(LedgerError) -> [TokenRecord]
    /// The token with this digest.
    func token(digest: String) async throws(LedgerError) -> TokenRecord?
    /// What must report in time, by name.
    func expectations() async throws(LedgerError) -> [ExpectationRecord]
    /// The one whose key has this digest.
    func expectation(digest: String) async throws(LedgerError) -> ExpectationRecord?
}

/// What every consumer of events reads.
package protocol EventReading: Sendable {
    /// Events after `seq`, oldest first.
    func events(after seq: Int64, limit: Int) async throws(LedgerError) -> [EventRecord]
    /// Events of these types after `seq`, oldest first; the others are not read.
    func events(
        of types: Set<EventType>, after seq: Int64, limit: Int
    ) async throws(LedgerError) -> [EventRecord]
    /// The newest event's number; 0 when there is none.
    func lastEvent() async throws(LedgerError) -> Int64
    /// Where a consumer's cursor stands; 0 when it never read.
    func cursor(of consumer: String) async throws(LedgerError) -> Int64
}

/// What is read by whoever asks why something rang, or did not.
///
/// - Complexity: O(events), or O(verdicts) for those of an item: nothing else finds them by what they are about.
package protocol VerdictReading: Sendable {
    /// The newest `limit` events about something, oldest first.
    func events(about subject: EventSubject, limit: Int) async throws(LedgerError) -> [EventRecord]
    /// The events of these numbers that are kept, in their order.
    func events(numbered numbers: some Sequence<Int64> & Sendable) async throws(LedgerError) -> [EventRecord]
    /// The verdicts on these events, in their order.
    func verdicts(on events: some Sequence<Int64> & Sendable) async throws(LedgerError) -> [VerdictRecord]
    /// The verdicts on an item, of events from `event` on, oldest first; the last `limit` where `newest`, the first
    /// else.
    func verdicts(
        onItem key: String, from event: Int64, newest: Bool, limit: Int
    ) async throws(LedgerError) -> [VerdictRecord]
}

/// What events are about.
package enum EventSubject: Hashable, Sendable {
    case job(String)
    /// The id of the run.
    case run(String)
    /// The id of the message, or the text form of the item's key.
    case subject(String)
}

/// What is read to remove history.
package protocol HistoryReading: Sendable {
    /// Up to `limit` names after `job`, in their order, that have ended runs; also of jobs that were removed.
    func jobsWithHistory(after job: String, limit: Int) async throws(LedgerError) -> [String]
    /// Up to `limit` ended runs of a job that `retention` does not keep, oldest first. Runs that began this
    /// `boot` are kept: by their cause a job is started only once.
    func expiredRuns(
        of job: String, by retention: Retention, boot: String, at now: Moment, limit: Int
    ) async throws(LedgerError) -> [ExpiredRun]
    /// How many rows ``Change/removeHistory(before:limit:)`` would remove now.
    func expiredRows(before moment: Moment, limit: Int) async throws(LedgerError) -> Int
}

/// The beginning of an id, or of its last eight digits: what a person types instead of all of it.
///
/// Ids begin with the time, so that those of one minute share their first eight digits. The last eight are random:
/// listings show them, as they differ for what was made in the same second and do not depend on what else is listed.
package struct ShortID: Hashable, Sendable {
    /// How many digits of an id listings show.
    package static let shownDigits = 8
    /// Fewer digits are no short id.
    package static let leastDigits = 4

    /// Lowercase hexadecimal digits and dashes.
    package let text: String

    /// Reads what a person typed; nil: it is too short, or no part of an id.
    package init?(_ text: String) {
        let digits = text.lowercased()
        guard digits.utf8.count >= Self.leastDigits,
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) || $0 == 0x2D })
        else { return nil }
        self.text = digits
    }

    /// What sorts right after every id that begins with it.
    package var upperBound: String { text + "g" }

    /// The short form of each of `ids` in a listing: its last digits, or all of it where two of them share those.
    package static func shown(_ ids: [String]) -> [String] {
        let ends = ids.map { String($0.suffix(shownDigits)) }
        let counts = Dictionary(zip(ends, ids).map { ($0, Set([$1])) }) { $0.union($1) }
        return zip(ends, ids).map { counts[$0]?.count == 1 ? $0 : $1 }
    }
}

/// What has an id that can be shortened.
package enum IDKind: String, Hashable, Sendable, CaseIterable {
    case run, message, outbox, question
}

/// What is read to find the thing that a person means by a short id.
package protocol IDReading: Sendable {
    /// The ids of that kind that begin as `short` does, or, if there are none, whose last eight digits do; the newest
    /// `limit`, newest first.
    ///
    /// - Complexity: O(log n) by the beginning of an id, O(n) by its last digits. Those have no index: every write
    ///   would pay for it, and no keeper asks for them.
    func ids(of kind: IDKind, matching short: ShortID, limit: Int) async throws(LedgerError) -> [String]
}
