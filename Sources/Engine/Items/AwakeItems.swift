import Delivery
import Grouping
import HeapModule
import Ledger
import Timeline
import Tracking

/// The items that wait for a moment or show a run at work, and which of them must be woken first.
///
/// What an item costs here does not depend on how many others there are.
struct AwakeItems {
    /// Holds for as long as the item still waits for this moment; others are dropped when they come first.
    private struct Wake: Comparable {
        let at: Moment
        let key: ItemKey

        static func < (one: Wake, other: Wake) -> Bool { one.at < other.at }
    }

    /// Behind a reference: items are large, and a table of many of them is moved when it grows.
    private final class Entry: Sendable {
        let item: KeptItem

        init(_ item: KeptItem) { self.item = item }
    }

    private var entries: [ItemKey: Entry] = [:]
    private var wakes = Heap<Wake>()

    init() {}

    subscript(key: ItemKey) -> KeptItem? { entries[key]?.item }

    /// All of them.
    ///
    /// - Complexity: O(items).
    var items: [ItemKey: KeptItem] { entries.mapValues(\.item) }

    /// When the first item must be woken.
    var nextFlush: Moment? { wakes.min?.at }

    /// Puts an item in the place of the one before; nil: it sleeps.
    ///
    /// - Complexity: O(log items), amortised.
    mutating func set(_ item: KeptItem?, for key: ItemKey) {
        let before =
            if let item { entries.updateValue(Entry(item), forKey: key) } else {
                entries.removeValue(forKey: key)
            }
        if let at = item?.flushAt, at != before?.item.flushAt { wakes.insert(Wake(at: at, key: key)) }
        dropStale()
    }

    /// The items whose moment has come, the earliest first, at most `limit`.
    mutating func due(at now: Moment, limit: Int) -> [ItemKey] {
        var due: [Wake] = []
        // One that came back to a moment it had left stands there twice.
        var keys: Set<ItemKey> = []
        while due.count < limit, let first = wakes.min, first.at <= now {
            wakes.removeMin()
            if isWaiting(first), keys.insert(first.key).inserted { due.append(first) }
        }
        // They leave when their items no longer wait for this moment: nothing is lost if the turn is refused.
        wakes.insert(contentsOf: due)
        return due.map(\.key)
    }

    private func isWaiting(_ wake: Wake) -> Bool { entries[wake.key]?.item.flushAt == wake.at }

    private mutating func dropStale() {
        while let first = wakes.min, !isWaiting(first) { wakes.removeMin() }
        guard wakes.count > 2 * entries.count + 64 else { return }
        wakes = Heap(
            entries.compactMap { key, entry in entry.item.flushAt.map { Wake(at: $0, key: key) } })
    }
}
