package import Delivery
import Grouping
package import Ledger
package import Logging
package import Timeline
import Tracking

/// Turns events into what people see: items, and for each channel the surface or the outbox entry that follows.
///
/// Decides inside the very transactions that append events, so that an event and what is made of it cost one sync,
/// and no event is handled twice or not at all. The keeper itself does what no event asks for: the start, timers,
/// and the progress of runs.
package actor ItemKeeper: Keeper {
    /// The cursor's name.
    package static let consumer = ItemCache.consumer

    let ledger: any Ledger
    var loop: KeeperLoop
    private let board: LiveBoard
    private let cache: ItemCache
    private var seenOnBoard: UInt64 = 0
    private var boardLookedAt: Duration?
    private var hasNewsOnBoard = false
    /// Whether a job may have been removed since the storms were last compared with the jobs.
    private let newsOfJobs = Flag(true)
    private let activeConfiguration: ActiveConfiguration
    /// Whether the rules may have changed since what they keep back was last judged.
    private let newsOfRules = Flag(true)
    private var judgedRules: DispatchRules?
    private var clock: any WallClock { loop.clock }

    package init(
        ledger: any Ledger, clock: any WallClock, board: LiveBoard, activeConfiguration: ActiveConfiguration,
        dispatcher: Dispatcher = Dispatcher(), makeID: @escaping @Sendable () -> String, logger: Logger
    ) {
        self.ledger = ledger
        self.board = board
        self.activeConfiguration = activeConfiguration
        loop = KeeperLoop(clock: clock, logger: logger, complaint: "items can't be recorded")
        self.cache = ItemCache(
            tools: ItemTurn.Tools(
                dispatcher: dispatcher, makeID: makeID, since: clock.now, logger: logger),
            activeConfiguration: activeConfiguration, clock: clock, bell: loop.bell)
    }

    // MARK: The loop

    /// Follows the events until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws {
        ledger.follow(cache)
        defer { ledger.unfollow(cache) }
        try await follow()
    }

    func wakers() -> [Waker] {
        let (bell, newsOfJobs, newsOfRules) = (loop.bell, newsOfJobs, newsOfRules)
        // Seen where it is committed: no task is woken for each commit that touches something else.
        let jobs = ledger.observeCommits { stations in
            guard stations.contains(.jobs) else { return }
            newsOfJobs.set(true)
            bell.ring()
        }
        return [
            Waker { [taps = activeConfiguration.taps()] bell in
                for await _ in taps {
                    newsOfRules.set(true)
                    bell.ring()
                }
            },
            Waker { [weak self, taps = board.taps()] _ in for await _ in taps { await self?.noteBoard() } },
            .observing(jobs),
        ]
    }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        if cache.isBlank { try await load() }
        try await dropRemovedJobs()
        try await judgeAgain()
        try await releaseOnRequest()
        try await followBoard()
        let now = clock.now
        if cache.isDue(at: now) { try await run(.wake(cache.due(at: now))) }
        if cache.isReleaseDue(at: now) { try await run(.releaseHeld) }
        return .earliest(cache.nextFlush, cache.nextRelease, nextBoardLook())
    }

    /// Reads what happened before this daemon started, or while turns were refused.
    private func load() async throws(LedgerError) {
        newsOfJobs.set(true)
        cache.restore(try await Standing(ledger))
        var last = try await run(.load)
        var reached: Int64 = 0
        while cache.cursor < last, cache.cursor > reached {
            reached = cache.cursor
            last = try await ledger.commit(cache).lastEvent
        }
    }

    @discardableResult
    private func run(_ kind: ItemErrand.Kind) async throws(LedgerError) -> Int64 {
        try await ledger.commit(ItemErrand(kind: kind, cache: cache)).lastEvent
    }

    // MARK: Changed rules

    /// Shows what new rules no longer keep back.
    private func judgeAgain() async throws(LedgerError) {
        guard newsOfRules.isSet else { return }
        newsOfRules.set(false)
        let rules = activeConfiguration.configuration.rules
        guard rules != judgedRules else { return }
        do throws(LedgerError) {
            try await run(.judgeAgain)
            judgedRules = rules
        } catch {
            newsOfRules.set(true)
            throw error
        }
    }

    /// Shows what quiet hours and budgets keep back, when a person asked for it.
    private func releaseOnRequest() async throws(LedgerError) {
        guard activeConfiguration.isReleaseAsked.isSet else { return }
        activeConfiguration.isReleaseAsked.set(false)
        do throws(LedgerError) {
            try await run(.release)
        } catch {
            activeConfiguration.isReleaseAsked.set(true)
            throw error
        }
    }

    // MARK: Removed jobs

    /// Takes the jobs that no longer exist out of their storms: these would never end.
    ///
    /// A command that was never stored as a job has no revision, and stays.
    private func dropRemovedJobs() async throws(LedgerError) {
        guard newsOfJobs.isSet else { return }
        newsOfJobs.set(false)
        do throws(LedgerError) {
            let listed = cache.stormJobs
            guard !listed.isEmpty else { return }
            let stored = Set(try await ledger.jobs(named: listed).map(\.name))
            var removed: [String] = []
            for job in listed.subtracting(stored).sorted() where try await ledger.lastRevision(of: job) > 0 {
                removed.append(job)
            }
            if !removed.isEmpty { try await run(.leave(removed)) }
        } catch {
            newsOfJobs.set(true)
            throw error
        }
    }

    // MARK: Progress

    private func noteBoard() {
        // Looked at once a second: a job that reports a thousand times must not wake this loop as often.
        guard !hasNewsOnBoard else { return }
        hasNewsOnBoard = true
        loop.bell.ring()
    }

    private func nextBoardLook() -> Moment? {
        guard hasNewsOnBoard else { return nil }
        let reading = ClockReading(of: clock)
        let waited = boardLookedAt.map { reading.sinceBoot - $0 } ?? .seconds(1)
        return reading.now + max(.zero, .seconds(1) - waited)
    }

    private func followBoard() async throws(LedgerError) {
        guard hasNewsOnBoard else { return }
        if let boardLookedAt, clock.sinceBoot - boardLookedAt < .seconds(1) { return }
        hasNewsOnBoard = false
        boardLookedAt = clock.sinceBoot
        let (version, states, _) = await board.changes(after: seenOnBoard)
        seenOnBoard = version
        let shown = states.filter { $0.state == .running && $0.hasNews }
        if !shown.isEmpty { try await run(.report(shown)) }
    }
}

