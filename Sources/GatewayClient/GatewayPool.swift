import Crypto
package import Delivery
import NIOCore
import NIOPosix
package import OpenClaw
import Synchronization
package import Timeline
import Tracking

/// The links to all gateways: bots of one gateway with one token share theirs.
package final class GatewayPool: Sendable {
    /// What a bot needs of a gateway.
    package struct Wish: Hashable, Sendable {
        package var reach: HTTPReach
        /// The shared token; nil: none is configured.
        package var token: String?
        /// The file of the certificates that it is checked by; nil: those that the machine trusts.
        package var authority: String?

        /// The gateway's host and port.
        var place: String {
            (reach.url.host.contains(":") ? "[\(reach.url.host)]" : reach.url.host) + ":\(reach.url.port)"
        }

        /// A wish of a bot.
        package init(reach: HTTPReach, token: String?, authority: String? = nil) {
            (self.reach, self.token, self.authority) = (reach, token, authority)
        }
    }

    private struct Held {
        let link: GatewayLink
        let device: DeviceFile
        let task: Task<Void, Never>
        var bots: Set<String>
    }

    private struct State {
        var held: [Wish: Held] = [:]
        var wishes: [String: Wish] = [:]
        var group: MultiThreadedEventLoopGroup?
    }

    private let state = Mutex(State())
    private let folder: String
    private let version: String
    private let clock: any WallClock
    private let reread: @Sendable (String) -> String?
    private let report: @Sendable (_ bot: String, _ place: String, GatewayLink.State?) -> Void
    private let follow: Follower
    private let watch: LinkWatch

    /// Begins to follow a link, and returns what hears of what happens on it; nil: the link is no longer kept.
    ///
    /// It is handed the link's place, and the names of its bots.
    package typealias Follower =
        @Sendable (GatewayLink, _ place: String, _ bots: @escaping @Sendable () -> [String]) ->
        @Sendable (GatewayLink.Signal?) -> Void

    /// A pool that keeps what gateways know this device by in `folder`, and reports how the gateway of each bot is; nil: it
    /// has none any more.
    ///
    /// `reread` returns the token of a bot as it is now.
    package init(
        folder: String, version: String, clock: any WallClock,
        reread: @escaping @Sendable (String) -> String?,
        report: @escaping @Sendable (_ bot: String, _ place: String, GatewayLink.State?) -> Void,
        follow: @escaping Follower = { _, _, _ in { _ in } }
    ) {
        self.follow = follow
        (self.folder, self.version, self.clock) = (folder, version, clock)
        watch = LinkWatch(clock: clock)
        (self.reread, self.report) = (reread, report)
    }

    /// The link of the bot; nil: it has none.
    package func link(of bot: String) -> GatewayLink? {
        state.withLock { state in state.wishes[bot].flatMap { state.held[$0]?.link } }
    }

    /// Connects what these bots need, and nothing else; what waits tries again at once.
    package func update(_ wishes: [String: Wish]) {
        let (left, kept, removed, added) = state.withLock { state in
            let added = wishes.keys.filter { state.wishes[$0] != wishes[$0] }
            let removed = state.wishes.keys.filter { wishes[$0] == nil }
            state.wishes = wishes
            let needed = Dictionary(grouping: wishes.keys) { wishes[$0] }
            let left = state.held.filter { needed[$0.key] == nil }
            for wish in left.keys { state.held[wish] = nil }
            let kept = state.held.values.map(\.link)
            for case (let wish?, let names) in needed {
                let bots = Set(names)
                if state.held[wish] != nil {
                    state.held[wish]?.bots = bots
                } else {
                    state.held[wish] = begin(wish, for: bots, &state.group)
                }
            }
            return (left.values.map(\.task), kept, removed, added)
        }
        for task in left { task.cancel() }
        for bot in removed { report(bot, "", nil) }
        for bot in added { wishes[bot].map { report(bot, $0.place, .connecting) } }
        for link in kept { Task { await link.retry() } }
    }

    /// Ends all connections.
    package func close() {
        let (tasks, group) = state.withLock { state in
            defer { state = State() }
            return (state.held.values.map(\.task), state.group)
        }
        for task in tasks { task.cancel() }
        group?.shutdownGracefully { _ in }
    }

    private func begin(
        _ wish: Wish, for bots: Set<String>, _ group: inout MultiThreadedEventLoopGroup?
    ) -> Held {
        let threads = group ?? MultiThreadedEventLoopGroup(numberOfThreads: 1)
        group = threads
        let bot = bots.min() ?? ""
        let device = DeviceFile(folder: folder, host: wish.reach.url.host, port: wish.reach.url.port)
        let setup = makeSetup(wish, of: bot, device, threads)
        let link = GatewayLink(setup) { [weak self] in self?.note($0, of: wish) }
        let bots = bots
        let names: @Sendable () -> [String] = { [weak self] in self?.bots(of: wish) ?? bots.sorted() }
        let task = Task { [follow] in
            let note = follow(link, wish.place, names)
            await link.run(noting: note)
            note(nil)
        }
        return Held(link: link, device: device, task: task, bots: bots)
    }

    private func makeSetup(
        _ wish: Wish, of bot: String, _ device: DeviceFile, _ threads: MultiThreadedEventLoopGroup,
        scopes: [String] = GatewayIdentity.scopes
    ) -> GatewaySetup {
        GatewaySetup(
            reach: wish.reach, token: { [reread] in wish.token == nil ? nil : reread(bot) ?? wish.token },
            device: device, version: version, clock: clock, group: threads, scopes: scopes,
            authority: wish.authority, watch: watch)
    }

    private func bots(of wish: Wish) -> [String] { state.withLock { ($0.held[wish]?.bots ?? []).sorted() } }

    /// Runs `body` on a connection of the bot's gateway that may also administrate it, and ends that.
    ///
    /// - Returns: nil where the bot has no gateway.
    package func administrate<Value: Sendable>(
        _ bot: String, _ body: (GatewayLink) async -> Value
    ) async -> Value? {
        let setup: GatewaySetup? = state.withLock { state in
            guard let wish = state.wishes[bot], let held = state.held[wish], let threads = state.group else {
                return nil
            }
            return makeSetup(wish, of: bot, held.device, threads, scopes: GatewayIdentity.administration)
        }
        guard let setup else { return nil }
        let link = GatewayLink(setup) { _ in }
        let task = Task { await link.run() }
        defer { task.cancel() }
        return await body(link)
    }

    private func note(_ news: GatewayLink.State, of wish: Wish) {
        for bot in state.withLock({ $0.held[wish]?.bots ?? [] }) { report(bot, wish.place, news) }
    }
}

