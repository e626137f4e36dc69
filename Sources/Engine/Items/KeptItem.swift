import FoundationEssentials
package import Grouping
package import Ledger
import Timeline

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
    }

    let key: ItemKey
    var decider: Decider
    /// The newest version; nil: there is nothing to show.
    var shown: ItemSnapshot?
    /// The revision in the ledger; nil: it is not there yet.
    var stored: Int64?

    init(_ key: ItemKey, bot: String) {
        self.key = key
        switch key {
        case .thread(let bot, let thread): decider = .thread(ThreadItem(bot: bot, thread: thread))
        case .job(let name): decider = .job(JobItem(job: name, bot: bot))
        }
    }

    /// Reads a record; nil when it was written by a version whose items this one can't read.
    init?(_ record: ItemRecord) {
        guard let stored = try? JSONDecoder().decode(Stored.self, from: Data(record.state)) else {
            return nil
        }
        key = record.key
        decider = stored.decider
        shown = stored.shown
        self.stored = record.revision
    }

    /// The change that stores it, one revision further.
    func change(at now: Moment) throws -> Change {
        let state = try JSONEncoder().encode(Stored(decider: decider, shown: shown))
        let record = ItemRecord(
            key: key, revision: (stored ?? 0) + 1, state: Array(state), flushAt: decider.flushAt,
            updatedAt: now)
        return .putItem(record, replacing: stored)
    }
}

/// What an item's record shows a person now; nil: nothing, or it can't be read.
package func shownItem(_ record: ItemRecord) -> ItemSnapshot? { KeptItem(record)?.shown }
