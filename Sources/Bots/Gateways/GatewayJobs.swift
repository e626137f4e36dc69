package import GatewayClient
package import OpenClaw
import Synchronization
package import Timeline

/// Looks at the jobs of gateways as long as somebody wants to know of them: when a gateway is connected, whenever its
/// scheduler reports something, and each minute, for these reports may get lost.
///
/// A gateway has a task only while there is something to do for it.
package final class GatewayFollower: Sendable {
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

        mutating func note(_ signal: GatewayLink.Signal) {
            switch signal {
            case .connected: (isOnline, sessions) = (true, nil)
            case .disconnected: isOnline = false
            case .gap: sessions = nil
            case .job(let id, action: "removed"): removed.insert(id)
            case .job: break
            case .foreignReply(let session): sessions?.insert(session)
            }
        }
    }

    /// A gateway that is followed.
    private struct Followed {
        let link: GatewayLink
        let place: String
        let bots: @Sendable () -> [String]
        var work = Work()
        /// What does the work; nil: nothing is being done.
        var task: Task<Void, Never>?
        /// Whether something was added to the work since that began.
        var isAsked = false
    }

    private struct State {
        var followed: [Int: Followed] = [:]
        var lastTicket = 0
        /// Ask for looks while anything is followed.
        var rounds: [Task<Void, Never>] = []
    }

    /// How often a gateway is looked at although it reports nothing.
    static let interval = Duration.seconds(60)

    private let clock: any WallClock
    private let desk: Desk
    private let state = Mutex(State())

    /// A follower that reports to this desk.
    package init(clock: any WallClock, desk: Desk) { (self.clock, self.desk) = (clock, desk) }

    /// Follows the gateway of the link, and returns what hears of it; nil: the link has ended.
    @Sendable package func follow(
        _ link: GatewayLink, _ place: String, _ bots: @escaping @Sendable () -> [String]
    ) -> @Sendable (GatewayLink.Signal?) -> Void {
        desk.noteState(place, bots(), false)
        let ticket = state.withLock { state in
            state.lastTicket += 1
            state.followed[state.lastTicket] = Followed(link: link, place: place, bots: bots)
            if state.rounds.isEmpty { state.rounds = makeRounds() }
            return state.lastTicket
        }
        return { [self] signal in
            if let signal { note(signal, of: ticket) } else { forget(ticket) }
        }
    }

    private func makeRounds() -> [Task<Void, Never>] {
        [
            Task { for await _ in desk.requests() { beginAll() } },
            Task {
                while !Task.isCancelled {
                    try? await clock.sleep(until: clock.now + Self.interval)
                    beginAll()
                }
            },
        ]
    }

    private func forget(_ ticket: Int) {
        let (place, tasks) = state.withLock { state in
            let followed = state.followed.removeValue(forKey: ticket)
            var tasks = [followed?.task].compactMap(\.self)
            if state.followed.isEmpty {
                tasks += state.rounds
                state.rounds = []
            }
            return (followed?.place, tasks)
        }
        for task in tasks { task.cancel() }
        if let place { desk.noteState(place, [], false) }
    }

    private func note(_ signal: GatewayLink.Signal, of ticket: Int) {
        let followed = state.withLock { state in
            state.followed[ticket]?.work.note(signal)
            return state.followed[ticket]
        }
        guard let followed else { return }
        if case .connected = signal { desk.noteState(followed.place, followed.bots(), true) }
        if case .disconnected = signal { desk.noteState(followed.place, followed.bots(), false) }
        begin(ticket)
    }

    // MARK: The work

    private func beginAll() { for ticket in state.withLock({ $0.followed.keys.sorted() }) { begin(ticket) } }

    /// Has the work of the gateway done, where there is any.
    private func begin(_ ticket: Int) {
        state.withLock { state in
            guard var followed = state.followed[ticket], followed.work.isOnline else { return }
            if followed.work.sessions?.isEmpty == true, !desk.isWatched(followed.place) {
                followed.work.removed = []
            } else {
                followed.isAsked = true
                if followed.task == nil { followed.task = Task { await serve(ticket) } }
            }
            state.followed[ticket] = followed
        }
    }

    private func serve(_ ticket: Int) async {
        while !Task.isCancelled, let followed = take(ticket) { await serve(followed, ticket) }
    }

    /// What is to be done now; nil: nothing any more.
    private func take(_ ticket: Int) -> Followed? {
        state.withLock { state in
            guard let followed = state.followed[ticket], followed.isAsked, followed.work.isOnline else {
                state.followed[ticket]?.task = nil
                return nil
            }
            state.followed[ticket]?.isAsked = false
            state.followed[ticket]?.work.sessions = []
            return followed
        }
    }

    private func serve(_ followed: Followed, _ ticket: Int) async {
        let (link, place, bots, work) = (followed.link, followed.place, followed.bots(), followed.work)
        if let sessions = work.sessions {
            for session in sessions.sorted() { await desk.readHistory(link, bots, session) }
        } else {
            await desk.readHistory(link, bots, nil)
        }
        guard desk.isWatched(place) else { return }
        // What can't be read now is read a minute later.
        guard let look = try? await link.look(removed: work.removed) else { return }
        desk.noteLook(look, place)
        state.withLock { _ = $0.followed[ticket]?.work.removed.subtract(work.removed) }
    }
}

