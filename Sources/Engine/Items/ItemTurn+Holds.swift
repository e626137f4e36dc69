import API
import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

// What rules hold in the outbox, for channels that are sent each thing once.

extension ItemTurn {
    /// Why what is held in the outbox is judged again.
    enum Release {
        /// The time of some of it has ended.
        case due
        /// A person wants to see it now.
        case wanted
        /// The rules may have changed.
        case rules
    }

    /// Judges what quiet hours and budgets hold once more, by the rules as they are now, and sends what they let through:
    /// people get one digest of it, programs each thing.
    mutating func releaseHeld(_ release: Release) {
        standing.forgetHolds()
        let kinds = Dictionary(rules.channels.map { ($0.name, $0) }) { first, _ in first }
        for (name, entries) in Dictionary(grouping: input.held, by: \.channel).sorted(by: { $0.key < $1.key })
        {
            // The route leads nowhere any more: as it was, for whoever renames a channel.
            let channel = kinds[name] ?? DispatchRules.Channel(name, isLevel: false)
            let free = entries.filter { isFree($0, on: channel, release) }
            send(free, to: channel)
        }
    }

    /// Whether an entry is let through; what goes on being held, or is not sent at all, is noted.
    private mutating func isFree(
        _ entry: OutboxRecord, on channel: DispatchRules.Channel, _ release: Release
    ) -> Bool {
        guard let held = entry.held, let until = entry.nextAt else { return true }
        let isOver = Standing.isOver(until, at: now)
        let review = held.review(
            type: entry.type, for: channel, by: rules, standing.interruptions,
            isWanted: release == .wanted, at: now)
        switch review {
        case .release where isOver || release != .due: return true
        // Its own moment decides.
        case _ where !isOver: standing.hold(on: channel.name, until: until)
        case .release: return true
        case .hold(let next, let reason):
            var again = held
            again.reason = reason
            var move = OutboxMove(of: entry, to: .held)
            (move.nextAt, move.held) = (next, again)
            changes.append(.moveOutbox(move))
            standing.hold(on: channel.name, until: next)
            record(.hold(Dispatch(entry), until: next, reason), again.stage, on: entry)
        case .suppress(let stage, let reason, let end, let rule):
            settle(entry, as: .suppressed)
            record(.suppress(reason), stage, on: entry, rule: rule, until: end)
        }
        return false
    }

    /// Sends what was held of a channel.
    private mutating func send(_ entries: [OutboxRecord], to channel: DispatchRules.Channel) {
        var newest: [String: OutboxRecord] = [:]
        for entry in entries where entry.type == EventType.messageGroup.rawValue {
            newest[entry.item ?? entry.id] = entry
        }
        // Of a thread the newest group says everything.
        let (old, left) = entries.split { entry in
            entry.type == EventType.messageGroup.rawValue && newest[entry.item ?? entry.id]?.id != entry.id
        }
        for entry in old { settle(entry, as: .superseded, listedIn: newest[entry.item ?? ""]?.id) }
        // Who is asked must find the question, and what answers it.
        let (single, listed) = left.split { channel.audience != .people || $0.type.hasPrefix("question.") }
        let digest = listed.count > 1 ? makeDigest(of: listed, for: channel.name) : nil
        for entry in listed {
            guard let digest else {
                free(entry)
                continue
            }
            settle(entry, as: .superseded, listedIn: digest.entry.id)
            let dispatch = Dispatch(type: entry.type, reason: DispatchReason.digest.rawValue)
            record(.send(dispatch), entry.held?.stage ?? .grouping, on: entry)
        }
        if let digest { queue(digest.entry, nil, digest.notice) }
        for entry in single { free(entry) }
        // A digest interrupts once, whatever it lists.
        let bots = listed.compactMap { $0.held?.topic.bot }
        for bot in Set(bots).sorted() { standing.ring(on: channel.name, bot, at: now, by: rules) }
        for bot in single.compactMap({ $0.held?.topic.bot }) {
            standing.ring(on: channel.name, bot, at: now, by: rules)
        }
    }

