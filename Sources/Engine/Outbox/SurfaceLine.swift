import Delivery
import Grouping
import Ledger
import Logging
import Timeline

/// The surfaces of one channel: a level, not a queue. Whatever was missed, only the newest version is shown.
actor SurfaceLine {
    /// What was wanted longer ago than this is shown without a ring when the far end comes back.
    private static let ringsWithin: Duration = .seconds(300)
    /// What was wanted longer ago than this is not brought up any more.
    private static let showsWithin: Duration = .seconds(12 * 3600)

    private let channel: any LevelChannel
    private let ledger: any Ledger
    private let clock: any WallClock
    private let switchboard: Switchboard
    private let health: ChannelBoard
    private let logger: Logger
    private let alarm = Alarm()
    private let signals = Inbox<SurfaceSignal>()
    /// The life of the far end; nil: nobody is there.
    private var generation: String?
    /// What is shown and could not be recorded yet; it is not shown a second time.
    private var unrecorded: [String: (revision: Int64, remote: RemoteID?)] = [:]
    /// How often in a row something was refused for now.
    private var refusals = 0
    private var isTroubled = false

    init(
        channel: any LevelChannel, ledger: any Ledger, clock: any WallClock, switchboard: Switchboard,
        health: ChannelBoard, logger: Logger
    ) {
        self.channel = channel
        self.ledger = ledger
        self.clock = clock
        self.switchboard = switchboard
        self.health = health
        var logger = logger
        logger[metadataKey: "channel"] = "\(channel.name)"
        self.logger = logger
    }

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.channel.run() }
            group.addTask {
                for await signal in self.channel.signals {
                    self.signals.put(signal)
                    self.alarm.ring()
                    await self.signals.room()
                }
            }
            group.addTask {
                for await stations in self.ledger.commits() where stations.contains(.outbox) {
                    self.alarm.ring()
                }
            }
            group.addTask { try await self.serve() }
            try await group.next()
            group.cancelAll()
        }
    }

    private func serve() async throws {
        var owed: [SurfaceSignal] = []
        while true {
            var retryAt: Moment?
            do throws(LedgerError) {
                owed += signals.takeAll()
                while let signal = owed.first {
                    try await take(signal)
                    owed.removeFirst()
                }
                if generation != nil { retryAt = try await bringUp() }
                isTroubled = false
            } catch {
                guard error.mayPass else { throw error }
                if !isTroubled {
                    logger.error("surfaces can't be recorded", metadata: ["reason": "\(error)"])
                }
                isTroubled = true
                retryAt = clock.now + .seconds(1)
            }
            try await alarm.wait(until: retryAt, on: clock)
        }
    }

    // MARK: What the far end says

    private func take(_ signal: SurfaceSignal) async throws(LedgerError) {
        let now = clock.now
        switch signal {
        case .available(let newGeneration):
            if try await hasStale(newGeneration) {
                try await ledger.commit([.forgetRemotes(channel: channel.name)])
            }
            unrecorded = [:]
            refusals = 0
            generation = newGeneration
            health.note(.working, of: channel.name, error: nil, at: now)
        case .unavailable(let reason):
            // Its ids stay: a server that only hung still knows them, and another one says so itself.
            generation = nil
            if health.note(.away, of: channel.name, error: reason, at: now) {
                logger.notice(
                    "a channel is away; what it should show waits", metadata: ["reason": "\(reason)"])
            }
        case .closed(let remote, let reason):
            guard let surface = try await ledger.surface(channel: channel.name, remote: remote) else {
                return
            }
            try await closed(surface, reason, at: now)
        case .action(let remote, let key):
            guard let surface = try await ledger.surface(channel: channel.name, remote: remote) else {
                return
            }
            try await ledger.commit([
                receipt(.acted, of: surface, detail: key, at: now), dismissal(of: surface, at: now),
            ])
        }
    }

    private func hasStale(_ generation: String) async throws(LedgerError) -> Bool {
        try await ledger.surfaces(channel: channel.name, all: true)
            .contains { $0.remote.map { $0.generation != generation } ?? false }
    }

    private func closed(
        _ surface: SurfaceRecord, _ reason: CloseReason, at now: Moment
    ) async throws(LedgerError) {
        let gone = Change.showSurface(
            channel: channel.name, item: surface.item, revision: surface.shown, remote: nil, at: now)
        switch reason {
        case .dismissed:
            // A person has put it away: it was seen, and stays away.
            try await ledger.commit([
                gone, .dismissSurface(channel: channel.name, item: surface.item, true),
                receipt(.seen, of: surface, detail: "dismissed", at: now), dismissal(of: surface, at: now),
            ])
        case .expired, .undefined:
            // Off the screen, still unread: the next version shows it again.
            try await ledger.commit([gone])
        case .closedByUs:
            return
        }
    }

    private func dismissal(of surface: SurfaceRecord, at now: Moment) -> Change {
        .append(
            NewEvent(
                .itemDismissed, at: now, subject: surface.item, channel: channel.name,
                detail: String(surface.shown)))
    }

    private func receipt(
        _ kind: ReceiptKind, of surface: SurfaceRecord, detail: String, at now: Moment
    ) -> Change {
        .insertReceipt(
            ReceiptRecord(
                outbox: "\(channel.name)/\(surface.item)",
                receipt: Receipt(at: now, kind: kind, detail: detail)))
    }

    // MARK: What it should show

    /// Shows what differs.
    ///
    /// Returns when to try again what was refused for now.
    private func bringUp() async throws(LedgerError) -> Moment? {
        var retryAt: Moment?
        for behind in try await ledger.surfaces(channel: channel.name, all: false) {
            guard generation != nil else { return nil }
            do {
                try await bringUp(behind.item)
            } catch let error as DeliveryError {
                switch error {
                case .unreachable:
                    // It says itself when somebody is there again.
                    return nil
                case .retry(let reason, let after, _, _):
                    health.note(.failing, of: channel.name, error: error.detail, at: clock.now)
                    refusals += 1
                    let pause = after ?? .seconds(1 << min(refusals - 1, 6))
                    retryAt = min(retryAt ?? .distantFuture, clock.now + pause)
                    // Who says "too many" is left alone; else one that is refused holds up no other.
                    if reason == .throttled { return retryAt }
                case .giveUp:
                    logger.warning("a surface can't be shown", metadata: ["reason": "\(error.detail)"])
                    try await settle(behind, remote: behind.remote)
                }
            } catch let error as LedgerError {
                throw error
            } catch {
                return retryAt
            }
        }
        return retryAt
    }

    private func bringUp(_ item: String) async throws {
        // The row is read after the item: a version that is newer than the row would ring twice.
        let snapshot = try await snapshot(of: item)
        guard let surface = try await ledger.surface(channel: channel.name, item: item),
            surface.wanted != surface.shown, !surface.dismissed
        else { return }
        if let done = unrecorded[item], done.revision == surface.wanted {
            return try await settle(surface, remote: done.remote)
        }
        // Another commit came between the two reads; its ring brings us back.
        if let snapshot, Int64(snapshot.revision) < surface.wanted { return }
        let age = clock.now - surface.wantedAt
        guard let snapshot, age < Self.showsWithin || surface.remote != nil else {
            if let remote = surface.remote { await channel.close(remote) }
            return try await settle(surface, remote: nil)
        }
        let bot = switchboard.configuration.bot(snapshot.bot)
        var notice = NoticeComposer.compose(snapshot, manner: BotManner(soundName: bot.soundName))
        notice.ring = surface.ring && age < Self.ringsWithin
        let remote = surface.remote.flatMap { $0.generation == generation ? $0 : nil }
        let shown = try await channel.show(notice, replacing: remote)
        refusals = 0
        health.note(.working, of: channel.name, error: nil, at: clock.now)
        try await settle(surface, remote: shown)
    }

    private func snapshot(of item: String) async throws(LedgerError) -> ItemSnapshot? {
        guard let key = ItemKey(item), let record = try await ledger.item(key) else { return nil }
        return shownItem(record)
    }

    private func settle(_ surface: SurfaceRecord, remote: RemoteID?) async throws(LedgerError) {
        unrecorded[surface.item] = (surface.wanted, remote)
        var changes: [Change] = [
            .showSurface(
                channel: channel.name, item: surface.item, revision: surface.wanted, remote: remote,
                at: clock.now)
        ]
        if remote != nil, surface.remote != remote {
            changes.append(receipt(.accepted, of: surface, detail: "", at: clock.now))
        }
        try await ledger.commit(changes)
        unrecorded[surface.item] = nil
    }
}
