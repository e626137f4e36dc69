package import GatewayClient
package import OpenClaw
import Synchronization
package import Timeline

/// Looks at the jobs of gateways as long as somebody wants to know of them: when a gateway is connected, whenever its
/// scheduler reports something, and each minute, for these reports may get lost.
package struct GatewayFollower: Sendable {
    /// Where what is seen goes, and who wants to see it.
    package struct Desk: Sendable {
        /// Whether the gateway there is watched.
        package var isWatched: @Sendable (_ place: String) -> Bool
        /// An element at once, and whenever a gateway should be looked at.
        package var requests: @Sendable () -> AsyncStream<Void>
        /// A gateway is connected, or no longer is.
        package var noteState: @Sendable (_ place: String, _ bots: [String], _ isOnline: Bool) -> Void
        /// What a gateway shows.
        package var noteLook: @Sendable (GatewayLook, _ place: String) -> Void
        /// Reads what was said elsewhere to the bots of the gateway that is connected, in a session or in each.
        package var readHistory: @Sendable (GatewayLink, _ bots: [String], _ session: String?) async -> Void

        /// A desk of these.
        package init(
            isWatched: @escaping @Sendable (_ place: String) -> Bool,
            requests: @escaping @Sendable () -> AsyncStream<Void>,
            noteState: @escaping @Sendable (_ place: String, _ bots: [String], _ isOnline: Bool) -> Void,
            noteLook: @escaping @Sendable (GatewayLook, _ place: String) -> Void,
            readHistory: @escaping @Sendable (GatewayLink, _ bots: [String], _ session: String?) async -> Void
        ) {
            (self.isWatched, self.requests, self.noteState) = (isWatched, requests, noteState)
            (self.noteLook, self.readHistory) = (noteLook, readHistory)
        }
    }

    /// What is to be done for one gateway.
    private struct Work {
        var isOnline = false
        var removed: Set<String> = []
        /// The sessions in which something was said elsewhere; nil: all of them.
        var sessions: Set<String>? = []
    }

    /// The work that two tasks share: who hears of it, and who does it.
    private final class Duties: Sendable {
        private let state = Mutex(Work())

        func change<Value: Sendable>(_ body: (inout Work) -> Value) -> Value {
            state.withLock { body(&$0) }
        }
    }

    /// How often a gateway is looked at although it reports nothing.
    static let interval = Duration.seconds(60)

    private let clock: any WallClock
    private let desk: Desk

    /// A follower that reports to this desk.
    package init(clock: any WallClock, desk: Desk) { (self.clock, self.desk) = (clock, desk) }

    /// Follows the gateway of the link until the link ends, or the task is cancelled.
    @Sendable package func follow(
        _ link: GatewayLink, _ place: String, _ bots: @escaping @Sendable () -> [String]
    ) async {
        let duties = Duties()
        let (calls, call) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        desk.noteState(place, bots(), false)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                for await signal in await link.observe() {
                    note(signal, duties)
                    if case .connected = signal { desk.noteState(place, bots(), true) }
                    if case .disconnected = signal { desk.noteState(place, bots(), false) }
                    call.yield()
                }
            }
            group.addTask { [desk] in for await _ in desk.requests() { call.yield() } }
            group.addTask { [clock] in
                while !Task.isCancelled {
                    try? await clock.sleep(until: clock.now + Self.interval)
                    call.yield()
                }
            }
            group.addTask { [self] in for await _ in calls { await serve(link, place, bots(), duties) } }
            await group.next()
            group.cancelAll()
        }
        desk.noteState(place, [], false)
    }

    private func note(_ signal: GatewayLink.Signal, _ duties: Duties) {
        duties.change { duties in
            switch signal {
            case .connected: (duties.isOnline, duties.sessions) = (true, nil)
            case .disconnected: duties.isOnline = false
            case .gap: duties.sessions = nil
            case .job(let id, action: "removed"): duties.removed.insert(id)
            case .job: break
            case .foreignReply(let session): duties.sessions?.insert(session)
            }
        }
    }

    private func serve(
        _ link: GatewayLink, _ place: String, _ bots: [String], _ duties: Duties
    ) async {
        let work = duties.change { duties in
            defer { if duties.isOnline { duties.sessions = [] } }
            return duties
        }
        guard work.isOnline else { return }
        if let sessions = work.sessions {
            for session in sessions.sorted() { await desk.readHistory(link, bots, session) }
        } else {
            await desk.readHistory(link, bots, nil)
        }
        guard desk.isWatched(place) else { return duties.change { $0.removed = [] } }
        // What can't be read now is read a minute later.
        guard let look = try? await link.look(removed: work.removed) else { return }
        desk.noteLook(look, place)
        duties.change { $0.removed.subtract(work.removed) }
    }
}
