package import Delivery
package import Ledger
package import Logging
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
