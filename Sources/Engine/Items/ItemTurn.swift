import API
import Delivery
import Grouping
import Ledger
import Logging
import Timeline
import Tracking

/// One turn of the items: events in, items touched and the changes of the channels out.
///
/// Works on values: what it must know was read before, in the transaction that it becomes part of; see ``ItemCache``.
struct ItemTurn {
    /// What a turn works with.
    struct Tools {
        let dispatcher: Dispatcher
        let makeID: @Sendable () -> String
        /// When this daemon began: entries that are older may have been sent without a trace.
        let since: Moment
        let logger: Logger
    }

    /// An entry that may take the place of another.
    private struct Successor {
        /// Which of ``ItemTurn/changes`` inserts it.
        var change: Int
        /// The id of the other.
        var of: String
        /// Which of ``ItemTurn/verdicts`` is about it.
        var verdict: Int?
    }

    let tools: Tools
    let input: TurnInput
    let active: ActiveRules
    let now: Moment
    /// The items that it may touch, and those of them that are awake.
    private let (keys, awake): (Set<ItemKey>, [ItemKey: KeptItem])
    private(set) var items: [ItemKey: KeptItem] = [:]
    /// The items whose state must be stored.
    private(set) var written: Set<ItemKey> = []
    /// Which jobs failed alike.
    var storms: StormIndex
    /// What rules remember.
    var standing: Standing
    private let standingBefore: Standing
    /// The entries of the input that this turn released, or took out of line.
    var settledHolds: Set<String> = []
    /// The channels whose held items are listed in one digest, and so come without a sound.
    var digested: Set<String> = []
    /// The channels that wait for somebody to see an item, by what this turn queued for them, and until when.
    var waits: [ItemKey: [String: Moment]] = [:]
    /// What is only shown because its time to be kept back has ended.
    private var isRelease = false
    /// Whether a person wants to see what quiet hours and budgets keep back.
    private var isReleasing = false
    var changes: [Change] = []
    /// What was decided.
    var verdicts: [VerdictRecord] = []
    /// The entries that may take the place of one that surely nobody has seen.
    private var successors: [Successor] = []

    init(
        _ tools: Tools, by input: TurnInput, active: ActiveRules, keys: Set<ItemKey>,
        awake: [ItemKey: KeptItem], storms: StormIndex, standing: Standing = Standing(), now: Moment
    ) {
        self.storms = storms
        (self.standing, standingBefore) = (standing, standing)
        self.tools = tools
        self.input = input
        self.active = active
        self.keys = keys
        self.awake = awake
        self.now = now
    }

    var configuration: EngineConfiguration { active.configuration }
    var rules: DispatchRules { active.dispatch }
    /// The channels that edit in place.
    var levels: [String] { active.levels }
    /// What the surfaces want to hear of jobs, all together.
    var jobPolicy: JobPolicy { active.jobPolicy }
    /// The same, and each by itself.
    var jobPolicies: ChannelInterests { active.jobPolicies }

    /// The whole transaction; empty when there is nothing to write.
    ///
    /// An entry that `mayRewrite` allows is rewritten instead of followed by a new one.
    func transaction(rewriting mayRewrite: (String) -> Bool) throws -> [Change] {
        var (changes, verdicts) = (changes, verdicts)
        for successor in successors {
            guard case .insertOutbox(let entry) = changes[successor.change], mayRewrite(successor.of) else {
                continue
            }
            changes[successor.change] = .rewriteOutbox(
                id: successor.of, reason: entry.reason, body: entry.body, item: entry.item, nextAt: now)
            // What is kept of the new one is kept of the other in its place.
            if changes.indices.contains(successor.change + 1),
                case .putFallback(var fallback) = changes[successor.change + 1], fallback.outbox == entry.id
            {
                fallback.outbox = successor.of
                changes[successor.change + 1] = .putFallback(fallback)
            }
            if let verdict = successor.verdict { verdicts[verdict].stage = .grouping }
        }
        if !verdicts.isEmpty { changes.append(.recordVerdicts(verdicts)) }
        return try written.compactMap { try items[$0]?.change(at: now) } + changes
            + standing.changes(since: standingBefore)
    }

    // MARK: Items

