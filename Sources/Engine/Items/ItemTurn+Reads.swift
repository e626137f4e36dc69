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
        case .digest(let channel): DigestThread.name(of: channel)
        case .undelivered(let channel): "undelivered \(channel)"
        case .heartbeat(let channel): "heartbeat \(channel)"
        }
    }

    var key: ItemKey { .thread(bot: Self.bot, thread: name) }

    /// Whether it is that of a digest.
    static func isDigest(_ key: ItemKey) -> Bool {
        guard case .thread(let speaker, let thread) = key, speaker == "belfry" else { return false }
        return DigestThread.isName(thread)
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
    /// The text form of the key of the item that it says somebody has seen, or that has ended.
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

/// What the channels that edit in place want to hear of a job: all of them together, and each by itself.
struct ChannelInterests {
    /// What any of them hears.
    private(set) var all: JobPolicy
    /// What each hears, by name.
    private(set) var each: [String: JobPolicy]
    /// Those that hear less than all together.
    let apart: Set<String>

    init(_ routing: Routing, levels: [String]) {
        func policy(_ channels: Set<String>) -> JobPolicy {
            var policy = JobPolicy(hears: routing.hears(channels))
            if routing.isDefault { policy.workAfter = Routine.workAfter }
            return policy
        }
        let all = policy(Set(levels))
        let each = Dictionary(levels.map { ($0, policy([$0])) }) { first, _ in first }
        (self.all, self.each) = (all, each)
        apart = Set(each.filter { $0.value.hears != all.hears }.keys)
    }

    /// That of a channel, or of all together.
    func policy(of channel: String?) -> JobPolicy { channel.flatMap { each[$0] } ?? all }

    /// What they hear of a run that was started with this wish, and of what ends where `only` these channels show it.
    func heard(by wish: NotifyWish?, only: [String]? = nil) -> ChannelInterests {
        var heard = self
        heard.all.hears = wish.hears(of: all.hears)
        for (name, policy) in each where only?.contains(name) ?? true {
            heard.each[name]?.hears = wish.hears(of: policy.hears)
        }
        return heard
    }

    /// What a reminder of a failure is decided by: it is due as well where only channels that send once hear of failures.
    func reminding(by routing: Routing) -> ChannelInterests {
        var interests = self
        if routing.routes.contains(where: { $0.when.contains(.failed) && !$0.to.isEmpty }) {
            interests.all.hears.insert(.failed)
        }
        return interests
    }

    /// The same, but this is no news by itself: it only replaces the progress of its run.
    func following(_ news: JobNews) -> ChannelInterests {
        func following(_ policy: JobPolicy) -> JobPolicy {
            var policy = policy
            if policy.hears.remove(news) != nil { policy.follows.insert(news) }
            return policy
        }
        var interests = self
        (interests.all, interests.each) = (following(all), each.mapValues(following))
        return interests
    }
}

extension JobFact {
    /// What an event says of a run.
    ///
    /// The state is the event's: the run itself may have gone on since.
    init(_ event: NewEvent, of run: RunRecord) {
        var (state, reason, message) = (run.state, RunReason?.none, String?.none)
        var circumstances = Fact.End.Circumstances()
        switch event.fact {
        case .runStarted: state = .starting
        case .runBlocked: state = .blocked
        case .runCompleted(let end), .runFailed(let end), .runCanceled(let end), .runLost(let end),
            .runSkipped(let end):
            (reason, circumstances) = (end.reason, end.circumstances)
            message = end.message.map(MissingProgram.headline)
        default: break
        }
        let last = run.live
        self.init(
            run: run.ordinal, state: state, reason: reason, exitCode: run.exitCode, signal: run.signal,
            progress: last?.progress, phase: last?.phase, text: message ?? last?.message, at: event.at)
        (took, limit, next) = (circumstances.took, circumstances.limit, circumstances.next)
        guard state == .completed else { return }
        text = text.flatMap(ProgressTitle.result)
        if let start = run.startedAt { took = max(.zero, event.at - start) }
    }

    /// Where a run is right now.
    ///
    /// How long it still takes is only shown of a run that reports progress, and so is shown again: of another one the
    /// words would soon be wrong, and how long it usually takes stays right.
    init(_ live: LiveState, at now: Moment) {
        let number = live.task.run.split(separator: "#").last.flatMap { Int($0) }
        self.init(
            run: number, state: live.state, reason: live.reason, progress: live.progress, phase: live.phase,
            text: live.message, at: live.updatedAt)
        guard live.state == .running else { return }
        lasted = live.startedAt.map { max(.zero, now - $0) }
        outlook =
            live.progress == nil
            ? live.usual.map { "usually \($0.words)" } : live.finish?.claim(at: now)?.words
    }
}

extension RoutineRun {
    /// The run of a record, under the rules of its job where they are known.
    init(_ run: RunRecord, _ spec: JobSpec?) {
        let isAsked =
            switch run.kind {
            case .manual, .exec: true
            // What it says is the news.
            case .scheduled, .hook, .reply, .delegated: false
            }
        let lasted = run.startedAt.flatMap { start in run.endedAt.map { max(.zero, $0 - start) } }
        self.init(
            isAsked: isAsked, startedAt: run.startedAt, lasted: lasted ?? .zero,
            completionAfter: spec?.notifyAfter)
    }
}

extension Matter {
    /// An event of a run that was started under these rules.
    init(_ event: NewEvent, of run: RunRecord, as spec: JobSpec?) {
        self.init(event.fact)
        let routine = RoutineRun(run, spec)
        self.run = routine
        isEnd = run.state.isEnded
        wish = spec?.notify
        guard run.kind == .exec, let after = routine.completionAfter, isEnd else { return }
        // Whoever names a time for this one command asks for its end after that time, wherever routes lead.
        let isLong = routine.lasted >= after
        if wish == nil, isLong { wish = .always }
        if wish == .always, !isLong, !run.state.isFailure { wish = nil }
    }
}
