import Delivery
package import Grouping
package import Ledger
import Timeline
import Tracking

/// An item between two events: its decider, and the version that surfaces show.
///
/// A channel whose routes ask for less of a job than those of all channels together has a view of its own: it shows
/// what it would if it were the only one. Stored whole, as JSON.
struct KeptItem: Sendable {
    /// The kinds of items; behind a reference, for they are large, and passed on with each event.
    indirect enum Decider: Hashable, Codable, Sendable {
        case thread(ThreadItem)
        case job(JobItem)
        case storm(StormItem)
        case question(QuestionItem)

        var flushAt: Moment? {
            switch self {
            case .thread(let item): item.flushAt
            case .job(let item): item.flushAt
            case .storm(let item): item.flushAt
            case .question: nil
            }
        }
    }

    /// What one channel shows of a job.
    struct View: Hashable, Codable, Sendable {
        var job: JobItem
        var shown: ItemSnapshot?
        /// The newest event with a verdict for the channel.
        var judged: Int64?
    }

    /// What an item asks for; nil as the channel: on all that have no view of their own.
    struct Decision {
        var channel: String?
        var action: ItemAction
    }

    let key: ItemKey
    var decider: Decider
    /// The newest version; nil: there is nothing to show.
    private(set) var shown: ItemSnapshot?
    /// Those of the channels that hear less of the job than the others.
    private(set) var views: [String: View] = [:]
    /// The channels that show it, whatever the routes say; nil: those of the routes.
    var only: [String]?
    /// The number of the newest event that it took in.
    var event: Int64?
    /// The newest event with a verdict for the channels that have no view of their own.
    private var judged: Int64?
    /// The channels from which its newest version is kept back, and until when.
    private(set) var held: [String: Moment] = [:]
    /// Why the version that is kept back would have rung on a channel, or one before it that was kept back, too.
    private(set) var owed: [String: RingReason] = [:]
    /// The channels that edit in place and were given a version that was not taken away since.
    private(set) var shownOn: Set<String> = []
    /// The labels of the job, as its newest run has them.
    var labels: [String: String] = [:]
    /// The failures in a row after which the job notifies; nil: as its bot has it.
    var alertAfter: Int?
    /// Why its newest version is kept back from the channels of ``held``.
    private(set) var heldBy: [String: DispatchReason] = [:]
    /// The channels that are to be notified at a moment unless somebody has seen it before.
    private(set) var waiting: [String: Moment] = [:]
    /// The channels that failures of the job were sent to since it was last well; nil: it is well, or that was not
    /// recorded.
    private(set) var informed: Set<String>?
    /// Who knows that the job fails, and until when that holds.
    var acknowledgement: Acknowledgement?
    /// Whether the item of a storm lists how its last run ended.
    var isListed = false
    /// The revision in the ledger; nil: it is not there yet.
    var stored: Int64?

    init(_ key: ItemKey, bot: String) {
        self.key = key
        switch key {
        case .thread(let bot, let thread): decider = .thread(ThreadItem(bot: bot, thread: thread))
        case .job(let name): decider = .job(JobItem(job: name, bot: bot))
        case .storm(let number): decider = .storm(StormItem(number: number))
        case .question(let id): decider = .question(QuestionItem(id: id))
        }
    }

    /// Reads a record.
    ///
    /// One that was written by a version whose items this one can't read begins again in its place.
    init(_ record: ItemRecord, bot: String) {
        self.init(record.key, bot: bot)
        stored = record.revision
        guard let kept = Self.read(record) else { return }
        decider = kept.decider
        shown = kept.shown
        only = kept.only
        views = kept.views ?? [:]
        event = kept.event
        judged = kept.judged
        held = kept.held ?? [:]
        informed = kept.informed
        isListed = kept.isListed ?? false
        owed = kept.owed ?? [:]
        shownOn = kept.shownOn ?? []
        labels = kept.labels ?? [:]
        acknowledgement = kept.acknowledgement
        (alertAfter, heldBy, waiting) = (kept.alertAfter, kept.heldBy ?? [:], kept.waiting ?? [:])
    }

