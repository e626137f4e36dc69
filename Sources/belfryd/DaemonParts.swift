import APIServer
import Curl
import Engine
import FoundationEssentials
import Glibc
import Host
import Ledger
import Logging
import ServiceLifecycle
import Settings
import Timeline
import WardenProtocol

/// The parts of a running daemon, made in the order in which they need each other.
struct DaemonParts {
    let control: Control
    private let ledger: any Ledger
    private let items: ItemKeeper
    private let house: HouseKeeper
    private let pump: OutboxPump
    private let surfaces: SurfaceKeeper
    private let warden: WardenClient
    private let curl: CurlMulti
    private let identity: DaemonIdentity
    private let zones: Zones
    private let spool: SpoolDoor
    /// This start of the machine.
    private let boot: String
    private let sleep: SleepWatch
    private let logger: Logger

    init(paths: Paths, files: ConfigurationFiles, logger: Logger) async throws {
        let clock = try SystemClock()
        let zones = Zones()
        let makeID: @Sendable () -> String = { UniqueID.v7(at: clock.now) }
        let curl = try CurlMulti()
        let channels = Channels(curl: curl, clock: clock, logger: logger)
        let read: @Sendable (_ leavesOut: Bool) async throws -> EngineConfiguration = { leavesOut in
            zones.forget()
            let edition = files.edition
            let configuration: Configuration
            do {
                configuration = try files.read(leavesOut: leavesOut)
            } catch let error as SettingsError {
                throw ReloadRefusal(error)
            } catch let failure as Failure {
                throw ReloadRefusal(description: failure.message)
            }
            let made =
                leavesOut
                ? try await channels.channels(
                    leavingOutOf: configuration.channels, configuration.leftOut)
                : try await channels.channels(configuration.channels)
            return EngineConfiguration(
                configuration, path: files.exists ? files.path : nil, channels: made, edition: edition)
        }
        let configuration: EngineConfiguration
        do {
            configuration = try await read(true)
        } catch let refusal as ReloadRefusal {
            throw Failure(refusal.description, code: 2)
        }

        let choice = LedgerChoice(state: paths.state)
        let ledger = try choice.open()
        let place = StatePlace(ledger: choice.path, logger: logger)
        let incarnation = try await Self.nextIncarnation(ledger)
        let (census, notes) = (RunCensus(), RunNotes())
        let channelBoard = ChannelBoard()
        let switchboard = Switchboard(configuration)
        let board = LiveBoard(ledger: ledger, clock: clock, incarnation: incarnation, logger: logger)
        let (news, newsTold) = AsyncStream<Never>.makeStream()
        let slots = try await SlotKeeper(
            ledger: ledger, clock: clock, zones: { zones.rules(of: $0) }, census: census, notes: notes,
            makeID: makeID,
            logger: logger,
            machine: ClockEdges(isSynchronised: { Machine.isClockSynchronised }, slept: { Duration.slept }),
            news: news, awaitsJobs: true)
        let warden = try WardenClient(
            directory: paths.warden,
            launching: WardenLaunch(executable: try Self.wardenProgram(), state: paths.state))
        boot = try Machine.bootID()
        let places = RunPlaces(
            outputFolder: paths.state + "/output", socket: paths.socket, boot: boot)
        let runs = RunKeeper(
            ledger: ledger, clock: clock, performers: [.warden: warden], board: board, census: census,
            notes: notes, limits: RunLimits(), places: places, zones: { zones.rules(of: $0) }, logger: logger,
            news: newsTold, awaitsJobs: true)
        control = Control(
            ledger: ledger, clock: clock, board: board, slots: slots, runs: runs, switchboard: switchboard,
            channels: channelBoard, configurationPath: files.path, zones: { zones.rules(of: $0) },
            makeID: makeID, readConfiguration: { try await read(false) },
            houseFacts: HouseFacts(files: files, switchboard: switchboard, state: place).problems,
            reopenChannel: { await channels.reopen($0) }, machine: .ofThisMachine,
            loading: Loading(isDone: false), logger: logger)
        house = try await HouseKeeper(
            ledger: ledger, clock: clock, places: places,
            removeOutput: { OutputLog(path: $0).remove() }, lookAtPlace: { place.look() }, logger: logger)
        items = ItemKeeper(
            ledger: ledger, clock: clock, board: board, switchboard: switchboard, makeID: makeID,
            logger: logger)
        pump = OutboxPump(
            ledger: ledger, clock: clock, switchboard: switchboard, channels: channelBoard, logger: logger)
        surfaces = SurfaceKeeper(
            ledger: ledger, clock: clock, switchboard: switchboard, channels: channelBoard, logger: logger)
        // Before anybody can ask how they are.
        try await pump.recallTroubles()
        var identity = DaemonIdentity(
            version: Version.text, pid: getpid(), state: paths.state, places: places)
        identity.wardenDirectory = paths.warden
        self.identity = identity
        spool = SpoolDoor(control: control, identity: identity, logger: logger)
        self.zones = zones
        sleep = SleepWatch(
            environment: Machine.environment, slots: control.slots, clock: clock, logger: logger)
        self.ledger = ledger
        self.warden = warden
        self.curl = curl
        self.logger = logger
    }

