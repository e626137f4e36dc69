import Delivery
import Grouping
import Ledger
import Logging
import Synchronization
import Timeline
import Tracking

/// The items that are awake, and how far the events were read: what turns of the items work on.
///
/// Its turns decide inside the transactions that append events. What a turn made of the items counts once its
/// transaction is on the disk; when it is refused, all is read again.
final class ItemCache: Turn {
    /// The cursor's name.
    static let consumer = "items"
    private static let batch = 256

    /// At most so many items are woken in one transaction.
    private static let wakes = 1000

    private let state = Mutex(KnownItems())
    private let tools: ItemTurn.Tools
    private let activeConfiguration: ActiveConfiguration
    private var inHand: EntriesInHand { activeConfiguration.inHand }
    private let clock: any WallClock
    /// Rung when the next moment has changed, or everything must be read again.
    private let bell: Bell

    init(tools: ItemTurn.Tools, activeConfiguration: ActiveConfiguration, clock: any WallClock, bell: Bell) {
        self.tools = tools
        self.activeConfiguration = activeConfiguration
        self.clock = clock
        self.bell = bell
    }

    /// Whether nothing is known yet, or any more.
    var isBlank: Bool { state.withLock { $0.kept == nil } }

    /// The newest event that was read; 0 before the first.
    var cursor: Int64 { state.withLock { $0.kept == nil ? 0 : $0.cursor } }

    /// The jobs that fail alike, as the ledger holds them.
    var stormJobs: Set<String> { state.withLock { $0.storms.jobs } }

    /// The items that the errand under way is about.
    private var chosen: [ItemKey] { state.withLock(\.chosen) }

    /// Where the digests of channels are written, as they were read for the errand under way.
    private var digests: [ItemKey] { state.withLock(\.digests) }

    /// The same, by the channels there are now.
    private func noteDigests() -> [ItemKey] {
        let keys = activeConfiguration.rules.digests
        state.withLock { $0.digests = keys }
        return keys
    }

    private func reads(waking keys: [ItemKey]) -> TurnReads {
        ItemTurn.reads(waking: keys, activeConfiguration.rules) { key in
            state.withLock { $0.item(key) }
        }
    }

    /// Takes over what rules remember, as the ledger holds it.
    func restore(_ standing: Standing) { state.withLock { $0.standing = standing } }

    /// When the first of what the outbox holds is judged again.
    var nextRelease: Moment? { state.withLock { $0.kept == nil ? nil : $0.standing.nextRelease } }

    /// Whether something that the outbox holds is to be judged again.
    func isReleaseDue(at now: Moment) -> Bool {
        state.withLock { $0.kept != nil && $0.standing.isReleaseDue(at: now) }
    }

    /// When the first item must be woken.
    var nextFlush: Moment? { state.withLock { $0.kept?.nextFlush } }

    /// Whether the moment of an item has come, or was taken away by a clock that was set back.
    func isDue(at now: Moment) -> Bool {
        let active = activeConfiguration.rules
        return state.withLock { $0.isDue(at: now, active) }
    }

    // MARK: Turns

    /// The events that this transaction appended.
    func opening() -> TurnReads? {
        let cursor = state.withLock { $0.isUnread ? nil : $0.newestCursor }
        return cursor.map { TurnReads(events: .after($0, limit: Self.batch)) }
    }

    func reads(by input: TurnInput) -> TurnReads {
        let storms = state.withLock(\.newestStorms)
        return ItemTurn.reads(of: input.events, activeConfiguration.rules, storms, isAwake: isAwake)
    }

    func isKnown(_ item: ItemKey) -> Bool { isAwake(item) }

    /// The same after ``ItemErrand/Kind/load``, which replaces what is kept.
    fileprivate func readsWhenLoading(by input: TurnInput) -> TurnReads {
        var storms = StormIndex()
        for record in input.itemsToWake { storms.read(record) }
        var reads = ItemTurn.reads(
            of: input.events, activeConfiguration.rules, storms, isAwake: { _ in false })
        reads.items = Array(Set(reads.items).union(storms.forming.map(ItemKey.job)))
        return reads
    }

    func decide(_ input: TurnInput) throws(LedgerError) -> [Change] {
        guard let last = input.events.last else { return [] }
        let cursor = state.withLock(\.newestCursor)
        let storms = state.withLock(\.newestStorms)
        let keys = ItemTurn.keys(of: input.events, input)
            .union(ItemTurn.stormKeys(of: input.events, input, storms, at: clock.now))
        return try turn(by: input, on: keys, to: last.seq) { turn in
            for event in input.events {
                if let fault = event.fault {
                    tools.logger.warning(
                        "an event can't be decoded",
                        metadata: ["event.seq": "\(event.seq)", "reason": "\(fault)"])
                }
                turn.apply(event)
            }
            turn.changes.append(.moveConsumer(name: Self.consumer, from: cursor, to: last.seq))
        }
    }