    /// When to wake it; `nil` when nothing waits.
    var flushAt: Moment? {
        held.values.reduce(Self.earlier(timer, acknowledgement?.until), Self.earlier)
    }

    /// When the item itself asked to be woken.
    var timer: Moment? { views.values.reduce(decider.flushAt) { Self.earlier($0, $1.job.flushAt) } }

    /// The earlier of two moments; nil stands for never.
    private static func earlier(_ one: Moment?, _ other: Moment?) -> Moment? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    /// The event that the next verdict is about on that channel, or on all without a view of their own; nil: there was
    /// none since the last.
    mutating func nextJudged(on channel: String?) -> Int64? {
        let last = channel.map { views[$0]?.judged } ?? judged
        guard let event, event != last else { return nil }
        if let channel, views[channel] != nil { views[channel]?.judged = event } else { judged = event }
        return event
    }

    /// Keeps a version back from a channel until a moment.
    mutating func hold(
        _ snapshot: ItemSnapshot, until moment: Moment, by reason: DispatchReason, on channel: String
    ) {
        (held[channel], heldBy[channel]) = (moment, reason)
        if snapshot.reason.rings { owed[channel] = snapshot.reason }
    }

    /// A person put it away on a channel until a moment, when it rings again.
    mutating func snooze(until moment: Moment, on channel: String) {
        guard let version = version(on: channel) else { return }
        (held[channel], heldBy[channel]) = (moment, .silenced)
        owed[channel] = version.reason.rings ? version.reason : .repeatElapsed
        shownOn.remove(channel)
    }

    /// A channel was given a version: nothing is kept back from it any more.
    ///
    /// - Returns: why it rings although this version does not: one that was kept back did.
    mutating func show(_ snapshot: ItemSnapshot, on channel: String) -> RingReason? {
        (held[channel], heldBy[channel]) = (nil, nil)
        shownOn.insert(channel)
        if case .job(let report) = snapshot.content, report.fact.state.isFailure { informed?.insert(channel) }
        let reason = owed.removeValue(forKey: channel)
        return snapshot.reason.rings ? nil : reason
    }

    /// Nothing is kept back any more, and nothing is shown on these channels.
    mutating func endHolds(on channels: [String]) {
        (held, owed, heldBy) = ([:], [:], [:])
        shownOn.subtract(channels)
    }

    /// Channels wait for somebody to see it; those whose wait has ended by now were notified.
    mutating func wait(_ channels: [String: Moment], at now: Moment) {
        for (name, moment) in waiting where moment <= now {
            waiting[name] = nil
            informed?.insert(name)
        }
        waiting.merge(channels) { min($0, $1) }
    }

    /// Somebody has seen it, or it has ended.
    ///
    /// - Returns: whether channels waited for that.
    mutating func endWaits(at now: Moment) -> Bool {
        wait([:], at: now)
        defer { waiting = [:] }
        return !waiting.isEmpty
    }

    /// The channels whose time to be kept from the newest version has ended, with what they may show now.
    mutating func endHolds(at now: Moment) -> [Decision] {
        let due = held.filter { $0.value <= now }.keys.sorted()
        return due.compactMap { name in
            (held[name], heldBy[name]) = (nil, nil)
            return version(on: name).map { Decision(channel: name, action: .flush($0)) }
        }
    }

    /// No longer keeps the newest version back from a channel, with what it may show now.
    mutating func endHold(on channel: String) -> [Decision] {
        guard held[channel] != nil else { return [] }
        (held[channel], heldBy[channel]) = (nil, nil)
        return version(on: channel).map { [Decision(channel: channel, action: .flush($0))] } ?? []
    }

    /// What it shows on a channel, or would if nothing was kept back; nil: nothing.
    func version(on channel: String) -> ItemSnapshot? { views[channel].map(\.shown) ?? shown }

    /// Keeps what it shows now (nil: nothing) on that channel, or on all without a view of their own.
    mutating func keep(_ snapshot: ItemSnapshot?, on channel: String?) {
        if let channel { views[channel]?.shown = snapshot } else { shown = snapshot }
    }

