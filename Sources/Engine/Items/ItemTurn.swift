import Delivery
import Grouping
import Ledger
import Logging
import Timeline
import Tracking

/// One turn of the items: events in, items touched and the changes of the channels out.
///
/// Works on values: what it must know was read before, in the transaction that it becomes part of; see ``ItemDesk``.
struct ItemTurn {
    /// What a turn works with.
    struct Tools {
        let makeID: @Sendable () -> String
        /// When this daemon began: entries that are older may have been sent without a trace.
        let since: Moment
        let logger: Logger
    }

    let tools: Tools
    let input: TurnInput
    let configuration: EngineConfiguration
    let now: Moment
    /// The items that it may touch, and those of them that are awake.
    private let (keys, awake): (Set<ItemKey>, [ItemKey: KeptItem])
    private(set) var items: [ItemKey: KeptItem] = [:]
    /// The items whose state must be stored.
    private(set) var written: Set<ItemKey> = []
    var changes: [Change] = []
    /// Which of ``changes`` insert an entry that may take the place of one that surely nobody has seen: its id.
    private(set) var successors: [(change: Int, of: String)] = []

    init(
        _ tools: Tools, by input: TurnInput, configuration: EngineConfiguration, keys: Set<ItemKey>,
        awake: [ItemKey: KeptItem], now: Moment
    ) {
        self.tools = tools
        self.input = input
        self.configuration = configuration
        self.keys = keys
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

    static func levels(_ configuration: EngineConfiguration) -> [String] {
        configuration.channels.filter(\.kind.isLevel).map(\.name)
    }

    /// The whole transaction; empty when there is nothing to write.
    ///
    /// An entry that `mayRewrite` allows is rewritten instead of followed by a new one.
    func transaction(rewriting mayRewrite: (String) -> Bool) throws -> [Change] {
        var changes = changes
        for (index, last) in successors {
            guard case .insertOutbox(let entry) = changes[index], mayRewrite(last) else { continue }
            changes[index] = .rewriteOutbox(
                id: last, reason: entry.reason, body: entry.body, item: entry.item, nextAt: now)
        }
        return try written.compactMap { try items[$0]?.change(at: now) } + changes
    }

    // MARK: Items

    /// The item as this turn left it, or as it is stored, or a new one.
    func item(_ key: ItemKey, bot: String) -> KeptItem {
        assert(keys.contains(key), "\(key) was not read")
        if let item = items[key] ?? awake[key] { return item }
        if let record = input.items[key] { return KeptItem(record, bot: bot) }
        return KeptItem(key, bot: bot)
    }

    /// Lets an item decide, and does what it says.
    ///
    /// Of a `tick` that shows nothing new yet no row is written: the board tells it again after a crash.
    mutating func update(
        _ key: ItemKey, bot: String, isTick: Bool = false, _ decide: (inout KeptItem) -> [KeptItem.Decision]
    ) {
        var item = item(key, bot: bot)
        let before = (item.decider, item.views)
        var isShown = false
        for decision in decide(&item) {
            switch decision.action {
            case .wakeAt: continue
            case .flush(let snapshot):
                item.keep(snapshot, on: decision.channel)
                show(snapshot, of: item, on: decision.channel)
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
    mutating func wake(_ key: ItemKey) {
        let now = now
        switch key {
        case .thread(let bot, _):
            let policy = configuration.bot(bot).policy
            update(key, bot: "belfry") { $0.wake(at: now, policy: policy) }
        case .job:
            let policies = jobPolicies
            update(key, bot: "belfry") { $0.wake(at: now, policies: policies) }
        }
    }

    // MARK: Channels

    /// Makes the channel show this version, or every one the item is routed to that has no view of its own.
    private mutating func show(
        _ snapshot: ItemSnapshot, of item: KeptItem, on channel: String?
    ) {
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
                group(snapshot, of: item, on: name)
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

    /// Makes an outbox entry of the group, which may replace the last one while surely nobody has seen that.
    private mutating func group(_ snapshot: ItemSnapshot, of item: KeptItem, on channel: String) {
        let reason = snapshot.reason.rawValue
        let body = WebhookBody(
            type: EventType.messageGroup.rawValue, timestamp: snapshot.at, reason: reason,
            objects: [JSON.Member("item", JSON(snapshot, pinned: pinned(of: snapshot)))])
        if let last = input.untried[item.key]?[channel], last.createdAt >= tools.since {
            successors.append((changes.count, last.id))
        }
        changes.append(
            .insertOutbox(
                OutboxRecord(
                    id: tools.makeID(), channel: channel,
                    cause: "item:\(item.key):\(item.nextRevision).\(snapshot.revision):\(channel)",
                    type: EventType.messageGroup.rawValue, reason: reason, createdAt: now, nextAt: now,
                    item: "\(item.key)", body: body.bytes)))
    }

    /// The ids of the messages it shows that a person pinned.
    private func pinned(of snapshot: ItemSnapshot) -> Set<String> {
        guard case .messages(_, let last) = snapshot.content else { return [] }
        return input.pinned.intersection(last.map(\.id))
    }
}