/// Has gateways show and change their own jobs.
package struct GatewayAdministrator: Sendable {
    /// Why a gateway did not do it.
    package struct Refusal: Error, Hashable, Sendable {
        /// One sentence without a full stop.
        package let text: String
        /// What to do about it: a sentence.
        package let hint: String?
        /// Whether it may have been done all the same.
        package let isUnknown: Bool
    }

    private let links: GatewayPool
    /// How long a connection is waited for.
    private static let patience = Duration.seconds(10)

    /// One that asks the gateways of the pool.
    package init(_ links: GatewayPool) { self.links = links }

    /// What the jobs of the bot's gateway are now.
    package func look(_ bot: String, at place: String) async throws(Refusal) -> GatewayLook {
        guard let link = links.link(of: bot) else { throw Self.missing(bot) }
        guard await link.online(within: Self.patience) != nil else {
            throw await Self.refusal(of: link, bot, place)
        }
        do throws(GatewayLink.CallFailure) {
            return try await link.look()
        } catch {
            throw Self.refusal(error, bot, place)
        }
    }

    /// Enables or disables a job of the bot's gateway, on a connection that may do that.
    package func setEnabled(
        _ isEnabled: Bool, _ job: GatewayJob, of bot: String, at place: String
    ) async throws(Refusal) {
        let outcome = await links.administrate(bot) { link async -> Result<Void, Refusal> in
            do throws(Refusal) {
                return .success(try await Self.setEnabled(isEnabled, job, over: link, bot, place))
            } catch {
                return .failure(error)
            }
        }
        guard let outcome else { throw Self.missing(bot) }
        try outcome.get()
    }

    private static func setEnabled(
        _ isEnabled: Bool, _ job: GatewayJob, over link: GatewayLink, _ bot: String, _ place: String
    ) async throws(Refusal) {
        guard let hello = await link.online(within: patience) else {
            throw await refusal(of: link, bot, place)
        }
        if let scope = hello.missingScopes(of: GatewayIdentity.administration).last {
            throw Refusal(
                text: "\(bot): the gateway at \(place) does not grant \(scope) to this device",
                hint: "Run: openclaw devices list", isUnknown: false)
        }
        do throws(GatewayLink.CallFailure) {
            try await link.setEnabled(isEnabled, job)
        } catch {
            throw refusal(error, bot, place)
        }
    }

    private static func missing(_ bot: String) -> Refusal {
        Refusal(
            text: "\(bot): its gateway can't be asked as it is configured",
            hint: "Run: belfry bot test \(bot)",
            isUnknown: false)
    }

    private static func refusal(of link: GatewayLink, _ bot: String, _ place: String) async -> Refusal {
        guard case .away(let trouble, _) = await link.state else {
            return Refusal(
                text: "\(bot): the gateway at \(place) is not connected yet", hint: "Try again in a moment.",
                isUnknown: false)
        }
        return Refusal(
            text: trouble.sentence(of: bot, at: place), hint: trouble.advice(of: bot).sentence,
            isUnknown: false)
    }

    private static func refusal(
        _ failure: GatewayLink.CallFailure, _ bot: String, _ place: String
    ) -> Refusal {
        let start = "\(bot): the gateway at \(place)"
        switch failure {
        case .away:
            return Refusal(text: "\(start) closed the connection", hint: "Try again.", isUnknown: true)
        case .timedOut: return Refusal(text: "\(start) did not answer", hint: "Try again.", isUnknown: true)
        case .unsettled:
            return Refusal(
                text: "\(start) showed another list of jobs each time it was read", hint: "Try again.",
                isUnknown: true)
        case .tooLarge: return Refusal(text: "\(start) reads no frame as large", hint: nil, isUnknown: false)
        case .fault(let fault):
            if let scope = fault.missingScope {
                return Refusal(
                    text: "\(start) does not grant \(scope) to this device",
                    hint: "Run: openclaw devices list",
                    isUnknown: false)
            }
            let why = fault.message.isEmpty ? "" : ": \(fault.message)"
            return Refusal(text: "\(start) refused it (\(fault.code))\(why)", hint: nil, isUnknown: false)
        }
    }
}
