import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

// What a turn must know before it decides, by the events it takes in.

extension ItemTurn {
    /// The runs, messages, items and untried entries that these events name, without the items that are awake.
    static func reads(
        of events: [EventRecord], _ active: ActiveRules, _ storms: StormIndex, isAwake: (ItemKey) -> Bool
    ) -> TurnReads {
        var reads = TurnReads()
        reads.messages = events.compactMap(\.event.fact.message)
        reads.runs = Array(Set(events.compactMap(\.event.fact.shownRun)))
        let isDefault = active.configuration.routing.isDefault
        reads.needsSpecs = active.needsLabels
        reads.specs = events.compactMap { event in
            let fact = event.event.fact
            if reads.needsSpecs { return fact.shownRun }
            return isDefault || fact.isFailure ? fact.ruledRun : nil
        }
        let failed = events.lazy.filter(\.event.fact.isFailure).compactMap(\.event.fact.shownRun)
        if !failed.isEmpty, active.sendsFailures {
            reads.arrivals = Array(failed)
        }
        let started = events.compactMap(\.event.fact.startedRun)
        if !started.isEmpty, active.sendsStarts {
            reads.forecasts = started
            reads.profileCount = FinishEstimator.runsKept
        }
        reads.jobs = Array(Set(events.compactMap(\.event.fact.slotJob)))
        let keys = keys(of: events, TurnInput())
        let seen = events.compactMap(\.event.fact.seenItem)
        if !seen.isEmpty { reads.held = .items(Array(Set(seen))) }
        let failures = events.lazy.filter(\.event.fact.isFailure).count
        reads.items = (keys + storms.free(failures).map(ItemKey.storm)).filter { !isAwake($0) }
        reads.threads = Array(keys)
        reads.readGroups(for: events.compactMap(\.event.fact.onlyChannel), active)
        return reads
    }

    /// What it takes to wake these items; `kept` are those of them that are awake.
    static func reads(
        waking keys: [ItemKey], _ active: ActiveRules, kept: (ItemKey) -> KeptItem?
    ) -> TurnReads {
        var reads = TurnReads()
        let awake = keys.map { ($0, kept($0)) }
        reads.items = awake.compactMap { $1 == nil ? $0 : nil }
        reads.threads = keys
        reads.readGroups(for: awake.flatMap { $1?.only ?? [] }, active)
        return reads
    }

    /// The items that these events are about; those of messages and runs once they are read.
    static func keys(of events: [EventRecord], _ input: TurnInput) -> Set<ItemKey> {
        var keys: Set<ItemKey> = []
        for record in events {
            if let key = record.event.fact.itemKey { keys.insert(key) }
            if let id = record.event.fact.message, let message = input.messages[id]?.message {
                keys.insert(message.itemKey)
            }
        }
        return keys
    }

}

extension TurnReads {
    /// What channels are sent of groups of messages, these among them.
    fileprivate mutating func readGroups(for others: [String], _ active: ActiveRules) {
        let channels = Set(active.groupChannels + others)
        guard !channels.isEmpty else { return }
        self.channels = channels.sorted()
        if channels.contains(where: active.configuration.showsWholeMessages) {
            unreadCount = ThreadItem.lastCount
        }
    }
}

/// The threads in which Belfry itself says something.
enum OwnThread {
    case channel(String)
    case test(String)
    case configuration
    case bot(String)
    /// How a job gets on, its ends aside.
    case job(String)
    case gateway(String)
    case expectation(String)
    case ledger
    case clock
    /// What was kept back from a channel for a while.
    case digest(String)
    /// What a channel did not deliver, on its fallback.
    case undelivered(String)
    /// The signs of life of a channel.
    case heartbeat(String)

    static let bot = "belfry"

    var name: String {
        switch self {
        case .channel(let name): "channel \(name)"
        case .test(let name): "test \(name)"
        case .configuration: "config"
        case .bot(let name): "bot \(name)"
        case .job(let name): "job \(name)"
        case .gateway(let bot): "gateway \(bot)"
        case .expectation(let name): "expect \(name)"
        case .ledger: "ledger"
        case .clock: "clock"
        case .digest(let channel): "digest \(channel)"
        case .undelivered(let channel): "undelivered \(channel)"
        case .heartbeat(let channel): "heartbeat \(channel)"
        }
    }

    var key: ItemKey { .thread(bot: Self.bot, thread: name) }

    /// Whether it is that of a digest.
    static func isDigest(_ key: ItemKey) -> Bool {
        guard case .thread(let speaker, let thread) = key, speaker == "belfry" else { return false }
        return thread.hasPrefix(Self.digest("").name)
    }

