import Ledger
import Synchronization
package import Timeline

/// How the connections of bots are that keep one, as whoever makes them reports it.
package final class BotLinks: Sendable {
    private let known = Mutex<[String: BotLink]>([:])
    private let changes = Broadcast<Void>()

    /// Nothing is known.
    package init() {}

    /// Notes how the bot's connection is now; nil: it has none any more.
    package func note(_ bot: String, _ link: BotLink?) {
        let isNews = known.withLock { known in
            let old = known[bot]
            known[bot] = link
            // How long an answer took is shown to whoever asks, and is no news.
            var same = old
            same?.latency = link?.latency
            return same != link
        }
        if isNews { changes.publish(()) }
    }

    /// How the bot's connection is; nil: it keeps none.
    package subscript(bot: String) -> BotLink? { known.withLock { $0[bot] } }

    /// An element at once, and after each change.
    func taps() -> AsyncStream<Void> { changes.values(first: ()) }
}

/// How the connection of a bot is that keeps one.
package struct BotLink: Hashable, Sendable {
    /// Why the bot can't be asked; nil: it is connected.
    package var trouble: BotView?
    /// Whether that is known: not before the first attempt to connect has ended.
    package var isSettled: Bool
    /// Since when it is so.
    package var since: Moment?
    /// How long the other side took to answer last; nil: not known.
    package var latency: Duration?

    /// A connection; one that is there unless `trouble` is given.
    package init(
        trouble: BotView? = nil, isSettled: Bool = true, since: Moment? = nil, latency: Duration? = nil
    ) {
        (self.trouble, self.isSettled) = (trouble, isSettled)
        (self.since, self.latency) = (since, latency)
    }
}