extension GatewayLink {
    /// How many pages of jobs are read at most.
    private static let pages = 50

    /// What the gateway's scheduler shows now; `removed` are the jobs that it reported as removed.
    ///
    /// - Throws: ``CallFailure/unsettled`` where the list changes under each attempt to read it whole.
    package func look(removed: Set<String> = []) async throws(CallFailure) -> GatewayLook {
        let began = clock.now
        for _ in 0..<3 {
            guard let jobs = try await allJobs() else { continue }
            let log = try await call(.cronRuns(limit: 200))
            let runs = (log["entries"]?.elements ?? []).compactMap { GatewayRun($0) }
            return GatewayLook(
                at: began, jobs: jobs, runs: runs, removed: removed, version: hello?.version ?? 4)
        }
        throw .unsettled
    }

    /// All jobs; nil: somebody added or removed some meanwhile, or the gateway's pages have no end.
    private func allJobs() async throws(CallFailure) -> [GatewayJob]? {
        var jobs: [GatewayJob] = []
        var ids: Set<String> = []
        var offset = 0
        for _ in 0..<Self.pages {
            let page = try await call(.cronJobs(from: offset))
            let found = page["jobs"]?.elements ?? []
            jobs += found.compactMap { GatewayJob($0) }.map { job in
                var job = job
                job.offset = StaggerOffset.of(job.id, within: job.stagger)
                return job
            }
            ids.formUnion(jobs.suffix(found.count).map(\.id))
            guard ids.count == jobs.count else { return nil }
            offset += found.count
            let total = page["total"]?.int ?? offset
            guard page["hasMore"] == .bool(true), !found.isEmpty else {
                return offset == total ? jobs : nil
            }
        }
        return nil
    }

    /// Enables or disables a job; needs the scope of administrators.
    package func setEnabled(_ isEnabled: Bool, _ job: GatewayJob) async throws(CallFailure) {
        let revision = (hello?.version ?? 3) >= 4 ? job.revision : nil
        _ = try await call(.cronUpdate(job.id, ["enabled": .bool(isEnabled)], revision: revision))
    }
}

/// By how much a gateway moves the runs of one job, so that not all of them begin in one second.
///
/// - Source: openclaw.md 8.2; the vectors in the tests are the gateway's own.
package enum StaggerOffset {
    /// The first four bytes of the SHA-256 of the job's id, modulo the largest delay in milliseconds.
    package static func of(_ job: String, within stagger: Duration) -> Duration {
        let limit = stagger.milliseconds
        guard limit > 0 else { return .zero }
        let number = SHA256.hash(data: Array(job.utf8)).prefix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return .milliseconds(number % limit)
    }
}

/// Looks after the connections of many links with one task, which sleeps until the first of them is due: a thousand that
/// are idle cost one timer.
package actor LinkWatch {
    /// When a connection is to be looked at next, and how.
    private struct Turn {
        var due: Duration
        /// Looks at it, and returns when to look again, since boot; nil: never.
        let look: @Sendable () async -> Duration?
    }

    /// With more than this many connections those that are due soon are looked at together.
    private static let few = 16
    /// How much later a look may come then.
    private static let slack = Duration.seconds(1)

    private let clock: any WallClock
    private var turns: [Int: Turn] = [:]
    private var lastTicket = 0
    private var sleeper: Task<Void, Never>?
    /// When, since boot, the sleeper wakes.
    private var armed: Duration?

    /// A watch that looks after nothing yet.
    package init(clock: any WallClock) { self.clock = clock }

    deinit { sleeper?.cancel() }

    /// Looks at a connection at `due`, since boot, and then whenever `look` says.
    func add(at due: Duration, _ look: @escaping @Sendable () async -> Duration?) {
        lastTicket += 1
        turns[lastTicket] = Turn(due: due, look: look)
        arm(for: due)
    }

    private func arm(for due: Duration) {
        let due = turns.count > Self.few ? due + Self.slack : due
        if let armed, armed <= due { return }
        sleeper?.cancel()
        armed = due
        let wake = clock.now + max(due - clock.sinceBoot, .milliseconds(1))
        sleeper = Task { [weak self, clock] in
            try? await clock.sleep(until: wake)
            if !Task.isCancelled { await self?.serve() }
        }
    }

    private func serve() async {
        (armed, sleeper) = (nil, nil)
        let now = clock.sinceBoot
        for (ticket, turn) in turns.filter({ $0.value.due <= now }) {
            let next = await turn.look()
            turns[ticket]?.due = next ?? turn.due
            if next == nil { turns[ticket] = nil }
        }
        if let first = turns.values.map(\.due).min() { arm(for: first) }
    }
}