    /// Whether the text form of a key is that of what another channel did not deliver.
    static func isUndelivered(_ key: String) -> Bool { key.hasPrefix("\(undelivered("").key)") }

    /// Whether the text form of a key is that of a channel's signs of life.
    static func isHeartbeat(_ key: String) -> Bool { key.hasPrefix("\(heartbeat("").key)") }

    /// Whether it is that of a test.
    static func isTest(_ key: ItemKey) -> Bool {
        guard case .thread(let speaker, let thread) = key, speaker == "belfry" else { return false }
        return thread.hasPrefix(Self.test("").name)
    }
}

extension Fact {
    /// The text form of the key of the item that it says somebody has seen, or that is over.
    fileprivate var seenItem: String? {
        switch self {
        case .messageRead(let reading): reading.item
        case .itemDismissed(let dismissal): dismissal.item
        case .itemActed(let action): action.item
        case .questionAnswered(let news), .questionExpired(let news), .questionWithdrawn(let news):
            "\(ItemKey.question(news.id))"
        default: nil
        }
    }

    /// The id of the message that an item takes in.
    fileprivate var message: String? { if case .messagePosted(let post) = self { post.message } else { nil } }

    /// The channel that alone shows the message.
    fileprivate var onlyChannel: String? {
        if case .messagePosted(let post) = self { post.channel } else { nil }
    }

    /// The id of the run that an item, or a webhook, is to show.
    fileprivate var shownRun: String? {
        switch self {
        case .runLate, .runSlow, .runStuck, .runFlapping: columns.run
        default: if case .job? = itemKey { columns.run } else { nil }
        }
    }

    /// The id of the run that it says has begun.
    fileprivate var startedRun: String? { if case .runStarted = self { columns.run } else { nil } }

    /// The id of the run whose spec may decide what is shown of its end: by its labels, or its own limits.
    fileprivate var ruledRun: String? {
        switch self {
        case .runCompleted(let end), .runFailed(let end), .runLost(let end): end.run.id
        default: nil
        }
    }

    /// The job whose slots it is about, which no run stands for.
    fileprivate var slotJob: String? {
        switch self {
        case .runMissed(let slots), .slotsSkipped(let slots): slots.job
        default: nil
        }
    }

    /// The item it is about, as far as the fact alone says it.
    fileprivate var itemKey: ItemKey? {
        switch self {
        case .messageRead(let reading): ItemKey(reading.item)
        case .itemDismissed(let dismissal): ItemKey(dismissal.item)
        case .runStarted, .runBlocked, .runCompleted, .runFailed, .runCanceled, .runLost, .runRecovered,
            .runSkipped, .runMissed, .slotsSkipped, .runProgress:
            columns.job.map(ItemKey.job)
        case .test(let channel): channel.map { OwnThread.test($0).key }
        case .channelFailing(let channel), .channelDisabled(let channel), .channelRestored(let channel):
            OwnThread.channel(channel.name).key
        case .configPartial, .jobLeftOut: OwnThread.configuration.key
        case .botStatus(let status): OwnThread.bot(status.bot).key
        case .botBudget(let budget): OwnThread.bot(budget.bot).key
        case .gatewayJob(let job): OwnThread.gateway(job.bot).key
        case .expectLate(let news), .expectRecovered(let news): OwnThread.expectation(news.name).key
        case .questionAsked(let news), .questionAnswered(let news), .questionExpired(let news),
            .questionWithdrawn(let news):
            .question(news.id)
        case .ledgerFull, .ledgerRestored: OwnThread.ledger.key
        case .clockBack: OwnThread.clock.key
        case .itemActed(let action): ItemKey(action.item)
        case .runLate, .runSlow, .runStuck, .runFlapping: columns.job.map { OwnThread.job($0).key }
        case .messagePosted, .configReloaded, .messageGroup, .unknown:
            nil
        }
    }
}

extension RunRecord {
    /// What a person reads of how it gets on.
    func charge(_ event: NewEvent) -> String {
        func since(_ moment: Moment?) -> String { moment.map { (event.at - $0).words } ?? "a while" }
        switch event.fact {
        case .runLate: return "\(name) has waited for \(since(queuedAt)) and has not begun."
        case .runSlow:
            let usual = live?.usual.map { ", usually \($0.words)" } ?? ""
            return "\(name) takes longer than usual: \(since(startedAt)) so far\(usual)."
        case .runStuck: return "\(name) may be stuck: it has been silent for \(since(live?.updatedAt))."
        case .runFlapping: return "\(job) fails and recovers in turns, last with \(name)."
        default: return "\(name) \(event.type.words)."
        }
    }
}
