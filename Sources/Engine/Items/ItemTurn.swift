import Delivery
import Grouping
import Ledger
import Logging
import Timeline
import Tracking

/// One turn of the items: events in, items touched and the changes of the channels out.
///
/// Reads what it needs in the transaction that it becomes part of; see ``ItemDesk``.
struct ItemTurn {
    /// What a turn works with.
    struct Tools {
        let inHand: EntriesInHand
        let makeID: @Sendable () -> String
        /// When this daemon began: entries that are older may have been sent without a trace.
        let since: Moment
        let logger: Logger
    }

    let tools: Tools
    let reads: any TurnReading
    let configuration: EngineConfiguration
    let now: Moment
    /// The items that are awake.
    private let awake: (ItemKey) -> KeptItem?
    private(set) var items: [ItemKey: KeptItem] = [:]
    /// The items whose state must be stored.
    private(set) var written: Set<ItemKey> = []
    var changes: [Change] = []
    /// The outbox entries that this turn and those before it in its transaction rewrite.
    var rewritten: Set<String> = []

    init(
        _ tools: Tools, by reads: any TurnReading, configuration: EngineConfiguration,
        awake: @escaping (ItemKey) -> KeptItem?, now: Moment
    ) {
        self.tools = tools
        self.reads = reads
        self.configuration = configuration
        self.awake = awake
        self.now = now
    }

    /// What the surfaces want to hear of jobs, all together.
    var jobPolicy: JobPolicy { Self.jobPolicy(configuration) }
    /// The same, and each by itself.
    var jobPolicies: JobPolicies { JobPolicies(configuration.routing, levels: levels) }
    var levels: [String] { Self.levels(configuration) }
    /// Also those that were left out: what is for them waits until they are back.
    var edges: [String] {
        configuration.channels.filter { !$0.kind.isLevel }.map(\.name)
            + configuration.leftOut.compactMap(\.channel).filter { !$0.kind.isLevel }.map(\.name)
    }

    static func jobPolicy(_ configuration: EngineConfiguration) -> JobPolicy {
        JobPolicy(hears: configuration.routing.hears(Set(levels(configuration))))
    }

    private static func levels(_ configuration: EngineConfiguration) -> [String] {
        configuration.channels.filter(\.kind.isLevel).map(\.name)
    }

    /// The whole transaction; empty when there is nothing to write.
    func transaction() throws -> [Change] {
        try written.compactMap { try items[$0]?.change(at: now) } + changes
    }

    // MARK: Items

    /// The item as this turn left it, or as it is stored, or a new one.
    func item(_ key: ItemKey, bot: String) throws(LedgerError) -> KeptItem {
        if let item = items[key] ?? awake(key) { return item }
        if let record = try reads.item(key) { return KeptItem(record, bot: bot) }
        return KeptItem(key, bot: bot)
    }

    /// Lets an item decide, and does what it says.
    ///
    /// Of a `tick` that shows nothing new yet no row is written: the board tells it again after a crash.
    mutating func update(
        _ key: ItemKey, bot: String, isTick: Bool = false, _ decide: (inout KeptItem) -> [KeptItem.Decision]
    ) throws(LedgerError) {
        var item = try item(key, bot: bot)
        let before = (item.decider, item.views)
        var isShown = false
        for decision in decide(&item) {
            switch decision.action {
            case .wakeAt: continue
            case .flush(let snapshot):
                item.keep(snapshot, on: decision.channel)
                try show(snapshot, of: item, on: decision.channel)
            case .resolve(let revision):
                item.keep(nil, on: decision.channel)
                resolve(item, revision: revision, on: decision.channel)
            }
            isShown = true
        }
        items[key] = item
        if isShown || (!isTick && (item.decider, item.views) != before) { written.insert(key) }
    }

    /// Wakes an item whose moment has come.
    mutating func wake(_ key: ItemKey) throws(LedgerError) {
        let now = now
        switch key {
        case .thread(let bot, _):
            let policy = configuration.bot(bot).policy
            try update(key, bot: "belfry") { $0.wake(at: now, policy: policy) }
        case .job:
            let policies = jobPolicies
            try update(key, bot: "belfry") { $0.wake(at: now, policies: policies) }
        }
    }

    // MARK: Channels

    /// Makes the channel show this version, or every one the item is routed to that has no view of its own.
    private mutating func show(
        _ snapshot: ItemSnapshot, of item: KeptItem, on channel: String?
    ) throws(LedgerError) {
        let shared = (item.only ?? channels(for: snapshot)).filter { item.views[$0] == nil }
        for name in channel.map({ [$0] }) ?? shared {
            if levels.contains(name) {
                // What a person put away stays away until something rings.
                guard !snapshot.isDismissed else { continue }
                changes.append(
                    .wantSurface(
                        channel: name, item: "\(item.key)", revision: Int64(snapshot.revision),
                        ring: snapshot.reason.rings, at: now))
                changes.append(.dismissSurface(channel: name, item: "\(item.key)", false))
            } else if case .messages = snapshot.content {
                try group(snapshot, of: item, on: name)
            }
        }
    }

    /// Takes the item away from the channel, or from every one that has no view of its own.
    private mutating func resolve(_ item: KeptItem, revision: Int, on channel: String?) {
        let shared = levels.filter { (item.only?.contains($0) ?? true) && item.views[$0] == nil }
        for name in channel.map({ [$0] }) ?? shared {
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

    /// The ids of the messages it shows that a person pinned.
    private func pinned(of snapshot: ItemSnapshot) throws(LedgerError) -> Set<String> {
        guard case .messages(_, let last) = snapshot.content else { return [] }
        var pinned: Set<String> = []
        for message in last where try reads.message(id: message.id)?.pinned == true {
            pinned.insert(message.id)
        }
        return pinned
    }

    /// Makes an outbox entry of the group, or rewrites the last one that surely nobody has seen.
    private mutating func group(
        _ snapshot: ItemSnapshot, of item: KeptItem, on channel: String
    ) throws(LedgerError) {
        let reason = snapshot.reason.rawValue
        let body = WebhookBody(
            type: EventType.messageGroup.rawValue, timestamp: snapshot.at, reason: reason,
            objects: [JSON.Member("item", JSON(snapshot, pinned: try pinned(of: snapshot)))])
        let last = try reads.untriedOutbox(channel: channel, item: "\(item.key)")
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
