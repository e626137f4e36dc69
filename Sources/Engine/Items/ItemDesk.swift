import Grouping
import Ledger
import Logging
import Synchronization
import Timeline
import Tracking

/// The items that are awake, and how far the events were read: what turns of the items work on.
///
/// Its turns are made on the ledger's own thread, inside the transactions that append events. What a turn made of
/// the items counts once its transaction is on the disk; when it is refused, all is read anew.
final class ItemDesk: Turn {
    /// The cursor's name.
    static let consumer = "items"
    private static let batch = 256

    /// At most so many items are woken in one transaction.
    private static let wakes = 1000

    /// What the transaction under way adds to what is kept.
    private struct Addition {
        /// All that the ledger holds, where it was read.
        var loaded: AwakeItems?
        /// The items that turns have touched; those that sleep now are nil.
        var touched: [ItemKey: KeptItem?] = [:]
        var cursor: Int64
    }

    private struct State {
        /// What the ledger holds; nil until it was read, and after a refusal.
        var kept: AwakeItems?
        var cursor: Int64 = 0
        var addition: Addition?
        /// Outbox entries that the transaction under way rewrites.
        var rewritten: Set<String> = []
        /// The last moment that was seen here, and the policies by which items waited then.
        var lastLook: (now: Moment, bots: [String: BotProfile])?
        /// Whether an item may wait for longer than it rightly can.
        var mayBeAhead = false

        var isBlank: Bool { kept == nil && addition == nil }

        func item(_ key: ItemKey) -> KeptItem? {
            if let touched = addition?.touched[key] { return touched }
            return addition?.loaded.map { $0[key] } ?? kept?[key]
        }

        /// Notices when the clock was set back, or the configuration was replaced.
        mutating func look(at now: Moment, _ bots: [String: BotProfile]) {
            if let lastLook, lastLook.now <= now, lastLook.bots == bots {
                self.lastLook?.now = now
            } else {
                mayBeAhead = true
                lastLook = (now, bots)
            }
        }

        /// Takes the addition in: it is on the disk.
        mutating func keepAddition() {
            guard var addition else { return }
            self.addition = nil
            if let loaded = addition.loaded {
                addition.loaded = nil
                kept = consume loaded
                mayBeAhead = true
            }
            for (key, item) in addition.touched { kept?.set(item, for: key) }
            cursor = addition.cursor
        }
    }

    private let state = Mutex(State())
    private let tools: ItemTurn.Tools
    private let switchboard: Switchboard
    private let clock: any WallClock
    /// Rung when the next moment has changed, or everything must be read anew.
    private let alarm: Alarm

    init(tools: ItemTurn.Tools, switchboard: Switchboard, clock: any WallClock, alarm: Alarm) {
        self.tools = tools
        self.switchboard = switchboard
        self.clock = clock
        self.alarm = alarm
    }

    /// Whether nothing is known yet, or any more.
    var isBlank: Bool { state.withLock { $0.kept == nil } }

    /// The newest event that was read; 0 before the first.
    var cursor: Int64 { state.withLock { $0.kept == nil ? 0 : $0.cursor } }

    /// When the first item must be woken.
    var nextFlush: Moment? { state.withLock { $0.kept?.nextFlush } }

    /// Whether the moment of an item has come, or was taken away by a clock that was set back.
    func isDue(at now: Moment) -> Bool {
        let configuration = switchboard.configuration
        return state.withLock { state in
            guard let next = state.kept?.nextFlush else { return false }
            state.look(at: now, configuration.bots)
            if next <= now { return true }
            guard state.mayBeAhead else { return false }
            state.mayBeAhead = !Self.ahead(state.kept, at: now, configuration, limit: 1).isEmpty
            return state.mayBeAhead
        }
    }

    /// The items that wait for longer than they rightly can.
    ///
    /// - Complexity: O(items); looked at only after a start, a reload, or when the clock was set back.
    private static func ahead(
        _ awake: AwakeItems?, at now: Moment, _ configuration: EngineConfiguration, limit: Int
    ) -> [ItemKey] {
        guard let awake else { return [] }
        let keys = awake.items.lazy.filter { key, item in
            item.timer.map { $0 > now + longestWait(of: key, configuration) } ?? false
        }
        return keys.prefix(limit).map(\.key)
    }

    /// The longest time that a timer of the item can rightly be ahead.
    private static func longestWait(of key: ItemKey, _ configuration: EngineConfiguration) -> Duration {
        guard case .thread(let bot, _) = key else { return ItemTurn.jobPolicy(configuration).interval }
        let policy = configuration.bot(bot).policy
        return max(policy.wait, policy.interval)
    }