extension LiveState {
    /// Whether it shows more than that the run is at work.
    fileprivate var hasNews: Bool {
        progress != nil || usual != nil || !(phase ?? "").isEmpty || !(message ?? "").isEmpty
    }
}

/// A configuration with what the turns of the items decide by, derived once: turns come with every event.
final class ActiveRules: Sendable {
    let configuration: EngineConfiguration
    /// What dispatch decides by.
    let dispatch: DispatchRules
    /// Whether a rule asks for the labels of jobs.
    let needsLabels: Bool
    /// The channels that edit in place.
    let levels: [String]
    /// What those want to hear of jobs, all together.
    let jobPolicy: JobPolicy
    /// The same, and each by itself.
    let jobPolicies: ChannelInterests
    /// Where the digests of those are written.
    let digests: [ItemKey]
    /// The channels that get groups of messages as outbox entries.
    let groupChannels: [String]
    /// Whether some channel gets the starts of runs as outbox entries.
    let sendsStarts: Bool
    /// Whether some channel gets the failures of runs as outbox entries.
    let sendsFailures: Bool

    init(_ configuration: EngineConfiguration) {
        self.configuration = configuration
        dispatch = configuration.rules
        needsLabels = dispatch.needsLabels
        let levels = dispatch.channels.filter(\.isLevel).map(\.name)
        let routing = configuration.routing
        func entryChannels(for type: EventType) -> [String] {
            routing.channels(for: type.rawValue).filter { !levels.contains($0) }
        }
        self.levels = levels
        jobPolicy = JobPolicy(hears: routing.hears(Set(levels)))
        jobPolicies = ChannelInterests(routing, levels: levels)
        digests = levels.map { OwnThread.digest($0).key }
        groupChannels = entryChannels(for: .messageGroup)
        sendsStarts = !entryChannels(for: .runStarted).isEmpty
        sendsFailures = !entryChannels(for: .runFailed).isEmpty
    }

