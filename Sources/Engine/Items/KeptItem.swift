import FoundationEssentials
package import Grouping
package import Ledger
import Timeline
import Tracking

/// An item between two events: its decider, and the version that surfaces show.
///
/// Stored whole, as JSON.
struct KeptItem: Sendable {
    /// The two kinds of items.
    enum Decider: Hashable, Codable, Sendable {
        case thread(ThreadItem)
        case job(JobItem)

        var flushAt: Moment? {
            switch self {
            case .thread(let item): item.flushAt
            case .job(let item): item.flushAt
            }
        }
    }

    private struct Stored: Codable {
        var decider: Decider
        var shown: ItemSnapshot?
        var only: [String]?
    }

    let key: ItemKey
    var decider: Decider
    /// The newest version; nil: there is nothing to show.
    var shown: ItemSnapshot?
    /// The channels that show it, whatever the routes say; nil: those of the routes.
    var only: [String]?
    /// The revision in the ledger; nil: it is not there yet.
    var stored: Int64?

    init(_ key: ItemKey, bot: String) {
        self.key = key
        switch key {
        case .thread(let bot, let thread): decider = .thread(ThreadItem(bot: bot, thread: thread))
        case .job(let name): decider = .job(JobItem(job: name, bot: bot))
        }
    }

    /// Reads a record.
    ///
    /// One that was written by a version whose items this one can't read begins anew in its place.
    init(_ record: ItemRecord, bot: String) {
        self.init(record.key, bot: bot)
        stored = record.revision
        guard let kept = Self.read(record) else { return }
        decider = kept.decider
        shown = kept.shown
        only = kept.only
    }

    /// The revision it will have in the ledger when it is written next.
    var nextRevision: Int64 { (stored ?? 0) + 1 }

    /// The change that stores it, one revision further.
    func change(at now: Moment) throws -> Change {
        let state = try JSONEncoder().encode(Stored(decider: decider, shown: shown, only: only))
        let record = ItemRecord(
            key: key, revision: nextRevision, state: Array(state), flushAt: decider.flushAt, updatedAt: now)
        return .putItem(record, replacing: stored)
    }

    fileprivate static func shown(_ record: ItemRecord) -> ItemSnapshot? { read(record)?.shown }

    private static func read(_ record: ItemRecord) -> Stored? {
        try? JSONDecoder().decode(Stored.self, from: Data(record.state))
    }
}

/// What an item's record shows a person now; nil: nothing, or it can't be read.
package func shownItem(_ record: ItemRecord) -> ItemSnapshot? { KeptItem.shown(record) }

extension KeptItem {
    /// A person has seen what this revision showed (nil: all of it).
    mutating func seen(revision: Int?, at now: Moment) -> [ItemAction] {
        switch decider {
        case .thread(var thread):
            defer { decider = .thread(thread) }
            return revision.map { thread.dismissed(revision: $0, at: now) } ?? thread.read(at: now)
        case .job(var job):
            defer { decider = .job(job) }
            return revision.map { job.dismissed(revision: $0, at: now) } ?? job.read(at: now)
        }
    }

    /// Takes in a message.
    mutating func receive(_ message: Message, at now: Moment, policy: ThreadPolicy) -> [ItemAction] {
        guard case .thread(var thread) = decider else { return [] }
        defer { decider = .thread(thread) }
        return thread.receive(message, at: now, policy: policy)
    }

    /// Takes in a fact of a run or of slots.
    mutating func receive(_ fact: JobFact, at now: Moment, policy: JobPolicy) -> [ItemAction] {
        guard case .job(var job) = decider else { return [] }
        defer { decider = .job(job) }
        return job.receive(fact, at: now, policy: policy)
    }

    /// Its moment has come.
    mutating func wake(at now: Moment, thread policy: ThreadPolicy, job jobPolicy: JobPolicy) -> [ItemAction]
    {
        switch decider {
        case .thread(var thread):
            defer { decider = .thread(thread) }
            return thread.wake(at: now, policy: policy)
        case .job(var job):
            defer { decider = .job(job) }
            return job.wake(at: now, policy: jobPolicy)
        }
    }

    /// Whether it shows a run that has not ended, and so will soon change.
    var isAtWork: Bool {
        guard case .job(let job) = decider, let fact = job.report?.fact else { return false }
        return !fact.state.isEnded
    }
}