    /// Puts an entry in line as it is.
    private mutating func free(_ entry: OutboxRecord) {
        guard let move = OutboxMove(of: entry, { $0.retry(at: now) }) else { return }
        settledHolds.insert(entry.id)
        changes.append(.moveOutbox(move))
        record(.send(Dispatch(entry)), entry.held?.stage ?? .grouping, on: entry)
    }

    private mutating func settle(_ entry: OutboxRecord, as state: OutboxState, listedIn id: String? = nil) {
        settledHolds.insert(entry.id)
        var move = OutboxMove(of: entry, to: state)
        (move.settledAt, move.listedIn) = (now, id)
        changes.append(.moveOutbox(move))
    }

    /// Somebody has seen an item: what rules hold of it in the outbox is news for nobody any more.
    mutating func withdrawHeld(of key: ItemKey, seenBy who: String) {
        let name = "\(key)"
        for entry in input.held where entry.item == name && !settledHolds.contains(entry.id) {
            guard let held = entry.held else { continue }
            settle(entry, as: .superseded)
            record(.suppress(.seenElsewhere), held.stage, on: entry, rule: "seen by \(who)")
        }
    }

    private mutating func record(
        _ action: Verdict.Action, _ stage: StageName, on entry: OutboxRecord, rule: String? = nil,
        until: Moment? = nil
    ) {
        guard let event = entry.held?.event else { return }
        let verdict = Verdict(channel: entry.channel, stage: stage, action: action, rule: rule, until: until)
        let item = entry.cause.hasPrefix("item:") ? entry.item : nil
        verdicts.append(VerdictRecord(verdict, of: event, item: item, at: now))
    }

    /// One entry that lists them, the most relevant first; nil: the channel is no more.
    private func makeDigest(of entries: [OutboxRecord], for channel: String) -> (
        entry: OutboxRecord, notice: Notice
    )? {
        var (lines, counts): ([(key: String, line: String)], [String: Int]) = ([], [:])
        for entry in entries.sorted(by: OutboxRecord.isMoreRelevant) {
            let held = entry.held
            // The same news of one job is one line.
            let key = held?.topic.job.map { "\(entry.type) \($0)" } ?? entry.id
            if counts[key] == nil { lines.append((key, held?.line ?? entry.type)) }
            counts[key, default: 0] += 1
        }
        var shown = lines.prefix(Self.digestLines).map { key, line in
            let count = counts[key] ?? 1
            return count > 1 ? "\(line) (\(count) times)" : line
        }
        if lines.count > shown.count { shown.append("and \(lines.count - shown.count) more") }
        let key = OwnThread.digest(channel).key
        var message = Message(
            id: tools.makeID(), bot: OwnThread.bot, thread: OwnThread.digest(channel).name,
            text: shown.joined(separator: "\n"), at: now)
        message.title = "While it was quiet: \(entries.count) things"
        let version = ItemSnapshot(
            key: key, revision: 1, bot: OwnThread.bot, urgency: .normal, reason: .first, at: now,
            content: .messages(count: 1, last: [message]))
        let notice = notice(of: version)
        let bulletin = Bulletin(
            Matter(version, only: nil), at: now, notice: notice,
            objects: object("item", WireItem(version, pinned: [])))
        guard let body = configuration.render(bulletin, for: channel) else { return nil }
        let entry = OutboxRecord(
            id: message.id, channel: channel, cause: "digest:\(message.id):\(channel)",
            type: EventType.messageGroup.rawValue, reason: DispatchReason.digest.rawValue, createdAt: now,
            nextAt: now, item: "\(key)", body: body)
        return (entry, bulletin.notice)
    }
}

extension HeldMatter {
    /// The stage whose rule holds it.
    fileprivate var stage: StageName {
        switch reason {
        case .quietHours: .quietHours
        case .overBudget: .budget
        default: .escalation
        }
    }
}

extension Dispatch {
    /// What an entry is sent as.
    fileprivate init(_ entry: OutboxRecord) { self.init(type: entry.type, reason: entry.reason) }
}

