import Delivery
import Grouping
import Ledger
import Logging
import Timeline

/// Brings what channels that edit in place show to what they should, each channel by itself.
package struct SurfaceKeeper: Sendable {
    private let tools: ChannelTools

    package init(_ tools: ChannelTools) {
        self.tools = tools
    }

    /// Serves every channel of the configuration, and follows each reload, until cancelled.
    package func run() async throws {
        try await tools.serve { [tools] channel in
            (channel as? any LevelChannel).map { SurfaceLine(channel: $0, tools).run }
        }
    }
}

/// The surfaces of one channel: a level, not a queue. Whatever was missed, only the newest version is shown.
actor SurfaceLine: Keeper {
    let channel: any LevelChannel
    let ledger: any Ledger
    var loop: KeeperLoop
    let tools: ChannelTools
    private let signals = Inbox<SurfaceSignal>()
    private var keeper = CircuitKeeper()
    private var isRecalled = false
    var farEnd = FarEnd()
    /// Whether something may have been read or said since the badge was shown.
    private var isBadgeStale = true
    /// Whether this machine has a new way out that nothing was tried by yet.
    private let hasNetworkReturned = Flag(false)
    /// Nothing counts as late before: the channel may work after all.
    private var graceUntil: Moment
    /// When the items of runs at work last changed, where the channel wants a pause between two versions.
    private var changed: [String: Moment] = [:]
    /// What the far end reported and could not be recorded yet.
    private var owed: [SurfaceSignal] = []
    var clock: any WallClock { loop.clock }
    var logger: Logger { loop.logger }

    init(channel: any LevelChannel, _ tools: ChannelTools) {
        self.channel = channel
        self.tools = tools
        ledger = tools.ledger
        graceUntil = tools.clock.now + FallbackKeeper.grace
        loop = tools.makeLoop(for: channel, complaint: "surfaces can't be recorded")
    }

    func run() async throws { try await follow() }

    func wakers() -> [Waker] {
        [
            Waker { [channel] _ in try await channel.run() },
            .each(of: channel.signals, into: signals),
            commitsThatTouch(.outbox),
            .each(tools.networkReturns.values(), setting: hasNetworkReturned),
        ]
    }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        if !isRecalled { try await recall() }
        owed += signals.takeAll()
        while let signal = owed.first {
            try await apply(signal)
            owed.removeFirst()
        }
        if hasNetworkReturned.isSet { tryAfterReturn() }
        guard farEnd.generation != nil else { return .whenRung }
        let next = try await bringUp()
        if isBadgeStale, channel.seesPresence {
            await channel.showBadge(try await ledger.unread().values.reduce(0, +))
            isBadgeStale = false
        }
        return .earliest(next)
    }

    /// Where a service fails and this machine has a new way out, nothing of it rests any more.
    private func tryAfterReturn() {
        hasNetworkReturned.set(false)
        guard !channel.seesPresence, keeper.mayReturn else { return }
        farEnd.rests = SurfaceRests()
        keeper.probe(at: clock.now)
    }

    var changes: SurfaceChanges { SurfaceChanges(channel: channel.name, now: clock.now) }

    // MARK: What the far end reports

    private func apply(_ signal: SurfaceSignal) async throws(LedgerError) {
        switch signal {
        case .available(let newGeneration): try await begin(newGeneration)
        case .unavailable(let reason): isAway(reason)
        case .absent(let reason): isAway(reason, isAbsent: true)
        case .closed(let remote, let reason, let revision):
            guard let surface = try await surface(remote) else { return }
            // What was closed made room for what is on the screen by now.
            if let revision, revision < surface.shown { return }
            try await closed(surface, remote, reason)
        case .action(let remote, let key): try await press(key, of: remote)
        case .reply(let remote, let text): try await reply(text, to: remote)
        case .answered(let item, let revision, let result):
            try await answered(item, Int64(revision), result)
        }
    }

    /// Its ids stay: a server that only hung still knows them, and another one reports its own.
    private func isAway(_ reason: String, isAbsent: Bool = false) {
        farEnd.leave()
        let isNew = tools.board.note(
            .away, of: channel.name, error: reason, isAbsent: isAbsent, at: clock.now)
        if isNew {
            logger.notice("channel unavailable; its notices wait", metadata: ["reason": "\(reason)"])
        }
    }

    /// Takes up the circuit where the last daemon left it.
    private func recall() async throws(LedgerError) {
        let record = try await ledger.channel(named: channel.name)
        keeper = CircuitKeeper(record, of: channel.identity, at: clock.now)
        // Another address or secret: nothing is known of who is there now.
        if let identity = record?.identity, identity != channel.identity { tools.board.forget(channel.name) }
        isRecalled = true
    }

    /// Turns to the life of the far end that begins or goes on.
    private func begin(_ newGeneration: String) async throws(LedgerError) {
        if farEnd.isAnother(newGeneration) {
            if try await hasStale(newGeneration) {
                try await commit([.forgetRemotes(channel: channel.name)])
            }
            // Another server, or another version of it, may take what this one refused.
            let refused = try await ledger.refusedSurfaces(channel: channel.name)
            if !refused.isEmpty { try await commit(refused.map(changes.retried)) }
            keeper.probe(at: clock.now)
        }
        farEnd.begin(newGeneration)
        if keeper.isOpen, let (state, error) = keeper.knownTrouble {
            tools.board.note(state, of: channel.name, error: error, at: clock.now)
        } else if channel.seesPresence {
            tools.board.note(.working, of: channel.name, error: nil, at: clock.now)
        }
    }

    private func hasStale(_ generation: String) async throws(LedgerError) -> Bool {
        try await ledger.surfaces(channel: channel.name, all: true)
            .contains { $0.remote.map { $0.generation != generation } ?? false }
    }

    private func closed(
        _ surface: SurfaceRecord, _ remote: RemoteID, _ reason: CloseReason
    ) async throws(LedgerError) {
        switch reason {
        case .dismissed where !farEnd.pressed.contains(remote): try await commit(changes.dismissed(surface))
        case .dismissed, .expired, .undefined: try await commit([changes.gone(surface)])
        case .closedByUs: break
        }
        farEnd.pressed.remove(remote)
    }

    /// What `show` no longer waited for was answered after all.
    private func answered(
        _ item: ItemKey, _ revision: Int64, _ result: Result<RemoteID, DeliveryError>
    ) async throws(LedgerError) {
        guard let surface = try await ledger.surface(channel: channel.name, item: "\(item)") else { return }
        let revision = min(revision, surface.wanted)
        switch result {
        case .success(let remote):
            guard revision >= surface.shown else {
                if remote != surface.remote { await channel.close(remote) }
                return
            }
            farEnd.rests.end(surface.item)
            try await settle(surface, at: revision, remote: remote)
        case .failure(let error):
            guard revision > surface.shown else { return }
            _ = try await failed(surface, at: revision, error)
        }
    }

    func surface(_ remote: RemoteID) async throws(LedgerError) -> SurfaceRecord? {
        try await ledger.surface(channel: channel.name, remote: remote)
    }

    func commit(_ changes: [Change]) async throws(LedgerError) {
        isBadgeStale = true
        _ = try await ledger.commit(changes)
    }

    /// Commits what an answer of the far end comes to, together with what it says of the channel.
    private func commit(
        _ changes: [Change], after result: Result<Receipt, DeliveryError>
    ) async throws(LedgerError) {
        let reading = ClockReading(of: clock)
        var next = keeper
        var changes = changes + next.record(result, of: channel.name, at: reading).events
        if let record = next.recordToKeep(of: channel.name, channel.identity, at: reading.now) {
            changes.append(.putChannel(record))
        }
        do throws(LedgerError) {
            if !changes.isEmpty { try await commit(changes) }
        } catch {
            keeper.forgetProbe(at: reading.now)
            throw error
        }
        next.isKept()
        keeper = next
        tools.note(keeper, after: result, of: channel.name, at: reading.now, logger)
    }

    // MARK: What it should show

    /// Shows what differs.
    ///
    /// Returns when to try again what was refused for now.
    private func bringUp() async throws(LedgerError) -> Moment? {
        var retryAt: Moment?
        // A storm replaces one of its jobs in place, which must not be closed before.
        let surfaces = try await ledger.surfaces(channel: channel.name, all: false)
        let storms = surfaces.filter(\.isOfStorm)
        for behind in storms.isEmpty ? surfaces : storms + surfaces.filter({ !$0.isOfStorm }) {
            guard farEnd.generation != nil else { return nil }
            if let late = try await fallBack(behind) { retryAt = min(retryAt ?? late, late) }
            if let rested = farEnd.rests.end(of: behind.item, at: clock.now) {
                retryAt = min(retryAt ?? rested, rested)
                continue
            }
            do {
                if let paused = try await bringUp(behind.item) { retryAt = min(retryAt ?? paused, paused) }
            } catch let error as DeliveryError {
                // It reports itself when somebody is there again.
                if case .unreachable = error { return nil }
                if let moment = try await failed(behind, at: behind.wanted, error) {
                    retryAt = min(retryAt ?? moment, moment)
                }
                // Who says "too many" is left alone; else one that is refused holds up no other.
                if error.reason == .throttled { return retryAt }
            } catch let error as LedgerError {
                throw error
            } catch {
                return retryAt
            }
        }
        return retryAt
    }

    /// Notes why a revision was not shown.
    ///
    /// Returns when to try it again; `nil` where that is not up to time.
    private func failed(
        _ surface: SurfaceRecord, at revision: Int64, _ error: DeliveryError
    ) async throws(LedgerError) -> Moment? {
        switch error {
        case .unreachable:
            keeper.forgetProbe(at: clock.now)
            return nil
        case .retry(_, let after, _, _):
            let moment = farEnd.rests.begin(surface.item, asked: after, at: clock.now)
            try await commit([], after: .failure(error))
            return moment
        case .giveUp:
            logger.warning(
                "notice rejected permanently",
                metadata: ["item": "\(surface.item)", "reason": "\(error.sentence)"])
            _ = try await fallBack(surface, after: error)
            let refusal = changes.refused(surface, revision: revision, error)
            guard surface.refused == 0 else {
                // It speaks against the item, which spoke against the channel once already.
                keeper.forgetProbe(at: clock.now)
                try await commit(refusal)
                return nil
            }
            try await commit(refusal, after: .failure(error))
            return nil
        }
    }

    /// Sends elsewhere, once, what rings and was refused for good, or is not shown in time.
    ///
    /// Returns when it will be late. Where the channel has failed for longer than that, it is at once.
    private func fallBack(
        _ surface: SurfaceRecord, after error: DeliveryError? = nil
    ) async throws(LedgerError) -> Moment? {
        let (configuration, now) = (tools.activeConfiguration.configuration, clock.now)
        guard surface.ring, !surface.dismissed, surface.wanted != surface.shown,
            let safety = configuration.safety[channel.name], let other = safety.fallback,
            configuration.channelNames.contains(other), !OwnThread.isUndelivered(surface.item),
            !OwnThread.isHeartbeat(surface.item)
        else { return nil }
        // A clock that was set back puts nothing off for longer.
        graceUntil = min(graceUntil, now + FallbackKeeper.grace)
        let begin = keeper.isOpen ? min(surface.wantedAt, keeper.since ?? now) : surface.wantedAt
        let due = max(begin + safety.fallbackAfter, graceUntil)
        guard error != nil || due <= now else { return due }
        let fact = "fallback.\(channel.name)/\(surface.item)"
        guard try await ledger.fact(named: fact) != "\(surface.wanted)",
            let snapshot = try await snapshot(of: surface.item), snapshot.reason != .settled
        else { return nil }
        let notice = try await notice(of: snapshot)
        var message = OwnThread.undelivered(
            by: channel.name, notice.title, notice.body,
            because: error?.sentence ?? keeper.knownTrouble?.1 ?? "not shown yet", id: tools.makeID(), at: now
        )
        message.urgency = notice.urgency
        try await commit([
            .setFact(name: fact, value: "\(surface.wanted)"), .insertMessage(MessageRecord(message: message)),
            .append(NewEvent(.messagePosted(Fact.Post(message.id, bot: message.bot, to: other)), at: now)),
        ])
        logger.warning("a notice goes to the fallback of its channel", metadata: ["item": "\(surface.item)"])
        return nil
    }

    /// Shows what the item should look like now.
    ///
    /// Returns when to look again, where the channel is left alone until then.
    private func bringUp(_ item: String) async throws -> Moment? {
        // The row is read after the item: a version that is newer than the row would ring twice.
        let snapshot = try await snapshot(of: item)
        guard let surface = try await ledger.surface(channel: channel.name, item: item),
            surface.wanted != surface.shown, surface.wanted != surface.refused, !surface.dismissed
        else { return nil }
        if let done = farEnd.unrecorded[item], done.revision == surface.wanted {
            try await settle(surface, at: surface.wanted, remote: done.remote)
            return nil
        }
        // Another commit came between the two reads; its ring brings us back.
        if let snapshot, Int64(snapshot.revision) < surface.wanted { return nil }
        let age = clock.now - surface.wantedAt
        guard let snapshot, surface.remote != nil || snapshot.mayAppear,
            channel.manner.shows(after: age) || surface.remote != nil || snapshot.isQuestion
        else {
            if let remote = surface.remote {
                // A removal is a request like any other.
                if let moment = tools.rates.nextAt(for: channel, on: clock) { return moment }
                tools.rates.take(for: channel, on: clock)
                await channel.close(remote)
            }
            try await settle(surface, at: surface.wanted, remote: nil)
            return nil
        }
        if let moment = tools.rates.nextAt(for: channel, on: clock) { return moment }
        let isTest = item == "\(OwnThread.test(channel.name).key)"
        switch keeper.ask(isTest: isTest, at: clock.now) {
        case .granted: break
        case .waitUntil(let moment): return moment
        case .waitForProbe, .refused: return nil
        }
        var notice = try await notice(of: snapshot)
        if let moment = nextChange(of: notice, on: surface) { return moment }
        let mine = surface.remote == nil ? try await predecessor(of: snapshot) : surface.remote
        let isNews = surface.ring || (mine == nil && snapshot.isNewStorm(to: surface))
        notice.ring = isNews && channel.manner.rings(after: age)
        let remote = mine.flatMap { $0.generation == farEnd.generation ? $0 : nil }
        tools.rates.take(for: channel, on: clock)
        let shown = try await channel.show(notice, replacing: remote)
        // What was there before may have been removed for it.
        if let remote, shown != remote { tools.rates.take(for: channel, on: clock) }
        farEnd.rests.restart()
        farEnd.rests.end(item)
        changed[item] = notice.isLive && channel.manner.pace > .zero ? clock.now : nil
        try await settle(surface, at: surface.wanted, remote: shown)
        return nil
    }

    /// When the next version of a run at work may be shown; nil: now.
    private func nextChange(of notice: Notice, on surface: SurfaceRecord) -> Moment? {
        guard notice.isLive, !surface.ring, let last = changed[surface.item], last <= clock.now else {
            return nil
        }
        let next = last + channel.manner.pace
        return next > clock.now ? next : nil
    }

    /// What it looks like on this channel.
    func notice(of snapshot: ItemSnapshot) async throws(LedgerError) -> Notice {
        let configuration = tools.activeConfiguration.configuration
        let bot = configuration.bot(snapshot.bot)
        var manner = bot.manner
        manner.answers = bot.contact != nil
        let spec = try await jobSpec(of: snapshot)
        spec?.refine(&manner)
        var notice = NoticeComposer.compose(snapshot, manner: manner, jobIcon: spec?.icon)
        if channel.seesPresence {
            var offer = NoticeOffer()
            (offer.hasTerminal, offer.isRepeatable) = (channel.hasTerminal, spec != nil)
            offer.answers = manner.answers
            NoticeComposer.addButtons(to: &notice, of: snapshot, offering: offer)
        } else if case .question(let question) = snapshot.content {
            // A desktop has buttons of its own.
            notice.links = configuration.links(of: question)
        }
        return notice
    }

    /// How the job that an item is about is described now.
    private func jobSpec(of snapshot: ItemSnapshot) async throws(LedgerError) -> JobSpec? {
        guard let name = Topic.job(of: snapshot) else { return nil }
        return try await ledger.job(named: name)?.spec
    }

    /// What a storm replaces in place: the first of its jobs that is still on the screen and has nothing to show there.
    private func predecessor(of snapshot: ItemSnapshot) async throws(LedgerError) -> RemoteID? {
        guard case .storm(let report) = snapshot.content else { return nil }
        for job in report.jobs.prefix(Storm.smallest) {
            let item = "\(ItemKey.job(job))"
            guard let surface = try await ledger.surface(channel: channel.name, item: item) else { continue }
            if let remote = surface.remote, try await self.snapshot(of: item) == nil { return remote }
        }
        return nil
    }

    /// Leaves what is on the screen to the surface that took it over.
    private func release(_ remote: RemoteID?, to surface: SurfaceRecord) async throws(LedgerError) -> [Change]
    {
        guard surface.isOfStorm, let remote, remote != surface.remote,
            let other = try await self.surface(remote), other.item != surface.item
        else { return [] }
        return changes.shown(other, revision: other.wanted, remote: nil)
    }

    func snapshot(of item: String) async throws(LedgerError) -> ItemSnapshot? {
        guard let key = ItemKey(item), let record = try await ledger.item(key) else { return nil }
        return shownItem(record, on: channel.name)
    }

    func settle(
        _ surface: SurfaceRecord, at revision: Int64, remote: RemoteID?
    ) async throws(LedgerError) {
        farEnd.unrecorded[surface.item] = (revision, remote)
        let shown =
            try await release(remote, to: surface)
            + changes.shown(surface, revision: revision, remote: remote)
        if remote == nil {
            try await commit(shown)
        } else {
            try await commit(shown, after: .success(Receipt(at: clock.now, kind: .accepted)))
        }
        farEnd.unrecorded[surface.item] = nil
        if let remote { farEnd.pressed.remove(remote) }
    }
}