    /// What is read to do something that no event asks for.
    fileprivate func opening(of errand: ItemErrand.Kind) -> TurnReads? {
        switch errand {
        case .load:
            return TurnReads(events: .of(consumer: Self.consumer, limit: Self.batch), itemsToWake: .max)
        case .wake(let keys): return reads(waking: keys + noteDigests())
        case .judgeAgain, .release:
            // Found here, behind all turns that may have kept something back by older rules.
            let keys = state.withLock { state in
                state.chosen = state.held
                return state.chosen
            }
            var reads = keys.isEmpty ? TurnReads() : reads(waking: keys + noteDigests())
            reads.held = .judgedAgain
            return reads
        case .releaseHeld:
            var reads = TurnReads()
            reads.held = .judgedAgain
            return reads
        case .leave:
            return TurnReads()
        case .report(let states):
            let hears = activeConfiguration.rules.jobPolicy.hears
            guard hears.contains(.progress), !states.isEmpty else { return nil }
            var reads = TurnReads()
            reads.runs = states.map(\.task.id)
            reads.items = states.map(\.itemKey).filter { !isAwake($0) }
            return reads
        }
    }

    fileprivate func decide(
        _ errand: ItemErrand.Kind, _ input: TurnInput
    ) throws(LedgerError) -> [Change] {
        switch errand {
        case .load:
            var awake = AwakeItems()
            for record in input.itemsToWake {
                awake.set(KeptItem(record, bot: "belfry"), for: record.key)
            }
            var storms = StormIndex()
            for record in input.itemsToWake { storms.read(record) }
            for job in storms.forming {
                // It sleeps, but that it may have to step aside.
                if let record = input.items[.job(job)] {
                    awake.set(KeptItem(record, bot: "belfry"), for: record.key)
                }
            }
            state.withLock { $0.load(awake, storms, cursor: input.cursor) }
            return try decide(input)
        case .wake(let keys):
            return try turn(by: input, on: Set(keys + digests)) { turn in
                turn.sendDigests(of: keys, at: turn.now)
                for key in keys { turn.wake(key) }
            }
        case .release:
            let keys = chosen
            return try turn(by: input, on: Set(keys + digests)) { turn in
                turn.release(keys)
                turn.releaseHeld(.wanted)
            }
        case .releaseHeld:
            return try turn(by: input, on: []) { turn in turn.releaseHeld(.due) }
        case .judgeAgain:
            let keys = chosen
            return try turn(by: input, on: Set(keys)) { turn in
                for key in keys { turn.judgeAgain(key) }
                turn.releaseHeld(.rules)
            }
        case .leave(let jobs):
            let storms = state.withLock(\.newestStorms)
            let keys = Set(jobs.compactMap(storms.number).map(ItemKey.storm))
            return try turn(by: input, on: keys) { turn in
                for job in jobs { turn.leaveStorm(job) }
            }
        case .report(let states):
            return try turn(by: input, on: Set(states.map(\.itemKey))) { turn in
                for live in states { turn.apply(live) }
            }
        }
    }

    private func isAwake(_ key: ItemKey) -> Bool { state.withLock { $0.item(key) != nil } }

    func settle(_ isKept: Bool) {
        let (rewritten, isNews) = state.withLock { state in
            let rewritten = state.rewritten
            state.rewritten = []
            return (rewritten, state.settle(isKept))
        }
        inHand.endRewriting(rewritten)
        if isNews { bell.ring() }
    }

    /// One turn on what is known by now, with what it adds.
    private func turn(
        by input: TurnInput, on keys: Set<ItemKey>, to cursor: Int64? = nil, _ body: (inout ItemTurn) -> Void
    ) throws(LedgerError) -> [Change] {
        let before = state.withLock { $0.before(turnOn: keys) }
        guard let before else { return [] }
        let active = activeConfiguration.rules
        var turn = ItemTurn(
            tools, by: input, active: active, keys: keys, awake: before.items,
            storms: before.storms, standing: before.standing, now: clock.now)
        body(&turn)
        let changes: [Change]
        do {
            changes = try turn.transaction(rewriting: mayRewrite)
        } catch {
            throw .storage(code: 0, detail: "an item can't be encoded: \(error)")
        }
        state.withLock { $0.add(turn, since: before, cursor: cursor) }
        return changes
    }

    /// Whether an entry may be rewritten; it is not sent then before this transaction has ended.
    private func mayRewrite(_ id: String) -> Bool {
        state.withLock { state in
            guard state.rewritten.contains(id) || inHand.beginRewriting(id) else { return false }
            state.rewritten.insert(id)
            return true
        }
    }

    /// The items to wake now, the earliest first, and those that wait for too long.
    func due(at now: Moment) -> [ItemKey] {
        let active = activeConfiguration.rules
        return state.withLock { $0.due(at: now, active, limit: Self.wakes) }
    }
}

/// A turn of the items that no event asks for.
struct ItemErrand: Turn {
    enum Kind: Sendable {
        /// Reads all that is awake, and events from where the last daemon stopped.
        case load
        /// Wakes these items: their moment has come.
        case wake([ItemKey])
        /// Lets the rules decide again about what they keep back.
        case judgeAgain
        /// Shows what quiet hours and budgets keep back.
        case release
        /// Judges again what the outbox holds until now.
        case releaseHeld
        /// Takes these jobs out of their storms: they were removed.
        case leave([String])
        /// Shows where these runs are.
        case report([LiveState])
    }

    let kind: Kind
    let cache: ItemCache

    func opening() -> TurnReads? { cache.opening(of: kind) }

    func reads(by input: TurnInput) -> TurnReads {
        guard case .load = kind else { return TurnReads() }
        return cache.readsWhenLoading(by: input)
    }

    func decide(_ input: TurnInput) throws(LedgerError) -> [Change] { try cache.decide(kind, input) }

    func settle(_ isKept: Bool) { cache.settle(isKept) }
}

extension LiveState {
    /// The item that shows it.
    var itemKey: ItemKey { .job(task.name) }
}
