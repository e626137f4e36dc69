import Ledger
package import Logging
import Timeline

/// Decides when a way out of this machine that was not there before has settled, so that channels that fail are worth
/// another try.
///
/// Only ever a hint to try sooner: without it a channel is tried at its own times, and nothing waits for it.
package struct NetworkSettling: Sendable {
    /// What to do now.
    package enum Decision: Hashable, Sendable {
        /// Nothing is expected.
        case idle
        /// Ask again then, since boot.
        case wait(until: Duration)
        /// There is a new way out: try what failed.
        case settled
    }

    /// After the last of several changes: a new address still lacks its route and its name server.
    private static let quiet = Duration.seconds(2)
    /// A network that never becomes quiet is as good as it gets.
    private static let longest = Duration.seconds(10)
    /// Between two hints: a connection that comes and goes hammers nobody.
    private static let apart = Duration.seconds(30)
    /// More ways than these are forgotten, and count as new when they are reported again.
    private static let most = 4096

    private var known: Set<String> = []
    private var news: (first: Duration, last: Duration)?
    private var hintedAt: Duration?

    /// Knows of no way yet.
    package init() {}

    /// Takes in that a way appeared or vanished.
    ///
    /// One that is reported again, as addresses are whenever they are renewed, is no news.
    package mutating func noticed(_ way: String, isThere: Bool, at now: Duration) {
        guard isThere else {
            known.remove(way)
            return
        }
        if known.count >= Self.most { known = [] }
        guard known.insert(way).inserted else { return }
        news = (news?.first ?? now, now)
    }

    /// What to do now; a hint is given once.
    package mutating func decide(at now: Duration) -> Decision {
        guard let news else { return .idle }
        var due = min(news.last + Self.quiet, news.first + Self.longest)
        if let hintedAt { due = max(due, hintedAt + Self.apart) }
        guard due <= now else { return .wait(until: due) }
        (self.news, hintedAt) = (nil, now)
        return .settled
    }
}

/// Has channels that fail tried again when this machine has a new way out.
package final class NetworkKeeper: Sendable {
    private let tools: ChannelTools
    private let bell = Bell()
    private let inbox = Inbox<(way: String, isThere: Bool)>()
    private let logger: Logger

    package init(_ tools: ChannelTools, logger: Logger) {
        self.tools = tools
        self.logger = logger
    }

    /// Takes in that a way out appeared or vanished; may be called on any thread.
    package func noticed(_ way: String, isThere: Bool) {
        inbox.put((way, isThere))
        bell.ring()
    }

    /// Gives hints until cancelled.
    package func run() async throws {
        var settling = NetworkSettling()
        while true {
            let clock = tools.clock
            for change in inbox.takeAll() {
                settling.noticed(change.way, isThere: change.isThere, at: clock.sinceBoot)
            }
            let now = clock.sinceBoot
            switch settling.decide(at: now) {
            case .idle: try await bell.wait(until: nil, on: clock)
            case .wait(let moment): try await bell.wait(until: clock.now + (moment - now), on: clock)
            case .settled:
                logger.info("the network is back or another one; channels that fail are tried")
                tools.networkReturns.publish(())
            }
        }
    }
}
