import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

/// What is known of the items by now: what the ledger holds, and what the transaction under way adds to it.
///
/// A value without a clock or a lock; see ``ItemCache``.
struct KnownItems {
    /// What the transaction under way adds to what is kept.
    private struct Addition {
        /// All that the ledger holds, where it was read.
        var loaded: AwakeItems?
        /// The items that turns have touched; those that sleep now are nil.
        var touched: [ItemKey: KeptItem?] = [:]
        var cursor: Int64
        /// Which jobs failed alike; nil: nothing changed.
        var storms: StormIndex?
        /// What rules remember; nil: nothing changed.
        var standing: Standing?
    }

    /// What a turn begins with.
    struct Before {
        /// The items that it may touch, as far as they are awake.
        var items: [ItemKey: KeptItem] = [:]
        var storms: StormIndex
        var standing: Standing
    }

    /// What the ledger holds; nil until it was read, and after a refusal.
    private(set) var kept: AwakeItems?
    /// The newest event that was read.
    private(set) var cursor: Int64 = 0
    /// Which jobs failed alike.
    private(set) var storms = StormIndex()
    /// What rules remember.
    var standing = Standing()
    private var addition: Addition?
    /// Outbox entries that the transaction under way rewrites.
    var rewritten: Set<String> = []
    /// The last moment that was seen here, and the policies by which items waited then.
    private var lastLook: (now: Moment, active: ActiveRules)?
    /// Whether an item may wait for longer than it rightly can.
    private var mayBeAhead = false
    /// The items that the errand under way is about, and those of digests that were read for it.
    var (chosen, digests): ([ItemKey], [ItemKey]) = ([], [])

    /// Which jobs failed alike, by what is known by now.
    var newestStorms: StormIndex { addition?.storms ?? storms }

    /// The newest event that was read, in the transaction under way or before it.
    var newestCursor: Int64 { addition?.cursor ?? cursor }

    /// Whether nothing was read yet, by the transaction under way either.
    var isUnread: Bool { kept == nil && addition == nil }

    func item(_ key: ItemKey) -> KeptItem? {
        if let touched = addition?.touched[key] { return touched }
        return addition?.loaded.map { $0[key] } ?? kept?[key]
    }

    /// The items of which rules keep something back.
    ///
    /// - Complexity: O(items); looked at only when the rules were changed.
    var held: [ItemKey] {
        var items = addition?.loaded?.items ?? kept?.items ?? [:]
        for (key, item) in addition?.touched ?? [:] { items[key] = item }
        return items.filter { !$0.value.held.isEmpty }.map(\.key)
    }
}

// What turns add.
extension KnownItems {
    /// What a turn on these items begins with; nil: nothing was read yet.
    func before(turnOn keys: Set<ItemKey>) -> Before? {
        if isUnread { return nil }
        var before = Before(storms: newestStorms, standing: addition?.standing ?? standing)
        for key in keys { before.items[key] = item(key) }
        return before
    }

    /// Takes up all that the ledger holds.
    mutating func load(_ awake: AwakeItems, _ storms: StormIndex, cursor: Int64) {
        addition = Addition(loaded: awake, cursor: cursor, storms: storms)
    }

    /// Adds what a turn made of what it began with; it counts once it is on the disk.
    mutating func add(_ turn: ItemTurn, since before: Before, cursor: Int64?) {
        note(turn.now, turn.active)
        let asleep = before.storms.forming.subtracting(turn.storms.forming).map(ItemKey.job).filter {
            item($0).map { !turn.storms.keepsAwake($0) } ?? false
        }
        var addition = addition ?? Addition(cursor: self.cursor)
        self.addition = nil
        for (key, item) in turn.items {
            var item = item
            if turn.written.contains(key) { item.stored = item.nextRevision }
            addition.touched.updateValue(turn.storms.keepsAwake(item) ? item : nil, forKey: key)
        }
        for key in asleep where turn.items[key] == nil { addition.touched.updateValue(nil, forKey: key) }
        addition.storms = turn.storms
        addition.standing = turn.standing
        addition.cursor = cursor ?? addition.cursor
        self.addition = addition
    }

    /// The transaction under way has ended: what it added counts, or all must be read again.
    ///
    /// - Returns: whether the next moment has changed, or everything must be read again.
    mutating func settle(_ isKept: Bool) -> Bool {
        let (before, wasBlank) = (kept?.nextFlush, kept == nil)
        let release = standing.nextRelease
        if isKept { keepAddition() } else { kept = nil }
        addition = nil
        return kept?.nextFlush != before || (kept == nil) != wasBlank || standing.nextRelease != release
    }

    /// Takes the addition in: it is on the disk.
    private mutating func keepAddition() {
        guard var addition else { return }
        self.addition = nil
        if let loaded = addition.loaded {
            addition.loaded = nil
            kept = consume loaded
            mayBeAhead = true
        }
        for (key, item) in addition.touched { kept?.set(item, for: key) }
        cursor = addition.cursor
        storms = addition.storms ?? storms
        standing = addition.standing ?? standing
    }
}

// Whose moment has come.
extension KnownItems {
    /// Whether the moment of an item has come, or was taken away by a clock that was set back.
    mutating func isDue(at now: Moment, _ active: ActiveRules) -> Bool {
        guard let next = kept?.nextFlush else { return false }
        note(now, active)
        if next <= now { return true }
        guard mayBeAhead else { return false }
        mayBeAhead = !ahead(at: now, active, limit: 1).isEmpty
        return mayBeAhead
    }

    /// The items to wake now, the earliest first, and those that wait for too long; at most `limit` of each.
    mutating func due(at now: Moment, _ active: ActiveRules, limit: Int) -> [ItemKey] {
        let due = kept?.due(at: now, limit: limit) ?? []
        return mayBeAhead ? due + ahead(at: now, active, limit: limit) : due
    }

    /// Notices when the clock was set back, or the configuration was replaced.
    private mutating func note(_ now: Moment, _ active: ActiveRules) {
        let isSame = lastLook.map { $0.now <= now && $0.active === active } ?? false
        if !isSame { mayBeAhead = true }
        lastLook = (now, active)
    }

    /// The items that wait for longer than they rightly can.
    ///
    /// - Complexity: O(items); looked at only after a start, a reload, or when the clock was set back.
    private func ahead(at now: Moment, _ active: ActiveRules, limit: Int) -> [ItemKey] {
        guard let kept else { return [] }
        let keys = kept.items.lazy.filter { key, item in
            item.timer.map { $0 > now + Self.longestWait(of: key, active) } ?? false
        }
        return keys.prefix(limit).map(\.key)
    }

    /// The longest time that a timer of the item can rightly be ahead.
    private static func longestWait(of key: ItemKey, _ active: ActiveRules) -> Duration {
        switch key {
        case .thread(let bot, _):
            let policy = active.bot(bot).policy
            return max(policy.wait, policy.interval)
        case .job: return max(active.jobPolicy.interval, Routine.workAfter)
        case .storm: return Storm.lifetime
        // It waits for nothing but its end, which is an event.
        case .question: return .zero
        }
    }
}
