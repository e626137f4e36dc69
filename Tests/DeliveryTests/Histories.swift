import Grouping
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Delivery

/// One random life of two bots, their threads and a job, on one channel: dispatched as the daemon does, by hand.
private struct History {
    static let start = Moment(seconds: 1_700_000_000)
    static let bots = ["ops", "news"]

    var random: SeededGenerator
    let rules: DispatchRules
    let channel: DispatchRules.Channel
    let policy = ThreadPolicy(ringAgainAfter: .seconds(300))
    private let dispatcher = Dispatcher()

    private var now = Self.start
    private var threads: [ItemKey: ThreadItem] = [:]
    /// The unread messages of each thread, in their order.
    private var unread: [ItemKey: [String]] = [:]
    /// What is on the channel: how much of each thread, and the newest of it.
    private var onChannel: [ItemKey: (count: Int, last: [String])] = [:]
    private var held: [ItemKey: (until: Moment, version: ItemSnapshot, owes: Bool)] = [:]
    /// The threads of which something was not sent, as a person wanted.
    private var silenced: Set<ItemKey> = []
    private var interruptions = Interruptions()
    private var rings: [String: [(at: Moment, isCritical: Bool)]] = [:]
    private var messages = 0
    private var failures = 0
    private var informed: Set<String> = []
    private(set) var faults: [String] = []

    init(seed: UInt64, channel: DispatchRules.Channel) throws {
        random = SeededGenerator(seed: seed)
        self.channel = channel
        var rules = DispatchRules(
            routing: Routing(routes: [Route(when: [.message, .failed, .recovered], to: [channel.name])]),
            channels: [channel])
        for bot in Self.bots {
            var restraint = Restraint()
            if random.below(2) == 0 { restraint.quiet = try DailyHours(["22:00-07:00"], in: .utc) }
            if random.below(2) == 0 { restraint.budget = 1 + random.below(4) }
            restraint.alertAfter = 1 + random.below(2)
            rules.restraints[bot] = restraint
        }
        if random.below(2) == 0 {
            let from = Self.start + .seconds(Int64(random.below(86_400)))
            rules.silences = [
                try Silence(
                    id: "s", matchers: [Matcher("bot=ops")], from: from,
                    until: from + .seconds(Int64(600 + random.below(20_000))), by: "me")
            ]
        }
        self.rules = rules
    }

    mutating func live(steps: Int) {
        for _ in 0..<steps {
            switch random.below(10) {
            case 0...4: say()
            case 5: read(Self.key(random.below(4)))
            case 6: end(isSuccess: false)
            case 7: end(isSuccess: true)
            default: pass(.seconds(Int64(1 + random.below(3000))))
            }
            pass(.milliseconds(Int64(random.below(2000))))
        }
        // Everything that is kept back has an end.
        for _ in 0..<96 { pass(.seconds(3600)) }
        judgeTheEnd()
    }

    private static func key(_ number: Int) -> ItemKey {
        .thread(bot: bots[number % 2], thread: number < 2 ? "main" : "other")
    }

    // MARK: What happens

    private mutating func say() {
        let key = Self.key(random.below(4))
        guard case .thread(let bot, let thread) = key else { return }
        messages += 1
        let urgency: Urgency = [.low, .normal, .normal, .normal, .critical][random.below(5)]
        let message = Message(
            id: "m\(messages)", bot: bot, thread: thread, text: "text \(messages)", at: now, urgency: urgency)
        unread[key, default: []].append(message.id)
        var item = threads[key] ?? ThreadItem(bot: bot, thread: thread)
        let actions = item.receive(message, at: now, policy: policy)
        threads[key] = item
        apply(actions, key)
    }

    private mutating func read(_ key: ItemKey) {
        guard var item = threads[key] else { return }
        let actions = item.read(at: now)
        threads[key] = item
        (unread[key], held[key], onChannel[key]) = ([], nil, nil)
        apply(actions, key)
    }

    private mutating func end(isSuccess: Bool) {
        let run = Fact.Run(job: "backup", id: "r", bot: "ops")
        guard isSuccess else {
            failures += 1
            var matter = Matter(.runFailed(Fact.End(run, reason: .exitCode)))
            (matter.failures, matter.informed, matter.interruptions) = (failures, informed, interruptions)
            switch verdict(on: matter)?.action {
            case .send(let dispatch):
                informed.insert(channel.name)
                if !dispatch.isSilent { ring("ops", isCritical: true) }
            case .hold: informed.insert(channel.name)
            case .suppress, nil: break
            }
            return
        }
        guard failures > 0 else { return }
        var matter = Matter(
            .runRecovered(
                Fact.Recovery(run, outage: .seconds(60), channels: informed.sorted(), failures: failures)))
        matter.interruptions = interruptions
        let verdict = verdict(on: matter)
        if case .suppress = verdict?.action {
        } else if informed.isEmpty {
            faults.append("a recovery without its failure")
        }
        if case .send(let dispatch) = verdict?.action, !dispatch.isSilent { ring("ops", isCritical: false) }
        (failures, informed) = (0, [])
    }

