package import Delivery
package import Ledger
package import Logging
import Synchronization
package import Timeline

/// What those who serve channels work with, whatever the kind of their channels.
package struct ChannelTools: Sendable {
    let ledger: any Ledger
    let clock: any WallClock
    let activeConfiguration: ActiveConfiguration
    let board: ChannelBoard
    let makeID: @Sendable () -> String
    let logger: Logger
    /// What of the rates of addresses is used.
    let rates = SharedRates()
    /// How many attempts are under way to each address.
    let places = SharedPlaces()
    /// Publishes that this machine has a new way out: what failed is worth another try.
    package let networkReturns = Broadcast<Void>()
    /// How much may wait for a channel.
    package var room = OutboxRoom.usual
    /// Does what people ask for by the buttons of jobs' notices; left out, nothing.
    package var act: @Sendable (JobPress) async -> Void = { _ in }

    package init(
        ledger: any Ledger, clock: any WallClock, activeConfiguration: ActiveConfiguration,
        board: ChannelBoard, makeID: @escaping @Sendable () -> String, logger: Logger
    ) {
        self.ledger = ledger
        self.clock = clock
        self.activeConfiguration = activeConfiguration
        self.board = board
        self.makeID = makeID
        self.logger = logger
    }

    /// The loop of the keeper of one channel.
    func makeLoop(for channel: any Channel, complaint: Logger.Message) -> KeeperLoop {
        var logger = logger
        logger[metadataKey: "channel"] = "\(channel.name)"
        return KeeperLoop(clock: clock, logger: logger, complaint: complaint)
    }

    /// Serves each channel of the configuration for which `makeWork` returns any, and follows each reload, until
    /// cancelled.
    ///
    /// `reloaded` is called whenever the channels of the configuration are served.
    func serve(
        _ makeWork: (any Channel) -> (@Sendable () async throws -> Void)?,
        reloaded: () async -> Void = {}
    ) async throws {
        var tasks = ChannelTasks(logger: logger)
        for await _ in activeConfiguration.taps() {
            let configuration = activeConfiguration.configuration
            await tasks.serve(
                configuration.channels.compactMap { channel in
                    makeWork(channel).map { (channel.name, configuration.versions[channel.name] ?? 0, $0) }
                })
            await reloaded()
        }
        await tasks.end()
        try Task.checkCancellation()
    }

    /// Notes how a channel is doing after it was sent something; trouble that begins is logged.
    func note(
        _ circuit: CircuitKeeper, after result: Result<Receipt, DeliveryError>, of channel: String,
        at now: Moment, _ logger: Logger
    ) {
        if case .success(let receipt) = result, !receipt.detail.isEmpty {
            logger.warning("delivered in part", metadata: ["reason": "\(receipt.detail)"])
        }
        let (state, error) = circuit.health(after: result)
        guard board.note(state, of: channel, error: error, at: now), state != .working else { return }
        logger.warning("channel failing", metadata: ["reason": "\(error ?? state.rawValue)"])
    }
}

/// The tasks that serve channels: one a channel, kept over a reload that leaves its channel as it is.
struct ChannelTasks {
    private var tasks: [String: (version: Int, task: Task<Void, any Error>)] = [:]
    let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    /// Serves exactly these channels from now on; a channel of another version is served from the start.
    ///
    /// Returns once those that are not served any more have let go.
    mutating func serve(
        _ wanted: [(name: String, version: Int, work: @Sendable () async throws -> Void)]
    ) async {
        let kept = Dictionary(wanted.map { ($0.name, $0.version) }) { first, _ in first }
        let gone = tasks.filter { kept[$0.key] != $0.value.version }
        for (_, task) in gone.values { task.cancel() }
        for (name, entry) in gone {
            _ = await entry.task.result
            tasks[name] = nil
        }
        for (name, version, work) in wanted where tasks[name] == nil {
            let logger = logger
            let task = Task {
                do {
                    try await work()
                } catch is CancellationError {
                    throw CancellationError()
                } catch {
                    logger.error(
                        "a channel is no longer served",
                        metadata: ["channel": "\(name)", "reason": "\(error)"])
                }
            }
            tasks[name] = (version, task)
        }
    }

    /// Ends all of them, and returns when they have let go.
    mutating func end() async { await serve([]) }
}

/// How much of their rates addresses have used, shared by all lines.
///
/// Two channels with one address and one secret are one endpoint.
final class SharedRates: Sendable {
    private let rates = Mutex(EndpointRates())

    /// When something may be sent to the channel; nil: now.
    func nextAt(for channel: any Channel, on clock: any WallClock) -> Moment? {
        guard let rate = channel.form.carrier.service?.rate else { return nil }
        let wait = rates.withLock { $0.wait(for: channel.identity, rate, at: clock.sinceBoot) }
        return wait > .zero ? clock.now + wait : nil
    }

    /// Notes a request to the channel.
    func take(for channel: any Channel, on clock: any WallClock) {
        guard let rate = channel.form.carrier.service?.rate else { return }
        rates.withLock { $0.take(for: channel.identity, rate, at: clock.sinceBoot) }
    }
}

/// How many attempts are under way to each address, shared by all lines: two channels to one address are one burden to it.
final class SharedPlaces: Sendable {
    /// How many attempts are under way to one address at most.
    static let width = 4

    private struct Address {
        var taken = 0
        /// Who is rung when there is a place again.
        var waiting: [Bell] = []
    }

    private let addresses = Mutex<[String: Address]>([:])

    /// Takes a place; where there is none, `bell` is rung once there is one.
    func take(for channel: any Channel, ringing bell: Bell) -> Bool {
        addresses.withLock { addresses in
            var address = addresses[channel.identity] ?? Address()
            defer { addresses[channel.identity] = address }
            guard address.taken < Self.width else {
                if !address.waiting.contains(where: { $0 === bell }) { address.waiting.append(bell) }
                return false
            }
            address.taken += 1
            return true
        }
    }

    /// Gives a place back.
    func giveBack(for channel: any Channel) {
        let bells = addresses.withLock { addresses -> [Bell] in
            guard var address = addresses[channel.identity] else { return [] }
            address.taken -= 1
            let bells = address.waiting
            address.waiting = []
            addresses[channel.identity] = address.taken > 0 ? address : nil
            return bells
        }
        for bell in bells { bell.ring() }
    }
}

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
                logger.info("network changed; failing channels are retried")
                tools.networkReturns.publish(())
            }
        }
    }
}
