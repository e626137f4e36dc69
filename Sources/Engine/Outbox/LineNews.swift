import Delivery
import Ledger
import Synchronization

/// What commits did to one line of the outbox since it was last looked at.
///
/// Between an event and its request nothing is read: the entry comes from the commit that added it.
final class LineNews: Sendable {
    /// Entries that were added, and nothing else happened.
    struct Added: Sendable {
        /// In their order.
        var entries: [OutboxRecord] = []
        /// How many rewritings had begun when the first of them was added; see ``EntriesInHand``.
        var rewritings: UInt64
    }

    /// Whether the ledger holds nothing of the line but what was added since it was read; set by who reads it.
    let isClear = Flag(false)

    /// The most entries that are kept here.
    ///
    /// If more are added, the line is read again: memory stays bounded while a channel takes nothing.
    private static let most = 64

    private let channel: String
    private let inHand: EntriesInHand
    /// Nil: the line must be read.
    private let added: Mutex<Added?>

    /// Nothing is known of the line of this channel.
    init(of channel: String, _ inHand: EntriesInHand) {
        (self.channel, self.inHand) = (channel, inHand)
        added = Mutex(nil)
    }

    /// Takes in what a commit did, on the thread that commits and before the next transaction begins.
    ///
    /// - Returns: whether it may be about the line.
    func add(_ news: OutboxNews) -> Bool {
        let entries = news.added.filter { $0.channel == channel }
        guard news.movesOthers || !entries.isEmpty else { return false }
        let rewritings = inHand.rewritings
        added.withLock { added in
            if news.movesOthers {
                added = nil
            } else if var known = added {
                if known.entries.isEmpty { known.rewritings = rewritings }
                known.entries += entries
                added = known.entries.count > Self.most ? nil : known
            }
        }
        return true
    }

    /// What was added since the last time; nil: the line must be read.
    ///
    /// It must also where a rewriting began since: what was added is refused then, and where that came to nothing no commit
    /// says so. What is read after this call holds all that came before it.
    func take() -> Added? {
        let rewritings = inHand.rewritings
        return added.withLock { added in
            defer { added = Added(rewritings: 0) }
            guard let known = added, known.entries.isEmpty || known.rewritings == rewritings else {
                return nil
            }
            return known
        }
    }
}

extension OutboxRecord {
    /// The entries of `added` that are the first of their item, or else of their run, in the order in which they are sent;
    /// nil: some must not be sent now.
    static func heads(of added: [OutboxRecord]) -> [OutboxRecord]? {
        guard added.allSatisfy({ $0.state == .pending }) else { return nil }
        var keys: Set<String> = []
        let heads = added.filter { entry in
            guard let key = entry.item ?? entry.run else { return true }
            return keys.insert(key).inserted
        }
        return heads.enumerated().sorted { one, other in
            guard one.element.nextAt != other.element.nextAt else { return one.offset < other.offset }
            guard let first = one.element.nextAt, let second = other.element.nextAt else {
                return one.element.nextAt == nil
            }
            return first < second
        }.map(\.element)
    }
}
