import Delivery
import Grouping
package import Ledger
package import Logging
package import OpenClaw
import Synchronization
package import Timeline
import Tracking

/// Watches the jobs that gateways run by themselves, and records, as events, what these keep silent about.
///
/// What is known of a gateway's jobs is kept in the ledger, in the transaction that writes the events of it: neither a
/// restart nor a crash reports a thing twice, and a job that vanished while no daemon ran is noticed.
package actor GatewayKeeper: Keeper {
    let ledger: any Ledger
    var loop: KeeperLoop
    private let board: GatewayBoard
    private let zones: @Sendable () -> ZoneRules
    /// The watches by place; the inner nil: the gateway there is not watched.
    private var watches: [String: GatewayWatch?] = [:]

    /// A keeper that shows times in the zone that `zone` returns.
    package init(
        ledger: any Ledger, board: GatewayBoard, clock: any WallClock,
        zone: @escaping @Sendable () -> ZoneRules, logger: Logger
    ) {
        (self.ledger, self.board, zones) = (ledger, board, zone)
        loop = KeeperLoop(clock: clock, logger: logger, complaint: "jobs of gateways can't be judged")
    }

    /// Serves until cancelled.
    ///
    /// - Throws: a ``LedgerError`` that only a restart can clear.
    package func run() async throws { try await follow() }

    func wakers() -> [Waker] { [.each(board.taps())] }

    func serve() async throws(LedgerError) -> KeeperLoop.Next {
        var deadline: Moment?
        for entry in board.entries {
            guard let watch = try await watch(of: entry.place) else { continue }
            let now = loop.clock.now
            let next = try await judge(entry, by: watch, at: now)
            board.note(watched: (next.count, next.troubled), at: entry.place)
            // A gateway that is connected is looked at by and by.
            if !entry.isOnline, let due = next.nextDeadline(after: now) {
                deadline = min(deadline ?? due, due)
            }
        }
        return deadline.map { .at($0) } ?? .whenRung
    }

    /// Judges what is new of a gateway, and commits what follows from it.
    private func judge(
        _ entry: GatewayBoard.Entry, by old: GatewayWatch, at now: Moment
    ) async throws(LedgerError) -> GatewayWatch {
        var watch = old
        var news: [GatewayNews] = []
        if let look = entry.look, !entry.isJudged {
            let taken = try await ledger.takenJobs(of: entry.place)
            let doubled = Set(taken.filter { $0.state == .taken && $0.since < look.at }.map(\.id))
            news = watch.review(look, taken: doubled, at: now)
        } else if !entry.isOnline {
            news = watch.review(at: now)
        }
        if watch != old || !news.isEmpty {
            let facts = news.map { $0.fact(of: entry, at: now, in: zones()) }
            try await ledger.commit(
                [.setFact(name: Self.fact(of: entry.place), value: watch.text)]
                    + facts.map { .append(NewEvent($0, at: now)) })
        }
        // Meanwhile somebody may have ended the watch.
        if case .some(.some) = watches[entry.place] { watches[entry.place] = .some(watch) }
        if let look = entry.look { board.settle(entry.place, look: look.at) }
        return watch
    }

    private func watch(of place: String) async throws(LedgerError) -> GatewayWatch? {
        if let known = watches[place] { return known }
        let text = try await ledger.fact(named: Self.fact(of: place))
        let watch = text.map { text in
            JSON(parsing: Array(text.utf8)[...]).flatMap { GatewayWatch($0) } ?? GatewayWatch()
        }
        if watches[place] == nil { watches[place] = .some(watch) }
        return watches[place] ?? nil
    }

    // MARK: What others ask

    /// Since when the gateway there is watched; nil: it is not.
    package func watch(at place: String) async throws(LedgerError) -> GatewayWatch? {
        try await watch(of: place)
    }

    /// Watches the jobs of the gateway there from now on, or no longer.
    package func setWatch(_ isOn: Bool, at place: String) async throws(LedgerError) {
        let old = try await watch(of: place)
        guard (old != nil) != isOn else { return }
        let watch = isOn ? GatewayWatch() : nil
        try await ledger.commit([.setFact(name: Self.fact(of: place), value: watch?.text)])
        watches[place] = .some(watch)
        board.note(watched: watch.map { ($0.count, $0.troubled) }, at: place)
        loop.bell.ring()
    }

    private static func fact(of place: String) -> String { "gateway.watch \(place)" }
}

extension GatewayWatch {
    /// As the ledger keeps it.
    fileprivate var text: String { String(decoding: json.bytes, as: UTF8.self) }
}

extension GatewayNews {
    fileprivate func fact(
        of entry: GatewayBoard.Entry, at now: Moment, in zone: ZoneRules
    ) -> Fact {
        .gatewayJob(
            Fact.GatewayJob(
                bot: entry.bots.min() ?? "belfry", job: job, reason: matter.word,
                Fact.GatewayJob.Payload(
                    gateway: entry.place, name: name, message: words(at: now, in: zone))))
    }
}