    /// The item as this turn left it, or as it is stored, or a new one.
    func item(_ key: ItemKey, bot: String) -> KeptItem {
        assert(keys.contains(key), "\(key) was not read")
        if let item = items[key] ?? awake[key] { return item }
        if let record = input.items[key] { return KeptItem(record, bot: bot) }
        return KeptItem(key, bot: bot)
    }

    /// Lets an item decide, by an event where one is named, and does what it says.
    ///
    /// Of a `tick` that shows nothing new yet no row is written: the board reports it again after a crash.
    mutating func update(
        _ key: ItemKey, bot: String, by event: Int64? = nil, isTick: Bool = false,
        _ decide: (inout KeptItem) -> [KeptItem.Decision]
    ) {
        var item = item(key, bot: bot)
        let before = (item.decider, item.views, item.waiting, item.held, item.acknowledgement)
        if let waits = waits.removeValue(forKey: key) { item.wait(waits, at: now) }
        var waiting = item
        item.event = event ?? item.event
        var isShown = false
        for decision in decide(&item) {
            switch decision.action {
            case .wakeAt: continue
            case .flush(let snapshot) where givesWay(item, snapshot, on: decision.channel):
                list(snapshot, of: &item, on: decision.channel)
            case .flush(let snapshot):
                item.keep(snapshot, on: decision.channel)
                show(snapshot, of: &item, on: decision.channel)
            case .resolve(let revision):
                item.keep(nil, on: decision.channel)
                resolve(&item, revision: revision, on: decision.channel)
            }
            isShown = true
        }
        items[key] = item
        if isShown
            || (!isTick
                && (item.decider, item.views, item.waiting, item.held, item.acknowledgement) != before)
        {
            written.insert(key)
        }
        // What waited to be shown of a thread was read before: it is news for nobody any more.
        if case .thread = key, waiting.timer != nil, item.timer == nil, !isShown || item.shown == nil,
            let event = waiting.nextJudged(on: nil)
        {
            forget(Matter(readBeforeShown: key, only: item.only), event, of: key)
        }
        if waiting.isEarly, !item.isEarly, !item.isAtWork, let event = waiting.nextJudged(on: nil) {
            forget(Matter(overBeforeShown: key, only: item.only), event, of: key)
        }
    }

    /// Somebody has seen an item, or it has ended: channels that waited for that are not notified of it.
    mutating func endWaits(of key: ItemKey, seenBy who: String? = nil) {
        if let who {
            withdrawHeld(of: key, seenBy: who)
            acknowledge(key, by: who)
        }
        var item = item(key, bot: OwnThread.bot)
        guard !item.waiting.isEmpty else { return }
        // Those whose wait was over have been notified, which is to be kept as well.
        if item.endWaits(at: now) { changes.append(.supersedeHeld(item: "\(key)", at: now)) }
        items[key] = item
        written.insert(key)
    }

    /// Notes that somebody knows that a job fails, for as long as its bot has that hold.
    private mutating func acknowledge(_ key: ItemKey, by who: String) {
        var item = item(key, bot: OwnThread.bot)
        guard case .job(let job) = item.decider, job.failures > 0,
            let limit = rules.restraint(of: job.bot).acknowledgedFor
        else { return }
        item.acknowledgement = Acknowledgement(by: who, at: now, until: now + limit)
        items[key] = item
        written.insert(key)
    }

    /// Wakes an item whose moment has come.
    mutating func wake(_ key: ItemKey) {
        let now = now
        switch key {
        case .thread(let bot, _):
            let policy = configuration.bot(bot).policy
            update(key, bot: "belfry") { $0.wake(at: now, policy: policy) }
        case .storm(let number): wakeStorm(number)
        case .question: break
        case .job:
            let (policies, routing) = (jobPolicies, configuration.routing)
            update(key, bot: "belfry") { $0.wake(at: now, policies: policies) }
            update(key, bot: "belfry") { $0.remind(at: now, policies: policies.reminding(by: routing)) }
        }
        release(key, at: now)
    }

    /// Shows what was kept back of an item until that moment.
    private mutating func release(_ key: ItemKey, at moment: Moment) {
        guard !item(key, bot: OwnThread.bot).held.isEmpty else { return }
        isRelease = true
        update(key, bot: OwnThread.bot) { $0.endHolds(at: moment) }
        isRelease = false
    }