    /// How a bot notifies; one that nobody described has the defaults.
    func bot(_ name: String) -> BotProfile { configuration.bot(name) }
}

/// What rules remember from one matter to the next: how often bots interrupted, and which jobs fail that explain others.
///
/// Kept in the ledger as small named values, each written by the turn that changes it.
struct Standing: Hashable, Sendable {
    private static let interruptionsName = "interruptions"
    private static let failingName = "failingCauses"
    private static let heldName = "heldUntil"

    private(set) var interruptions = Interruptions()
    /// The jobs that fail now and are named by an inhibition, by name.
    private(set) var failing: [String: Topic] = [:]
    /// When what is held in the outbox of a channel is judged again, by the channel's name.
    private(set) var heldUntil: [String: Moment] = [:]
    /// Nothing is held for longer: a moment further away was left behind by a clock that was set.
    private static let longestHold = Duration.seconds(8 * 86_400)

    init() {}

    /// What the ledger holds; what can't be read begins again.
    init(_ ledger: any Ledger) async throws(LedgerError) {
        if let text = try await ledger.fact(named: Self.interruptionsName) {
            interruptions = (try? JSON.decode(from: text.utf8)) ?? interruptions
        }
        if let text = try await ledger.fact(named: Self.failingName) {
            failing = (try? JSON.decode(from: text.utf8)) ?? failing
        }
        if let text = try await ledger.fact(named: Self.heldName) {
            heldUntil = (try? JSON.decode(from: text.utf8)) ?? heldUntil
        }
    }

    /// When the first that is held is judged again; nil: nothing is held.
    var nextRelease: Moment? { heldUntil.values.min() }

    /// Whether something is to be judged again now.
    func isReleaseDue(at now: Moment) -> Bool {
        heldUntil.values.contains { Self.isOver($0, at: now) }
    }

    /// Whether a hold until `moment` has ended, or was left behind by a clock that was set.
    static func isOver(_ moment: Moment?, at now: Moment) -> Bool {
        guard let moment else { return true }
        return moment <= now || moment > now + longestHold
    }

    /// Something is held in the outbox of a channel.
    mutating func hold(on channel: String, until moment: Moment) {
        heldUntil[channel] = min(heldUntil[channel] ?? moment, moment)
    }

    /// All that is held now was looked at.
    mutating func forgetHolds() { heldUntil = [:] }

    /// A bot rang on a channel.
    mutating func ring(on channel: String, _ bot: String, at now: Moment, by rules: DispatchRules) {
        guard let budget = rules.restraint(of: bot).budget else { return }
        interruptions.note(on: channel, bot, at: now, budget: budget)
    }

    /// A run of a job ended.
    mutating func note(_ topic: Topic, isFailing: Bool, by rules: DispatchRules) {
        guard let job = topic.job else { return }
        let isCause = isFailing && rules.inhibitions.contains { $0.isCause(topic) }
        failing[job] = isCause ? topic : nil
    }

    /// What of it differs from `before`, to be stored.
    func changes(since before: Standing) throws -> [Change] {
        var changes: [Change] = []
        if interruptions != before.interruptions {
            let text = String(decoding: try JSON.encode(interruptions), as: UTF8.self)
            changes.append(.setFact(name: Self.interruptionsName, value: text))
        }
        if failing != before.failing {
            let text = String(decoding: try JSON.encode(failing), as: UTF8.self)
            changes.append(.setFact(name: Self.failingName, value: text))
        }
        if heldUntil != before.heldUntil {
            let text = String(decoding: try JSON.encode(heldUntil), as: UTF8.self)
            changes.append(.setFact(name: Self.heldName, value: text))
        }
        return changes
    }
}