    /// The revision it will have in the ledger when it is written next.
    var nextRevision: Int64 { (stored ?? 0) + 1 }

    /// What its row holds.
    var content: Stored {
        Stored(
            decider: decider, shown: shown, only: only, views: views.isEmpty ? nil : views, event: event,
            judged: judged, held: held.isEmpty ? nil : held, informed: informed,
            isListed: isListed ? true : nil, owed: owed.isEmpty ? nil : owed,
            shownOn: shownOn.isEmpty ? nil : shownOn, labels: labels.isEmpty ? nil : labels,
            alertAfter: alertAfter, heldBy: heldBy.isEmpty ? nil : heldBy,
            waiting: waiting.isEmpty ? nil : waiting, acknowledgement: acknowledgement)
    }

    /// The change that stores it, one revision further.
    func change(at now: Moment) throws -> Change {
        var writer = JSONWriter()
        try content.write(to: &writer)
        let state = writer.bytes
        let record = ItemRecord(
            key: key, revision: nextRevision, state: state, flushAt: flushAt, updatedAt: now)
        return .putItem(record, replacing: stored)
    }

    fileprivate static func shown(_ record: ItemRecord, on channel: String?) -> ItemSnapshot? {
        guard let kept = read(record) else { return nil }
        if let channel, let view = kept.views?[channel] { return view.shown }
        return kept.shown
    }

    private static func read(_ record: ItemRecord) -> Stored? {
        try? JSON.decode(from: record.state)
    }
}

/// What an item's record shows a person now, on this channel where one is named; nil: nothing, or it can't be read.
package func shownItem(_ record: ItemRecord, on channel: String? = nil) -> ItemSnapshot? {
    KeptItem.shown(record, on: channel)
}

/// That somebody has seen that a job fails, and takes care of it for a while.
struct Acknowledgement: Hashable, Codable, Sendable {
    /// Who, or where.
    var by: String
    var at: Moment
    /// When a reminder follows if the job still fails.
    var until: Moment
}

extension KeptItem {
    /// A person has seen what this revision showed on this channel (nil: all of it).
    mutating func seen(revision: Int?, on channel: String?, at now: Moment) -> [Decision] {
        switch decider {
        case .thread(var thread):
            defer { decider = .thread(thread) }
            return (revision.map { thread.dismissed(revision: $0, at: now) } ?? thread.read(at: now)).map {
                Decision(action: $0)
            }
        case .storm:
            return decideStorm { storm in
                revision.map { storm.dismissed(revision: $0, at: now) } ?? storm.read(at: now)
            }
        case .question:
            return decideQuestion { question in
                revision.map { question.dismissed(revision: $0) } ?? question.putAway()
            }
        case .job(let job):
            guard let revision else { return decide { job, _ in job.read(at: now) } }
            let seen = channel.flatMap { views[$0]?.job } ?? job
            var dismissed = seen
            guard !dismissed.dismissed(revision: revision, at: now).isEmpty else { return [] }
            // One item everywhere: who shows the same has it put away there as well.
            return decide { job, _ in job.report?.fact == seen.report?.fact ? job.read(at: now) : [] }
        }
    }

    /// Takes in a message.
    mutating func receive(_ message: Message, at now: Moment, policy: ThreadPolicy) -> [Decision] {
        guard case .thread(var thread) = decider else { return [] }
        defer { decider = .thread(thread) }
        return thread.receive(message, at: now, policy: policy).map { Decision(action: $0) }
    }

    /// Takes in a fact of a run or of slots; a failure was sent to these channels.
    mutating func receive(
        _ fact: JobFact, at now: Moment, policies: ChannelInterests, sentTo channels: [String] = []
    ) -> [Decision] {
        guard case .job(let job) = decider else { return [] }
        views = views.filter { policies.each[$0.key] != nil }
        for name in policies.apart where views[name] == nil { views[name] = View(job: job, shown: shown) }
        separateUninformed(job, policies)
        if fact.state.isFailure {
            if job.failures == 0 { informed = [] }
            informed?.formUnion(channels)
        } else if fact.state == .completed {
            (informed, acknowledgement) = (nil, nil)
        }
        return decide { job, channel in
            job.receive(fact, at: now, policy: policies.policy(of: channel))
        }
    }

