import API
import APIServer
import DesktopChannel
import Engine
import GatewayClient
import Glibc
import Host
import Ledger
import Logging
import ServiceLifecycle
import Timeline

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
            ("house", house.run),
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

    /// Finishes, whenever a gateway shows its jobs, what a crash or a lost connection left half done.
    private func settleTakenJobs() async throws {
        for await _ in ground.gatewayBoard.taps() {
            do throws(EngineError) {
                try await control.settleTakenJobs()
            } catch {
                if case .stopping = error { throw error }
                ground.logger.warning(
                    "a job of a gateway is half taken over", metadata: ["reason": "\(error)"])
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
