import Grouping
import Ledger
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

    private struct Stand {
        var items: [ItemKey: KeptItem]
        var cursor: Int64

        var nextFlush: Moment? { items.values.compactMap(\.flushAt).min() }
    }

    private struct State {
        /// What the ledger holds; nil until it was read, and after a refusal.
        var kept: Stand?
        /// With what the transaction under way adds.
        var tentative: Stand?
        /// Outbox entries that it rewrites.
        var rewritten: Set<String> = []
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
    var cursor: Int64 { state.withLock { $0.kept?.cursor ?? 0 } }

    /// When the first item must be woken.
    var nextFlush: Moment? { state.withLock { $0.kept?.nextFlush } }

    /// Whether the moment of an item has come, or was taken away by a clock that was set back.
    func isDue(at now: Moment) -> Bool {
        guard let items = state.withLock({ $0.kept?.items }) else { return false }
        return items.contains { isDue($0.key, $0.value, at: now) }
    }

    // MARK: Turns

    /// Takes in the events that this transaction appended.
    func decide(by ledger: any TurnReading) throws(LedgerError) -> [Change] {
        guard let stand = state.withLock({ $0.tentative ?? $0.kept }) else { return [] }
        return try follow(stand, by: ledger)
    }

    /// Does something that no event asks for.
    func decide(_ errand: ItemErrand.Kind, by ledger: any TurnReading) throws(LedgerError) -> [Change] {
        switch errand {
        case .load:
            var items: [ItemKey: KeptItem] = [:]
            for record in try ledger.itemsToWake(limit: .max) {
                items[record.key] = KeptItem(record, bot: "belfry")
            }
            let stand = Stand(items: items, cursor: try ledger.cursor(of: Self.consumer))
            state.withLock { $0.tentative = stand }
            return try follow(stand, by: ledger)
        case .wake:
            return try turn(by: ledger) { turn, items throws(LedgerError) in
                for (key, item) in items where isDue(key, item, at: turn.now) { try turn.wake(key) }
            }
        case .tell(let states):
            return try turn(by: ledger) { turn, _ throws(LedgerError) in
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
            state.kept = isKept ? state.tentative ?? state.kept : nil
            state.tentative = nil
            return (rewritten, state.kept?.nextFlush != before || (state.kept == nil) != wasBlank)
        }
        tools.inHand.endRewriting(rewritten)
        if isNews { alarm.ring() }
    }

    private func follow(_ stand: Stand, by ledger: any TurnReading) throws(LedgerError) -> [Change] {
        let events = try ledger.events(after: stand.cursor, limit: Self.batch)
        guard let last = events.last else { return [] }
        return try turn(by: ledger, to: last.seq) { turn, _ throws(LedgerError) in
            for event in events { try turn.take(event) }
            turn.changes.append(.moveConsumer(name: Self.consumer, from: stand.cursor, to: last.seq))
        }
    }

    /// One turn on what is known by now, with what it adds.
    private func turn(
        by ledger: any TurnReading, to cursor: Int64? = nil,
        _ body: (inout ItemTurn, [ItemKey: KeptItem]) throws(LedgerError) -> Void
    ) throws(LedgerError) -> [Change] {
        let known = state.withLock { ($0.tentative ?? $0.kept, $0.rewritten) }
        guard var stand = known.0 else { return [] }
        var turn = ItemTurn(
            tools, by: ledger, configuration: switchboard.configuration, awake: stand.items, now: clock.now)
        turn.rewritten = known.1
        defer { state.withLock { $0.rewritten = turn.rewritten } }
        try body(&turn, stand.items)
        let changes: [Change]
        do {
            changes = try turn.transaction()
        } catch {
            throw .storage(code: 0, detail: "an item can't be encoded: \(error)")
        }
        for (key, item) in turn.items {
            var item = item
            if turn.written.contains(key) { item.stored = item.nextRevision }
            stand.items[key] = item.flushAt != nil || item.isAtWork ? item : nil
        }
        stand.cursor = cursor ?? stand.cursor
        state.withLock { $0.tentative = stand }
        return changes
    }

    private func isDue(_ key: ItemKey, _ item: KeptItem, at now: Moment) -> Bool {
        guard let flushAt = item.flushAt else { return false }
        return flushAt <= now || flushAt > now + longestWait(of: key)
    }

    /// The longest time that a timer of the item can rightly be ahead.
    private func longestWait(of key: ItemKey) -> Duration {
        let configuration = switchboard.configuration
        guard case .thread(let bot, _) = key else { return ItemTurn.jobPolicy(configuration).interval }
        let policy = configuration.bot(bot).policy
        return max(policy.wait, policy.interval)
    }
}
