import API
import APIServer
import Bots
import Curl
import Delivery
import DesktopChannel
import Engine
import GatewayClient
import Glibc
import Host
import Ledger
import Logging
import ServiceLifecycle
import Timeline
import WardenProtocol

/// The parts of a running daemon, made in the order in which they need each other.
struct DaemonParts {
    let ground: DaemonGround
    let control: Control
    let items: ItemKeeper
    let replies: ReplyKeeper
    let questions: QuestionKeeper
    let finish: FinishKeeper
    let progress: ProgressKeeper
    let judge: JudgeKeeper
    let bots: BotKeeper
    let watcher: GatewayKeeper
    let expectations: ExpectationKeeper
    let house: HouseKeeper
    let pump: OutboxPump
    let surfaces: SurfaceKeeper
    let fallbacks: FallbackKeeper
    let heartbeats: HeartbeatKeeper
    let sleep: SleepWatch
    let network: NetworkWatch
    let spool: SpoolDoor
    let identity: DaemonIdentity
    private let warden: WardenClient

    init(paths: Paths, files: ConfigurationFiles, logger: Logger) async throws {
        ground = try await DaemonGround(paths: paths, files: files, logger: logger)
        let (ledger, clock, activeConfiguration) = (ground.ledger, ground.clock, ground.activeConfiguration)
        let channelBoard = ChannelBoard()
        let board = try await ground.makeBoard()
        let (census, notes) = (RunCensus(), RunNotes())
        let (news, newsEnd) = AsyncStream<Never>.makeStream()
        let slots = try await ground.makeSlots(census, notes, news: news)
        warden = try WardenClient(
            directory: paths.warden,
            launching: WardenLaunch(executable: try Self.wardenProgram(), state: paths.state))
        let runs = try Self.makeRuns(on: ground, board, census, notes, over: warden, news: newsEnd, logger)
        watcher = ground.makeGatewayKeeper()
        control = ground.makeControl(board, slots, runs, channelBoard, watcher)
        house = try await HouseKeeper(
            ledger: ledger, clock: clock, places: ground.places,
            removeOutput: {
                OutputLog(path: $0).remove()
                ReplyFiles.remove(besides: $0)
                ToolLog(besides: $0).remove()
            },
            lookAtPlace: { [place = ground.place] in place.check() }, trimMemory: Machine.trimMemory,
            logger: logger)
        items = ItemKeeper(
            ledger: ledger, clock: clock, board: board, activeConfiguration: activeConfiguration,
            makeID: ground.makeID,
            logger: logger)
        replies = ReplyKeeper(
            ledger: ledger, clock: clock, slots: slots, census: census, makeID: ground.makeID,
            speakers: ground.speakers, logger: logger)
        questions = QuestionKeeper(
            ledger: ledger, clock: clock, runs: runs, askers: control.askers, logger: logger)
        expectations = ExpectationKeeper(
            ledger: ledger, clock: clock, zones: ground.zones.lookup, logger: logger)
        finish = FinishKeeper(ledger: ledger, clock: clock, board: board, logger: logger)
        progress = ProgressKeeper(
            ledger: ledger, clock: clock, board: board, activeConfiguration: activeConfiguration,
            logger: logger)
        judge = JudgeKeeper(ledger: ledger, clock: clock, board: board, logger: logger)
        bots = BotKeeper(
            ledger: ledger, desk: ground.desk, activeConfiguration: activeConfiguration, clock: clock,
            logger: logger)
        var tools = ChannelTools(
            ledger: ledger, clock: clock, activeConfiguration: activeConfiguration, board: channelBoard,
            makeID: ground.makeID, logger: logger)
        tools.act = { [control] in await control.act(on: $0) }
        (pump, surfaces) = (OutboxPump(tools), SurfaceKeeper(tools))
        (fallbacks, heartbeats) = (FallbackKeeper(tools), HeartbeatKeeper(tools))
        network = NetworkWatch(keeper: NetworkKeeper(tools, logger: logger), logger: logger)
        // Before anybody can ask for their state.
        try await pump.recallTroubles()
        identity = Self.identity(paths, ground.places)
        spool = SpoolDoor(control: control, identity: identity, logger: logger)
        sleep = SleepWatch(
            environment: Machine.environment, slots: control.slots, clock: clock, logger: logger)
    }