    private static func wardenProgram() throws -> String {
        do {
            return try InstalledWarden.path()
        } catch let missing as InstalledWarden.Missing {
            throw Failure("belfryd: \(missing)", hint: "install the three programs together")
        }
    }

    /// Watches the zone files until cancelled; where the kernel has no watch left, it tries again every half minute.
    private func watchZones() async throws {
        var isLogged = false
        while true {
            do throws(HostError) {
                let watch = try FolderWatch(zones.folder) { [zones] in zones.forget() }
                // It does not report what changed before it.
                zones.forget()
                try? await gracefulShutdown()
                return withExtendedLifetime(watch) {}
            } catch {
                if !isLogged {
                    logger.warning(
                        "the zone data can't be watched; a reload reads it", metadata: ["reason": "\(error)"])
                }
                isLogged = true
                guard case .system(_, EMFILE, _) = error else { return try await gracefulShutdown() }
            }
            try await control.clock.sleep(until: control.clock.now + .seconds(30))
        }
    }

    /// How often a daemon was started on this state, this start included.
    private static func nextIncarnation(_ ledger: any Ledger) async throws(LedgerError) -> Int64 {
        let last = try await ledger.fact(named: "incarnation").flatMap { Int64($0) } ?? 0
        try await ledger.commit([.setFact(name: "incarnation", value: String(last + 1))])
        return last + 1
    }

    /// Serves until a signal ends it.
    ///
    /// SIGHUP reloads the configuration. With `drains` the first signal to end stops the firing only, and the
    /// end comes with that of the last run.
    func serve(paths: Paths, drains: Bool) async throws {
        let access: APIListener.Access = paths.owner == .system ? .group(getegid()) : .owner
        let (isOpen, opened) = AsyncStream<Never>.makeStream()
        let (drainIsAsked, askDrain) = AsyncStream<Never>.makeStream()
        let door = APIListener(
            path: paths.socket, access: access, limits: Daemon.connections,
            handler: DaemonHandler(control: control, identity: identity, spool: spool).handlers,
            logger: logger,
            ready: { opened.finish() })
        let keepers: [(String, @Sendable () async throws -> Void)] = [
            ("slots", { try await fire(until: drainIsAsked) }), ("runs", control.runs.run),
            ("live board", control.board.run),
            ("items", items.run), ("outbox", pump.run), ("surfaces", surfaces.run), ("sleep", sleep.run),
            ("house", house.run),
        ]
        // The start first, so that it is stopped last: what it waits for are the others.
        var services: [any Service] = [KeeperService(name: "start") { try await start(paths, isOpen) }]
        services += keepers.map { KeeperService(name: $0.0, body: $0.1) }
        services.append(KeeperService(name: "zone watch") { try await watchZones() })
        services.append(
            KeeperService(name: "zones") {
                await control.slots.takeUpZones(release: zones.release)
                for await _ in zones.changes { await control.slots.takeUpZones(release: zones.release) }
            })
        services.append(
            KeeperService(name: "left out") {
                try await control.followLeftOut()
                try await gracefulShutdown()
            })
        services.append(door)
        var configuration = ServiceGroupConfiguration(
            services: services.map {
                .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
            }, logger: logger)
        // What then is left, the ledger's end above all, has the rest of the five seconds that are promised.
        configuration.maximumGracefulShutdownDuration = .seconds(3)
        let group = ServiceGroup(configuration: configuration)
        // Apart from the signals: one that ends the daemon does not wait for a reload under way.
        let (hangups, hangup) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let reloads = Task { [control, spool] in
            for await _ in hangups {
                await Self.reload(control, logger)
                await spool.takeIn()
            }
        }
        defer { reloads.cancel() }
        let arrivals = try Signals.stream()
        let signals = Task {
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
        try await control.slots.takeUp(boot: boot)
        for await _ in isOpen {}
        try Task.checkCancellation()
        // After the socket is open: a `belfry exec` that ends from now on can report it.
        var underWay = await spool.takeIn()
        logger.notice(
            "started",
            metadata: [
                "version": "\(Version.text)", "pid": "\(getpid())", "socket": "\(paths.socket)",
                "state": "\(paths.state)", "config": "\(control.switchboard.configuration.path ?? "none")",
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

    /// Ends what has no loop of its own.
    func close() async {
        warden.close()
        curl.close()
        await ledger.close()
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
            // What another keeper was asked for does not happen: it was stopped first. Whoever returns before its own
            // turn to stop counts as broken, and the daemon's end as a failure.
            try? await gracefulShutdown()
        }
    }
}