    // MARK: Turns

    /// Takes in the events that this transaction appended.
    func decide(by ledger: any TurnReading) throws(LedgerError) -> [Change] {
        let cursor = state.withLock { $0.isBlank ? nil : $0.addition?.cursor ?? $0.cursor }
        guard let cursor else { return [] }
        return try follow(from: cursor, by: ledger)
    }

    /// Does something that no event asks for.
    func decide(_ errand: ItemErrand.Kind, by ledger: any TurnReading) throws(LedgerError) -> [Change] {
        switch errand {
        case .load:
            let cursor = try load(by: ledger)
            return try follow(from: cursor, by: ledger)
        case .wake:
            return try turn(by: ledger) { turn throws(LedgerError) in
                for key in due(at: turn.now) { try turn.wake(key) }
            }
        case .tell(let states):
            return try turn(by: ledger) { turn throws(LedgerError) in
                guard turn.jobPolicy.hears.contains(.progress) else { return }
                for live in states where live.state == .running && live.progress != nil {
                    try turn.take(live)
                }
            }
        }
    }

    func settle(_ isKept: Bool) {
        let (rewritten, isNews) = state.withLock { state in
            let (before, wasBlank) = (state.kept?.nextFlush, state.kept == nil)
            let rewritten = state.rewritten
            state.rewritten = []
            if isKept { state.keepAddition() } else { state.kept = nil }
            state.addition = nil
            return (rewritten, state.kept?.nextFlush != before || (state.kept == nil) != wasBlank)
        }
        tools.inHand.endRewriting(rewritten)
        if isNews { alarm.ring() }
    }

    /// Reads all that is awake, and returns how far the events were read.
    private func load(by ledger: any TurnReading) throws(LedgerError) -> Int64 {
        var awake = AwakeItems()
        for record in try ledger.itemsToWake(limit: .max) {
            awake.set(KeptItem(record, bot: "belfry"), for: record.key)
        }
        let cursor = try ledger.cursor(of: Self.consumer)
        state.withLock { $0.addition = Addition(loaded: awake, cursor: cursor) }
        return cursor
    }

    private func follow(from cursor: Int64, by ledger: any TurnReading) throws(LedgerError) -> [Change] {
        let events = try ledger.events(after: cursor, limit: Self.batch)
        guard let last = events.last else { return [] }
        return try turn(by: ledger, to: last.seq) { turn throws(LedgerError) in
            for event in events {
                if let fault = event.fault {
                    tools.logger.warning(
                        "an event can't be read whole",
                        metadata: ["event.seq": "\(event.seq)", "reason": "\(fault)"])
                }
                try turn.take(event)
            }
            turn.changes.append(.moveConsumer(name: Self.consumer, from: cursor, to: last.seq))
        }
    }

    /// One turn on what is known by now, with what it adds.
    private func turn(
        by ledger: any TurnReading, to cursor: Int64? = nil,
        _ body: (inout ItemTurn) throws(LedgerError) -> Void
    ) throws(LedgerError) -> [Change] {
        let known = state.withLock { $0.isBlank ? nil : $0.rewritten }
        guard let known else { return [] }
        let configuration = switchboard.configuration
        var turn = ItemTurn(
            tools, by: ledger, configuration: configuration,
            awake: { [self] key in state.withLock { $0.item(key) } }, now: clock.now)
        turn.rewritten = known
        defer { state.withLock { $0.rewritten = turn.rewritten } }
        try body(&turn)
        let changes: [Change]
        do {
            changes = try turn.transaction()
        } catch {
            throw .storage(code: 0, detail: "an item can't be encoded: \(error)")
        }
        state.withLock { state in
            state.look(at: turn.now, configuration.bots)
            var addition = state.addition ?? Addition(cursor: state.cursor)
            state.addition = nil
            for (key, item) in turn.items {
                var item = item
                if turn.written.contains(key) { item.stored = item.nextRevision }
                let isAwake = item.flushAt != nil || item.isAtWork
                addition.touched.updateValue(isAwake ? item : nil, forKey: key)
            }
            addition.cursor = cursor ?? addition.cursor
            state.addition = addition
        }
        return changes
    }

    /// The items to wake, those that wait for too long among them.
    ///
    /// Of what is kept: nothing else is decided in the transaction that wakes.
    private func due(at now: Moment) -> [ItemKey] {
        let configuration = switchboard.configuration
        return state.withLock { state in
            let due = state.kept?.due(at: now, limit: Self.wakes) ?? []
            guard state.mayBeAhead else { return due }
            return due + Self.ahead(state.kept, at: now, configuration, limit: Self.wakes)
        }
    }
}