extension OutboxMove {
    /// A step of an entry that was never tried, by a rule.
    fileprivate init(of entry: OutboxRecord, to state: OutboxState) {
        self.init(
            id: entry.id, from: entry.state, attempts: entry.attempts, to: state, nextAttempts: entry.attempts
        )
    }
}

extension OutboxRecord {
    /// By urgency, then questions, failures and messages, then the newest.
    static func isMoreRelevant(_ one: OutboxRecord, _ other: OutboxRecord) -> Bool {
        (one.held?.topic.urgency ?? .low, one.held?.relevance ?? 0, one.createdAt)
            > (other.held?.topic.urgency ?? .low, other.held?.relevance ?? 0, other.createdAt)
    }
}

extension Array {
    /// Those for which it holds, and the others, both in their order.
    fileprivate func split(_ holds: (Element) -> Bool) -> (yes: [Element], no: [Element]) {
        (filter(holds), filter { !holds($0) })
    }
}

// What was kept back for a while, in one notice.

/// What is kept back of an item from a channel.
struct HeldBack: Sendable {
    let channel: String
    let version: ItemSnapshot

    /// The most relevant first: by urgency, then questions, failures and messages, then the newest.
    static func isBefore(_ one: HeldBack, _ other: HeldBack) -> Bool {
        (one.version.urgency, one.version.content.relevance, one.version.at)
            > (other.version.urgency, other.version.content.relevance, other.version.at)
    }
}

extension KeptItem {
    /// What quiet hours or a budget keep back until that moment.
    func digestible(at now: Moment) -> [HeldBack] {
        held.compactMap { channel, until in
            guard until <= now, let reason = heldBy[channel], [.quietHours, .overBudget].contains(reason),
                let version = version(on: channel), !version.isDismissed
            else { return nil }
            return HeldBack(channel: channel, version: version)
        }
    }
}

extension ItemTurn {
    static let digestLines = 10

    /// Sums up in one notice for each channel what these items show there now, where it is more than one thing.
    ///
    /// The items themselves come without a sound then.
    mutating func sendDigests(of keys: [ItemKey], at moment: Moment) {
        var byChannel: [String: [HeldBack]] = [:]
        for key in keys {
            for held in item(key, bot: OwnThread.bot).digestible(at: moment) {
                byChannel[held.channel, default: []].append(held)
            }
        }
        for (channel, held) in byChannel.sorted(by: { $0.key < $1.key }) where held.count > 1 {
            digested.insert(channel)
            sendDigest(of: held.sorted(by: HeldBack.isBefore), on: channel)
        }
    }

    private mutating func sendDigest(of held: [HeldBack], on channel: String) {
        let shown = held.prefix(Self.digestLines).map { line(of: notice(of: $0.version)) }
        let rest = held.count - shown.count
        let lines = shown + (rest > 0 ? ["and \(rest) more"] : [])
        var message = Message(
            id: tools.makeID(), bot: OwnThread.bot, thread: OwnThread.digest(channel).name,
            text: lines.joined(separator: "\n"), at: now)
        message.title = "While it was quiet: \(held.count) things"
        let (now, policy) = (now, ThreadPolicy(wait: .zero, previewCharacters: 500))
        update(message.itemKey, bot: OwnThread.bot) { item in
            item.only = [channel]
            return item.receive(message, at: now, policy: policy)
        }
    }

    /// `ops: Disk is full`, `backup failed: no space left`: of messages the newest, of a job or a question what comes first.
    func line(of notice: Notice) -> String {
        let lines = notice.body.split(separator: "\n")
        let line =
            switch notice.item {
            case .job, .question: lines.first
            case .thread, .storm: lines.last
            }
        return Preview.cut(line.map { "\(notice.title): \($0)" } ?? notice.title, to: 100)
    }
}

extension ItemSnapshot.Content {
    /// How much it matters among things of the same urgency.
    var relevance: Int {
        switch self {
        case .question: 3
        case .storm: 2
        case .job(let report): report.fact.state.isFailure ? 2 : 0
        case .messages: 1
        }
    }
}
