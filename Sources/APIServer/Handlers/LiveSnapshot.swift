import API
import Engine
import Ledger
import Logging
import Synchronization
import Timeline
import Tracking

/// Keeps the live states and the bots in a file, for bars and widgets that read it often and must not wait.
///
/// Written when a live state, a bot or the next slot changes, at most twice a second, and with very many runs so rarely
/// that it takes a hundredth of the time; asleep while nothing happens.
package struct LiveSnapshot: Sendable {
    private static let pace = Duration.milliseconds(500)
    private static let longestPace = Duration.seconds(10)
    private static let endKept = Duration.seconds(60)
    /// A bar shows a few bots; what each of hundreds said last is not looked up at every message.
    private static let mostBots = 64

    private let handler: DaemonHandler
    private let write: @Sendable ([UInt8]) throws -> Void

    private var control: Control { handler.control }

    /// A keeper of the daemon's snapshot that `handler` answers for; each version is passed to `write`.
    package init(_ handler: DaemonHandler, write: @escaping @Sendable ([UInt8]) throws -> Void) {
        (self.handler, self.write) = (handler, write)
    }

    /// Signals that something has changed, and keeps whether the bots must be read again for it.
    private final class News: Sendable {
        let rings: AsyncStream<Void>
        private let bell: AsyncStream<Void>.Continuation
        private let areBotsOutdated = Mutex(true)

        init() { (rings, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

        func ring(bots: Bool = false) {
            if bots { areBotsOutdated.withLock { $0 = true } }
            bell.yield()
        }

        /// Whether the bots must be read again; false from then on, until the next change of them.
        func takeBots() -> Bool {
            areBotsOutdated.withLock { areOutdated in
                defer { areOutdated = false }
                return areOutdated
            }
        }
    }

    /// Writes until cancelled; what can't be written is logged once, and tried again with the next change.
    package func run() async throws {
        let news = News()
        // On the thread that commits: no task is woken for each message.
        let commits = control.ledger.observeCommits { stations in
            let isOfBots = !stations.isDisjoint(with: [.bots, .talk, .runs])
            if isOfBots || stations.contains(.jobs) { news.ring(bots: isOfBots) }
        }
        let changes = [control.activeConfiguration.taps(), control.desk.links.taps()]
        let taps = control.board.taps()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in taps { news.ring() } }
            for change in changes { group.addTask { for await _ in change { news.ring(bots: true) } } }
            group.addTask { await commits.waitForEnd() }
            group.addTask { try await writeRepeatedly(news) }
            try await group.next()
            group.cancelAll()
        }
    }

    private func writeRepeatedly(_ news: News) async throws {
        var (last, isFailing) = (WireSnapshot?.none, false)
        var bots: [WireSnapshot.Bot]?
        for await _ in news.rings {
            // Once more after the pace: the next slot of a job is known only a moment after its commit.
            for _ in 1...2 {
                let begun = control.clock.sinceBoot
                if news.takeBots() { bots = await self.bots() }
                if let next = await snapshot(with: bots, unlike: last) {
                    do {
                        try write(try WireCoding.encode(next) + [0x0A])
                        (last, isFailing) = (next, false)
                    } catch {
                        if !isFailing {
                            control.logger.warning(
                                "the snapshot of live states can't be written",
                                metadata: ["reason": "\(error)"])
                        }
                        isFailing = true
                    }
                }
                let rest = max(Self.pace, (control.clock.sinceBoot - begun) * 100)
                try await control.clock.sleep(until: control.clock.now + min(rest, Self.longestPace))
            }
        }
        try Task.checkCancellation()
    }

    /// The version that follows `last`; nil: no live state has changed, and all else is the same.
    private func snapshot(
        with bots: [WireSnapshot.Bot]?, unlike last: WireSnapshot?
    ) async -> WireSnapshot? {
        let (version, states) = await control.board.whole()
        let next = await control.slots.summary().next.map { next in
            WireSnapshot.NextSlot(job: next.job, at: Timestamp(next.slot))
        }
        if let last, version == last.seq, next == last.next, bots == last.bots { return nil }
        let now = control.clock.now
        let shown = states.filter { !$0.state.isEnded || now - $0.updatedAt < Self.endKept }
        return WireSnapshot(
            seq: version, at: Timestamp(now), tasks: shown.map { WireLive($0, at: now) }, next: next,
            bots: bots)
    }

    /// The bots with what was said last; nil: there are too many, or they can't be read now.
    private func bots() async -> [WireSnapshot.Bot]? {
        guard var bots = try? await handler.bots(), bots.count <= Self.mostBots else { return nil }
        for index in bots.indices {
            bots[index].lastMessage = try? await handler.lastMessage(of: bots[index].name)
        }
        return bots.map(WireSnapshot.Bot.init)
    }
}