    /// Shows what quiet hours and budgets keep back of these items, together in one digest.
    mutating func release(_ keys: [ItemKey]) {
        sendDigests(of: keys, at: .distantFuture)
        isReleasing = true
        for key in keys {
            for held in item(key, bot: OwnThread.bot).digestible(at: .distantFuture) {
                isRelease = true
                update(key, bot: OwnThread.bot) { $0.endHold(on: held.channel) }
                isRelease = false
            }
        }
        isReleasing = false
    }

    /// Lets the rules decide again about what they keep back of an item: they may have changed.
    mutating func judgeAgain(_ key: ItemKey) {
        release(key, at: .distantFuture)
    }

    // MARK: Channels

    /// Makes the channel show this version, or every one the item goes to that has no view of its own.
    private mutating func show(
        _ snapshot: ItemSnapshot, of item: inout KeptItem, on channel: String?
    ) {
        let matter = self.matter(of: snapshot, item, on: channel)
        let event = item.nextJudged(on: channel)
        for var verdict in tools.dispatcher.dispatch(matter, by: rules, at: now) {
            let name = verdict.channel
            guard channel != nil || item.views[name] == nil else { continue }
            switch verdict.action {
            case .send(var dispatch) where levels.contains(name):
                let owed = item.show(snapshot, on: name)
                if let owed, !dispatch.isSilent { dispatch.reason = owed.rawValue }
                verdict.action = .send(dispatch)
                let isSilent = dispatch.isSilent || isRelease && digested.contains(name)
                let rings = (snapshot.reason.rings || owed != nil) && !isSilent
                if rings { standing.ring(on: name, snapshot.bot, at: now, by: rules) }
                want(snapshot, of: item, on: name, rings: rings)
            case .hold(_, let until, let reason) where levels.contains(name):
                item.hold(snapshot, until: until, by: reason, on: name)
            case .send(let dispatch):
                if dispatch.takesPlace, let last = input.untried[item.key]?[name],
                    last.createdAt >= tools.since
                {
                    successors.append(
                        Successor(
                            change: changes.count, of: last.id, verdict: event.map { _ in verdicts.count }))
                }
                standing.ring(on: name, snapshot.bot, at: now, by: rules)
                insert(dispatch, snapshot, of: item, to: name)
            case .hold(let dispatch, let until, let reason):
                if reason == .othersFirst { item.wait([name: until], at: now) }
                var held = HeldMatter(
                    reason: reason, event: event, topic: matter.topic, line: line(of: notice(of: snapshot)),
                    relevance: HeldMatter.relevance(of: dispatch.type))
                held.deadline = matter.deadline
                insert(dispatch, snapshot, of: item, to: name, (held, until))
            case .suppress: break
            }
            if let event { verdicts.append(VerdictRecord(verdict, of: event, item: "\(item.key)", at: now)) }
        }
    }

    /// A version of an item as a matter, on one channel or on those the item goes to.
    private func matter(of snapshot: ItemSnapshot, _ item: KeptItem, on channel: String?) -> Matter {
        var matter = Matter(snapshot, only: channel.map { [$0] } ?? item.only)
        matter.topic.labels = item.labels
        (matter.shownOn, matter.owedOn) = (item.shownOn, Set(item.owed.keys))
        matter.failures = item.failures
        matter.alertAfter = item.alertAfter
        (matter.interruptions, matter.failingJobs) = (standing.interruptions, Array(standing.failing.values))
        matter.isTest = OwnThread.isTest(item.key)
        matter.isReminder = snapshot.reason == .acknowledgementExpired
        matter.isWanted = isReleasing || OwnThread.isDigest(item.key)
        return matter
    }

    private mutating func want(
        _ snapshot: ItemSnapshot, of item: KeptItem, on channel: String, rings: Bool
    ) {
        changes.append(
            .wantSurface(
                channel: channel, item: "\(item.key)", revision: Int64(snapshot.revision), ring: rings,
                at: now))
        changes.append(.dismissSurface(channel: channel, item: "\(item.key)", false))
    }