/// What is known of the schedulers of gateways: whoever is connected notes it here, and finds out here whether anybody
/// wants to know.
package final class GatewayBoard: Sendable {
    /// What is known of one gateway.
    package struct Entry: Sendable {
        /// The gateway's host and port.
        package var place: String
        /// The bots that are behind it, by name.
        package var bots: [String]
        /// Whether it is connected.
        package var isOnline = false
        /// What it showed last; nil: nothing yet.
        package var look: GatewayLook?
        /// Whether somebody has judged that look.
        package var isJudged = false
        /// How many jobs are watched, and how many have something wrong; nil: it is not watched.
        package var watched: (jobs: Int, troubled: Int)?
    }

    private let known = Mutex<[String: Entry]>([:])
    private let news = Broadcast<Void>()
    private let wishes = Broadcast<Void>()

    /// Nothing is known.
    package init() {}

    // MARK: For whoever is connected

    /// A gateway is connected, or no longer is; no bots: it is not configured any more.
    package func note(_ place: String, bots: [String], isOnline: Bool) {
        known.withLock { known in
            guard !bots.isEmpty else { return known[place] = nil }
            var entry = known[place] ?? Entry(place: place, bots: bots)
            (entry.bots, entry.isOnline) = (bots, isOnline)
            known[place] = entry
        }
        news.publish(())
    }

    /// What a gateway shows now.
    package func note(_ look: GatewayLook, of place: String) {
        known.withLock { known in
            guard var entry = known[place] else { return }
            var look = look
            // What nobody has judged yet is not forgotten.
            if !entry.isJudged, let earlier = entry.look { look.removed.formUnion(earlier.removed) }
            (entry.look, entry.isJudged) = (look, false)
            known[place] = entry
        }
        news.publish(())
    }

    /// Whether somebody wants looks at the gateway.
    package func isWatched(_ place: String) -> Bool { known.withLock { $0[place]?.watched != nil } }

    /// An element at once, and whenever a gateway should be looked at.
    package func lookRequests() -> AsyncStream<Void> { wishes.values(first: ()) }

    // MARK: For whoever judges

    /// All gateways, by their places.
    package var entries: [Entry] { known.withLock { $0.values.sorted { $0.place < $1.place } } }

    /// The gateway at that place; nil: none is known.
    package subscript(place: String) -> Entry? { known.withLock { $0[place] } }

    /// Whether the gateway is watched, and what is wrong there; a gateway that begins to be watched is looked at.
    func note(watched: (jobs: Int, troubled: Int)?, at place: String) {
        let isNew = known.withLock { known in
            let isNew = known[place]?.watched == nil && watched != nil
            known[place]?.watched = watched
            return isNew && known[place] != nil
        }
        if isNew { wishes.publish(()) }
    }

    /// The look of that moment is judged.
    func settle(_ place: String, look moment: Moment) {
        known.withLock { known in
            if known[place]?.look?.at == moment { known[place]?.isJudged = true }
        }
    }

    /// An element at once, and after each change.
    package func taps() -> AsyncStream<Void> { news.values(first: ()) }
}

/// Takes over what was said to synced bots elsewhere, so that their threads are the conversations that other devices show.
///
/// The messages and how far the history is known are one transaction: nothing is taken over twice.
package actor GatewayHistory {
    private let ledger: any Ledger
    private let clock: any WallClock

    /// The thread that is a bot's conversation with people.
    package static let thread = "main"

    /// One that writes to this ledger.
    package init(ledger: any Ledger, clock: any WallClock) { (self.ledger, self.clock) = (ledger, clock) }

    /// Takes over what is new in the history of the bot's session, whose gateway's clock is `ahead` of ours.
    package func take(
        _ history: SessionHistory, of bot: String, in session: String, sent: [SentPrompt],
        ahead: Duration = .zero
    ) async throws(LedgerError) {
        let fact = "gateway.history \(bot) \(session)"
        let text = try await ledger.fact(named: fact)
        let old = text.flatMap { JSON(parsing: Array($0.utf8)[...]) }.flatMap { SessionSync($0) }
        var sync = old ?? SessionSync()
        let sayings = sync.review(history, sent: sent, ahead: ahead)
        guard sync != old else { return }
        // What was said before Belfry knew the conversation is history, and no news.
        let isNews = old != nil
        var changes: [Change] = [
            .setFact(name: fact, value: String(decoding: sync.json.bytes, as: UTF8.self))
        ]
        for saying in sayings {
            let message = Message(
                id: "\(bot)-\(session)-\(saying.id)", bot: bot, thread: Self.thread,
                author: saying.isOfAgent ? .bot : .user, text: saying.text, at: saying.at)
            var record = MessageRecord(message: message, read: !isNews || !saying.isOfAgent)
            if !saying.isOfAgent {
                (record.sender, record.askedRun) = (Self.elsewhere, MessageRecord.saidElsewhere)
            }
            changes.append(.insertMessage(record))
            if isNews {
                changes.append(
                    .append(NewEvent(.messagePosted(Fact.Post(message.id, bot: bot)), at: clock.now)))
            }
        }
        try await ledger.commit(changes)
    }

    /// Who said it, as people read it.
    private static let elsewhere = "you, elsewhere"
}
