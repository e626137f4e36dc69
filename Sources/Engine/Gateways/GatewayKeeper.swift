import Delivery
package import Ledger
package import Logging
package import OpenClaw
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