    /// Takes the item away from the channel, or from every one without a view of its own: a storm lists it.
    private mutating func list(_ snapshot: ItemSnapshot, of item: inout KeptItem, on channel: String?) {
        item.keep(nil, on: channel)
        for case .resolve(let revision) in item.stepAside(on: channel).map(\.action) {
            resolve(&item, revision: revision, on: channel)
        }
        guard let event = item.nextJudged(on: channel) else { return }
        var matter = self.matter(of: snapshot, item, on: channel)
        matter.isListed = true
        for verdict in tools.dispatcher.dispatch(matter, by: rules, at: now) {
            let isShown = verdicts.contains {
                $0.event == event && $0.channel == verdict.channel && $0.action == .send
            }
            guard !isShown, channel != nil || item.views[verdict.channel] == nil else { continue }
            verdicts.append(VerdictRecord(verdict, of: event, item: "\(item.key)", at: now))
        }
    }

    /// What waited to be shown is not, as the matter says.
    private mutating func forget(_ matter: Matter, _ event: Int64, of key: ItemKey) {
        verdicts += tools.dispatcher.dispatch(matter, by: rules, at: now).map {
            VerdictRecord($0, of: event, item: "\(key)", at: now)
        }
    }

    /// Takes the item away from the channel, or from every one that has no view of its own.
    private mutating func resolve(_ item: inout KeptItem, revision: Int, on channel: String?) {
        let shared = levels.filter { (item.only?.contains($0) ?? true) && item.views[$0] == nil }
        let names = channel.map { [$0] } ?? shared
        item.endHolds(on: names)
        for name in names {
            changes.append(
                .wantSurface(
                    channel: name, item: "\(item.key)", revision: Int64(revision), ring: false, at: now))
        }
    }

    /// An object of a webhook.
    func object(_ name: String, _ value: some Encodable) -> [JSON.Member] {
        do {
            return [JSON.Member(name, try JSON(encoding: value))]
        } catch {
            tools.logger.error(
                "an object of a webhook can't be written",
                metadata: ["object": "\(name)", "reason": "\(error)"])
            return []
        }
    }

    private mutating func insert(
        _ dispatch: Dispatch, _ snapshot: ItemSnapshot, of item: KeptItem, to channel: String,
        _ hold: (held: HeldMatter, until: Moment)? = nil
    ) {
        let shown = configuration.showsWholeMessages(channel) ? whole(snapshot) : snapshot
        let notice = notice(of: shown)
        let bulletin = Bulletin(
            Matter(snapshot, only: nil), at: snapshot.at, notice: notice,
            objects: object("item", WireItem(snapshot, pinned: pinned(of: snapshot))))
        guard let body = configuration.render(bulletin, for: channel) else { return }
        queue(
            OutboxRecord(
                id: tools.makeID(), channel: channel,
                cause: "item:\(item.key):\(item.nextRevision).\(snapshot.revision):\(channel)",
                type: dispatch.type, reason: dispatch.reason, createdAt: now, nextAt: now,
                item: "\(item.key)", body: body), hold, notice)
    }

    /// Puts an entry in the outbox, or has a rule hold it.
    ///
    /// `notice` is what a person reads of it.
    mutating func queue(
        _ entry: OutboxRecord, _ hold: (held: HeldMatter, until: Moment)?, _ notice: Notice
    ) {
        var entry = entry
        if let (held, until) = hold {
            (entry.state, entry.held, entry.nextAt) = (.held, held, until)
            if held.isJudgedAgain { standing.hold(on: entry.channel, until: until) }
        }
        changes.append(.insertOutbox(entry))
        changes += fallback(of: entry, notice)
    }

    /// The same with its messages as they were posted, as far as they are still there.
    private func whole(_ snapshot: ItemSnapshot) -> ItemSnapshot {
        guard case .messages(let count, var last) = snapshot.content else { return snapshot }
        for index in last.indices {
            guard let text = input.messages[last[index].id]?.message.text else { continue }
            last[index].text = text.withoutBlankEnd
        }
        var whole = snapshot
        whole.content = .messages(count: count, last: last)
        return whole
    }

    /// The ids of the messages it shows that a person pinned.
    private func pinned(of snapshot: ItemSnapshot) -> Set<String> {
        guard case .messages(_, let last) = snapshot.content else { return [] }
        return input.pinned.intersection(last.map(\.id))
    }
}

extension String {
    /// Without the blanks and line ends behind it.
    fileprivate var withoutBlankEnd: String {
        let end = unicodeScalars.lastIndex { !$0.properties.isWhitespace }
        return end.map { String(self[...$0]) } ?? ""
    }
}