    private mutating func pass(_ duration: Duration) {
        let end = now + duration
        while let next = nextMoment, next <= end {
            now = max(now, next)
            for key in threads.keys.sorted(by: { "\($0)" < "\($1)" }) {
                if let due = threads[key]?.flushAt, due <= now, var item = threads[key] {
                    let actions = item.wake(at: now, policy: policy)
                    threads[key] = item
                    apply(actions, key)
                }
                if let kept = held[key], kept.until <= now {
                    held[key] = nil
                    show(kept.version, owes: kept.owes)
                }
            }
        }
        now = end
    }

    private var nextMoment: Moment? {
        (threads.values.compactMap(\.flushAt) + held.values.map(\.until)).min()
    }

    // MARK: What happens to it

    private mutating func apply(_ actions: [ItemAction], _ key: ItemKey) {
        for action in actions {
            switch action {
            case .flush(let version): show(version, owes: held[key]?.owes ?? false)
            case .resolve: (onChannel[key], held[key]) = (nil, nil)
            case .wakeAt: continue
            }
        }
    }

    private mutating func verdict(on matter: Matter) -> Verdict? {
        let verdicts = dispatcher.dispatch(matter, by: rules, at: now)
        if verdicts.count != 1 { faults.append("\(verdicts.count) verdicts on \(matter.type)") }
        return verdicts.first
    }

    private mutating func show(_ version: ItemSnapshot, owes: Bool) {
        guard case .messages(let count, let last) = version.content else { return }
        var matter = Matter(version, only: nil)
        matter.interruptions = interruptions
        if onChannel[version.key] != nil { matter.shownOn = [channel.name] }
        if owes { matter.owedOn = [channel.name] }
        switch verdict(on: matter)?.action {
        case .send(let dispatch):
            held[version.key] = nil
            onChannel[version.key] = (count, last.map(\.id))
            if !dispatch.isSilent, version.reason.rings || owes {
                ring(version.bot, isCritical: version.urgency == .critical)
            }
        case .hold(_, let until, _):
            if until <= now { faults.append("held until the past") }
            held[version.key] = (until, version, owes || version.reason.rings)
        // What is sent once is not sent while it is silenced: that is its fate.
        case .suppress: silenced.insert(version.key)
        case nil: break
        }
    }

    private mutating func ring(_ bot: String, isCritical: Bool) {
        guard let budget = rules.restraints[bot]?.budget else { return }
        let recent = rings[bot, default: []].filter { $0.at > now - .seconds(3600) }
        if !isCritical, recent.count >= budget, channel.audience != .pagers {
            faults.append("\(bot) rang \(recent.count + 1) times within an hour, its budget is \(budget)")
        }
        rings[bot, default: []].append((now, isCritical))
        interruptions.note(on: channel.name, bot, at: now, budget: budget)
    }

    private mutating func judgeTheEnd() {
        if !held.isEmpty { faults.append("\(held.count) items are still held") }
        if channel.isLevel, !silenced.isEmpty {
            faults.append("what is shown in place is held, not silenced")
        }
        for (key, ids) in unread where !ids.isEmpty && !silenced.contains(key) {
            guard let shown = onChannel[key] else {
                faults.append("\(key) with \(ids.count) messages was never shown")
                continue
            }
            if shown.count != ids.count {
                faults.append("\(key): \(shown.count) of \(ids.count) were counted")
            }
            if shown.last != Array(ids.suffix(3)) {
                faults.append("\(key): \(shown.last) instead of the newest")
            }
        }
    }
}

@Suite struct `a thousand random histories` {
    @Test(arguments: [
        DispatchRules.Channel("desk", isLevel: true), .init("hook", isLevel: false),
        .init("mail", isLevel: false, audience: .people), .init("pager", isLevel: false, audience: .pagers),
    ])
    func
        `lose no message, keep every budget, give each thing one verdict, and no recovery without its failure`(
            channel: DispatchRules.Channel
        ) throws
    {
        for seed in 0..<1000 as Range<UInt64> {
            var history = try History(seed: seed, channel: channel)
            history.live(steps: 40)
            try #require(history.faults.isEmpty, "seed \(seed) on \(channel.name): \(history.faults)")
        }
    }
}
