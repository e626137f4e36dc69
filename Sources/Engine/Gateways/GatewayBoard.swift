import Ledger
package import OpenClaw
import Synchronization
import Timeline

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
