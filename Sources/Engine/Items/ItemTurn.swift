import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

/// One turn of the item keeper: events in, items touched and the changes of the channels out.
///
/// Reads what it needs and writes nothing; the keeper commits it whole.
struct ItemTurn {
    /// What a turn works with.
    struct Tools {
        let ledger: any Ledger
        let board: LiveBoard
        let inHand: EntriesInHand
        let makeID: @Sendable () -> String
        /// When this daemon began: entries that are older may have been sent without a trace.
        let since: Moment
    }

    let tools: Tools
    let configuration: EngineConfiguration
    let now: Moment
    /// The items that are awake.
    private let awake: [ItemKey: KeptItem]
    private(set) var items: [ItemKey: KeptItem] = [:]
    /// The items whose state must be stored.
    private(set) var written: Set<ItemKey> = []
    var changes: [Change] = []
    /// The outbox entries that this turn rewrites.
    private var rewritten: Set<String> = []

    init(_ tools: Tools, configuration: EngineConfiguration, awake: [ItemKey: KeptItem], now: Moment) {
        self.tools = tools
        self.configuration = configuration
        self.awake = awake
        self.now = now
    }

    /// What the surfaces want to hear of jobs.
    var jobPolicy: JobPolicy { JobPolicy(hears: configuration.routing.hears(Set(levels))) }
    var levels: [String] { configuration.channels.filter(\.kind.isLevel).map(\.name) }
    var edges: [String] { configuration.channels.filter { !$0.kind.isLevel }.map(\.name) }

    /// The whole transaction; empty when there is nothing to write.
    func transaction() throws -> [Change] {
        try written.compactMap { try items[$0]?.change(at: now) } + changes
    }

    /// Ends the turn: what it rewrote may be sent again.
    func end() { tools.inHand.endRewriting(rewritten) }

    // MARK: Items

    /// The item as this turn left it, or as it is stored, or a new one.
    func item(_ key: ItemKey, bot: String) async throws(LedgerError) -> KeptItem {
        if let item = items[key] ?? awake[key] { return item }
        if let record = try await tools.ledger.item(key) { return KeptItem(record, bot: bot) }
        return KeptItem(key, bot: bot)
    }

    /// Lets an item decide, and does what it says.
    ///
    /// Of a `tick` that shows nothing new yet no row is written: the board tells it again after a crash.
    mutating func update(
        _ key: ItemKey, bot: String, isTick: Bool = false, _ decide: (inout KeptItem) -> [ItemAction]
    ) async throws(LedgerError) {
        var item = try await item(key, bot: bot)
        let before = item.decider
        var isShown = false
        for action in decide(&item) {
            switch action {
            case .wakeAt: continue
            case .flush(let snapshot):
                item.shown = snapshot
                try await show(snapshot, of: item)
            case .resolve(let revision):
                item.shown = nil
                resolve(item, revision: revision)
            }
            isShown = true
        }
        items[key] = item
        if isShown || (!isTick && item.decider != before) { written.insert(key) }
    }

    /// Wakes an item whose moment has come.
    mutating func wake(_ key: ItemKey) async throws(LedgerError) {
        let (now, policies) = (now, (thread: threadPolicy(of: key), job: jobPolicy))
        try await update(key, bot: "belfry") { item in
            item.wake(at: now, thread: policies.thread, job: policies.job)
        }
    }

    /// The longest time that a timer of the item can rightly be ahead.
    func longestWait(of key: ItemKey) -> Duration {
        guard case .thread = key else { return jobPolicy.interval }
        let policy = threadPolicy(of: key)
        return max(policy.wait, policy.interval)
    }

    private func threadPolicy(of key: ItemKey) -> ThreadPolicy {
        guard case .thread(let bot, _) = key else { return ThreadPolicy() }
        return configuration.bot(bot).policy
    }

    // MARK: Channels

    /// Makes every channel the item is routed to show this version.
    private mutating func show(_ snapshot: ItemSnapshot, of item: KeptItem) async throws(LedgerError) {
        for name in item.only ?? channels(for: snapshot) {
            if levels.contains(name) {
                // What a person put away stays away until something rings.
                guard !snapshot.isDismissed else { continue }
                changes.append(
                    .wantSurface(
                        channel: name, item: "\(item.key)", revision: Int64(snapshot.revision),
                        ring: snapshot.reason.rings, at: now))
                changes.append(.dismissSurface(channel: name, item: "\(item.key)", false))
            } else if case .messages = snapshot.content {
                try await group(snapshot, of: item, on: name)
            }
        }
    }

    /// Takes the item away from every surface.
    private mutating func resolve(_ item: KeptItem, revision: Int) {
        for name in levels where item.only?.contains(name) ?? true {
            changes.append(
                .wantSurface(
                    channel: name, item: "\(item.key)", revision: Int64(revision), ring: false, at: now))
        }
    }

    private func channels(for snapshot: ItemSnapshot) -> [String] {
        switch snapshot.content {
        case .messages: configuration.routing.channels(for: EventType.messageGroup.rawValue)
        case .job(let report): configuration.routing.channels(for: "run.\(report.news.rawValue)")
        }
    }

    /// Makes an outbox entry of the group, or rewrites the last one that surely nobody has seen.
    private mutating func group(
        _ snapshot: ItemSnapshot, of item: KeptItem, on channel: String
    ) async throws(LedgerError) {
        let reason = snapshot.reason.rawValue
        let body = WebhookBody(
            type: EventType.messageGroup.rawValue, timestamp: snapshot.at, reason: reason,
            objects: [JSON.Member("item", JSON(snapshot))])
        let last = try await tools.ledger.untriedOutbox(channel: channel, item: "\(item.key)")
        if let last, last.createdAt >= tools.since,
            rewritten.contains(last.id) || tools.inHand.beginRewriting(last.id)
        {
            rewritten.insert(last.id)
            changes.append(
                .rewriteOutbox(
                    id: last.id, reason: reason, body: body.bytes, item: "\(item.key)", nextAt: now))
            return
        }
        changes.append(
            .insertOutbox(
                OutboxRecord(
                    id: tools.makeID(), channel: channel,
                    cause: "item:\(item.key):\(item.nextRevision).\(snapshot.revision):\(channel)",
                    type: EventType.messageGroup.rawValue, reason: reason, createdAt: now, nextAt: now,
                    item: "\(item.key)", body: body.bytes)))
    }
}