extension SurfaceRecord {
    /// Whether it shows jobs that failed alike.
    fileprivate var isOfStorm: Bool { item.hasPrefix("storm:") }
}

extension ItemSnapshot {
    /// Whether it is a question: it is shown as long as somebody waits for the answer.
    fileprivate var isQuestion: Bool { if case .question = content { true } else { false } }

    /// Whether it is shown where nothing of it is on the screen: a result that only ends what was shown of its run is not,
    /// once that has expired.
    fileprivate var mayAppear: Bool { reason != .settled }

    /// Whether it shows failures of which nothing was ever on this surface: nobody was there for the first ones, or they
    /// have left the screen.
    fileprivate func isNewStorm(to surface: SurfaceRecord) -> Bool {
        guard case .storm(let report) = content else { return false }
        return report.failing > 0 && surface.shown < Int64(report.since)
    }
}

extension JobSpec {
    /// How its notices look and sound where it says so itself.
    fileprivate func refine(_ manner: inout BotManner) {
        if let sound { (manner.soundName, manner.sounds) = (sound, [:]) }
        for (kind, sound) in sounds {
            if let kind = SoundKind(rawValue: kind) { manner.sounds[kind] = sound }
        }
        guard let preview else { return }
        manner.hidesText = preview == JobPreview.hidden
        manner.previewCharacters = Int(preview)
    }
}