    /// The keeper of runs, with all who perform them; it finishes `news` once the rows of earlier runs are true.
    private static func makeRuns(
        on ground: DaemonGround, _ board: LiveBoard, _ census: RunCensus, _ notes: RunNotes,
        over warden: WardenClient, news: AsyncStream<Never>.Continuation, _ logger: Logger
    ) throws -> RunKeeper {
        RunKeeper(
            ledger: ground.ledger, clock: ground.clock,
            performers: [
                .warden: try ground.makePrograms(over: warden), .bots: try ground.makeBots(),
                .urls: ground.makeURLs(), .gateways: try ground.makeGateways(),
            ],
            choosing: ground.choosePerformer, board: board, census: census, notes: notes,
            limits: RunLimits(), places: ground.places, zones: ground.zones.lookup, files: files,
            talk: ground.manner, logger: logger, news: news, awaitsJobs: true,
            months: { [desk = ground.desk] in desk.month(of: $0).text })
    }

    private static let files = RunFiles(
        readSecret: { try Secrets.read(.file($0)) },
        changeTime: { Moment(microseconds: try SmallFile.changeTime($0)) },
        readOutput: { try OutputLog(path: $0).read(from: 0, limit: $1).bytes })

    private static func identity(_ paths: Paths, _ places: RunPlaces) -> DaemonIdentity {
        var identity = DaemonIdentity(
            version: Version.text, pid: getpid(), state: paths.state, places: places)
        identity.wardenDirectory = paths.warden
        return identity
    }

    private static func wardenProgram() throws -> String {
        do {
            return try InstalledWarden.path()
        } catch let missing as InstalledWarden.Missing {
            throw Failure("belfryd: \(missing)", hint: "install the three programs together")
        }
    }

    /// Ends what has no loop of its own.
    func close() async {
        warden.close()
        ground.gateways.close()
        ground.curl.close()
        await ground.ledger.close()
    }
}

extension DaemonParts {
    /// Serves until a signal ends it.
    ///
    /// SIGHUP reloads the configuration. With `drains` the first signal to end stops the firing only, and the
    /// end comes with that of the last run.
    func serve(paths: Paths, drains: Bool) async throws {
        let (drainIsAsked, askDrain) = AsyncStream<Never>.makeStream()
        let group = ServiceGroup(
            configuration: configuration(of: services(paths, drainIsAsked: drainIsAsked)))
        // Apart from the signals: one that ends the daemon does not wait for a reload under way.
        let (hangups, hangup) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let reloads = Task { [control, spool, logger = ground.logger] in
            for await _ in hangups {
                await Self.reload(control, logger)
                await spool.takeIn()
            }
        }
        defer { reloads.cancel() }
        let arrivals = try Signals.stream()
        let signals = Task { [logger = ground.logger] in
            var drainsFirst = drains
            for await signal in arrivals {
                switch signal {
                case .hangup: hangup.yield()
                case .interrupt where drainsFirst, .terminate where drainsFirst:
                    drainsFirst = false
                    logger.notice("draining", metadata: ["signal": "\(signal)"])
                    askDrain.finish()
                case .interrupt, .terminate:
                    logger.notice("stopping", metadata: ["signal": "\(signal)"])
                    await group.triggerGracefulShutdown()
                }
            }
        }
        defer { signals.cancel() }
        try await group.run()
    }

    /// Everything with a loop, in the order in which it is started; it is stopped in the reverse order.
    private func services(_ paths: Paths, drainIsAsked: AsyncStream<Never>) -> [any Service] {
        let (isOpen, opened) = AsyncStream<Never>.makeStream()
        let handler = DaemonHandler(
            control: control, identity: identity, spool: spool, tools: ground.tools,
            links: ground.source.links)
        ground.tools.open(handler)
        let door = APIListener(
            path: paths.socket, access: paths.owner == .system ? .group(getegid()) : .owner,
            limits: Daemon.connections,
            handler: handler.handlers,
            logger: ground.logger,
            ready: { opened.finish() })
        let zones = ground.zones
        let keepers: [(String, @Sendable () async throws -> Void)] = [
            // The start first, so that it is stopped last: what it waits for are the others.
            ("start", { try await start(paths, isOpen) }),
            ("slots", { try await fire(until: drainIsAsked) }), ("runs", control.runs.run),
            ("live board", control.board.run),
            ("finish times", finish.run), ("progress", progress.run), ("judge", judge.run),
            ("bots", bots.run),
            ("gateway watch", watcher.run), ("expectations", expectations.run), ("items", items.run),
            ("replies", replies.run), ("questions", questions.run), ("outbox", pump.run),
            ("surfaces", surfaces.run), ("agents", ground.agents.run), ("sleep", sleep.run),
            ("network", network.run),
            ("fallbacks", fallbacks.run), ("heartbeats", heartbeats.run),
            ("house", house.run), ("snapshot", { try await keepSnapshot(of: handler, paths) }),
            ("zone watch", { try await zones.watch(clock: ground.clock, logger: ground.logger) }),
            (
                "zones",
                {
                    await control.slots.takeUpZones(release: zones.release)
                    for await _ in zones.changes { await control.slots.takeUpZones(release: zones.release) }
                }
            ),
            (
                "gateways",
                {
                    for await _ in control.activeConfiguration.taps() {
                        ground.gateways.update(control.activeConfiguration.configuration.gatewayWishes)
                    }
                }
            ),
            ("taken jobs", { try await settleTakenJobs() }),
            (
                "left out",
                {
                    // A reload may leave out more.
                    for await _ in control.activeConfiguration.taps() { try await control.followLeftOut() }
                }
            ),
        ]
        let tcp = DoorListener(Door(handler), limits: Daemon.connections, logger: ground.logger)
        return keepers.map { KeeperService(name: $0.0, body: $0.1) } + [door, tcp]
    }