    /// The failures that it counts, where it is a storm.
    var storm: Storm? { if case .storm(let item) = decider { item.storm } else { nil } }

    /// Lets the storm decide.
    mutating func decideStorm(_ body: (inout StormItem) -> [ItemAction]) -> [Decision] {
        guard case .storm(var storm) = decider else { return [] }
        defer { decider = .storm(storm) }
        return body(&storm).map { Decision(action: $0) }
    }

    /// Lets the question decide.
    mutating func decideQuestion(_ body: (inout QuestionItem) -> [ItemAction]) -> [Decision] {
        guard case .question(var question) = decider else { return [] }
        defer { decider = .question(question) }
        return body(&question).map { Decision(action: $0) }
    }

    /// Leaves the screen to a storm everywhere.
    mutating func stepAside() -> [Decision] { decide { job, _ in job.stepAside() } }

    /// Leaves the screen to a storm, on one channel or on all without a view of their own.
    mutating func stepAside(on channel: String?) -> [Decision] {
        if let channel, var view = views[channel] {
            defer { views[channel] = view }
            return view.job.stepAside().map { Decision(channel: channel, action: $0) }
        }
        guard case .job(var job) = decider else { return [] }
        defer { decider = .job(job) }
        return job.stepAside().map { Decision(action: $0) }
    }

    /// Gives channels that the failures were not sent to a view without them: there the job is well.
    private mutating func separateUninformed(_ job: JobItem, _ policies: ChannelInterests) {
        guard job.failures > 0, let informed else { return }
        for (name, policy) in policies.each
        where views[name] == nil && policy.hears.contains(.failed) && !informed.contains(name) {
            let well = job.withoutFailures
            views[name] = View(job: well, shown: well.report == nil ? nil : shown)
        }
    }

    /// Since when the job has been failing; nil: it is well, or this is no job.
    var failingSince: Moment? { if case .job(let job) = decider { job.failingSince } else { nil } }

    /// How often in a row the job has failed; 0: it is well, or this is no job.
    var failures: Int { if case .job(let job) = decider { job.failures } else { 0 } }

    /// Whether it keeps a run back that has only just started.
    var isEarly: Bool {
        guard case .job(let job) = decider else { return false }
        return job.isEarly || views.values.contains { $0.job.isEarly }
    }

    /// The moment of a thread has come.
    mutating func wake(at now: Moment, policy: ThreadPolicy) -> [Decision] {
        guard case .thread(var thread) = decider else { return [] }
        defer { decider = .thread(thread) }
        return thread.wake(at: now, policy: policy).map { Decision(action: $0) }
    }

    /// The moment of a job has come, on one channel or on all.
    mutating func wake(at now: Moment, policies: ChannelInterests) -> [Decision] {
        decide { job, channel in job.wake(at: now, policy: policies.policy(of: channel)) }
    }

    /// Reminds once of a failure whose acknowledgement no longer holds.
    mutating func remind(at now: Moment, policies: ChannelInterests) -> [Decision] {
        guard let known = acknowledgement, known.until <= now else { return [] }
        acknowledgement = nil
        return decide { job, channel in
            job.remind(
                by: known.by, after: .seconds((now - known.at).components.seconds), at: now,
                policy: policies.policy(of: channel))
        }
    }

    /// Lets the job decide for all channels, then for each that has a view of its own.
    private mutating func decide(_ body: (inout JobItem, _ channel: String?) -> [ItemAction]) -> [Decision] {
        guard case .job(var job) = decider else { return [] }
        var decisions = body(&job, nil).map { Decision(action: $0) }
        decider = .job(job)
        for name in views.keys.sorted() {
            guard var view = views[name] else { continue }
            decisions += body(&view.job, name).map { Decision(channel: name, action: $0) }
            views[name] = view
        }
        return decisions
    }

    /// Whether it shows a run that has not ended, and so will soon change.
    var isAtWork: Bool {
        guard case .job(let job) = decider, let fact = job.report?.fact else { return false }
        return !fact.state.isEnded
    }
}