    /// Keeps the file that bars read beside the socket, for those who may connect to that; none where anybody may put
    /// files of such a name.
    private func keepSnapshot(of handler: DaemonHandler, _ paths: Paths) async throws {
        let path = WireSnapshot.path(beside: paths.socket)
        let mode: UInt32 = paths.owner == .system ? 0o640 : 0o600
        if SmallFile.isInPublicFolder(path) { return try await gracefulShutdown() }
        defer { SmallFile.remove(path) }
        try await LiveSnapshot(handler) { try SmallFile.replace(path, with: $0, mode: mode) }.run()
    }

    /// Finishes, whenever a gateway shows its jobs, what a crash or a lost connection left half done.
    private func settleTakenJobs() async throws {
        for await _ in ground.gatewayBoard.taps() {
            do throws(EngineError) {
                try await control.settleTakenJobs()
            } catch {
                if case .stopping = error { throw error }
                ground.logger.warning(
                    "a gateway's job is only partly taken over", metadata: ["reason": "\(error)"])
            }
        }
    }

    private func configuration(of services: [any Service]) -> ServiceGroupConfiguration {
        var configuration = ServiceGroupConfiguration(
            services: services.map {
                .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
            }, logger: ground.logger)
        // What then is left, the ledger's end above all, has the rest of the five seconds that are promised.
        configuration.maximumGracefulShutdownDuration = .seconds(3)
        return configuration
    }

    /// Decides slots until the daemon is asked to drain; returns then, when every run that was started has ended.
    private func fire(until drainIsAsked: AsyncStream<Never>) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await control.slots.run() }
            group.addTask { for await _ in drainIsAsked {} }
            try await group.next()
            group.cancelAll()
            do { try await group.waitForAll() } catch is CancellationError {}
        }
        try Task.checkCancellation()
        await control.runs.drain()
    }

    /// Loads the jobs of the files, logs the start once commands are served, and stays until the end.
    private func start(_ paths: Paths, _ isOpen: AsyncStream<Never>) async throws {
        let difference = try await control.takeUpJobs()
        try await control.slots.takeUp(boot: ground.boot)
        for await _ in isOpen {}
        try Task.checkCancellation()
        // After the socket is open: a `belfry exec` that ends from now on can report it.
        var underWay = await spool.takeIn()
        ground.logger.notice(
            "started",
            metadata: [
                "version": "\(Version.text)", "pid": "\(getpid())", "socket": "\(paths.socket)",
                "state": "\(paths.state)",
                "config": "\(control.activeConfiguration.configuration.path ?? "none")",
                "jobs.added": "\(difference.added.count)", "jobs.changed": "\(difference.changed.count)",
                "jobs.removed": "\(difference.removed.count)",
            ])
        // One whose `belfry exec` was killed reports nothing: its warden's record must be found.
        while underWay > 0 {
            try await control.clock.sleep(until: control.clock.now + .seconds(30))
            underWay = await spool.takeIn()
        }
        try await gracefulShutdown()
    }

    private static func reload(_ control: Control, _ logger: Logger) async {
        do {
            _ = try await control.reload()
        } catch EngineError.stopping, EngineError.ledger(.closed), LedgerError.closed, is CancellationError {
            // The daemon stops: the next start reads the files.
            return
        } catch {
            logger.error("the configuration was refused; the previous one stays active\n\(error)")
        }
    }
}

/// A keeper's loop as a service that ends with the group.
struct KeeperService: Service {
    let name: String
    let body: @Sendable () async throws -> Void

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await body() }
        } catch is CancellationError {
            return
        } catch EngineError.stopping {
            // What another keeper was asked for does not happen: it was stopped first. A service that returns before its own
            // turn to stop counts as broken, and the daemon's end as a failure.
            try? await gracefulShutdown()
        }
    }
}
