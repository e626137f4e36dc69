import API
import APIClient
import APIServer
import Delivery
import Engine
import Glibc
import Host
import Ledger
import LedgerSQLite
import Logging
import ServiceLifecycle
import TestSupport
import Timeline
import WardenProtocol

/// A daemon's keepers over a fresh ledger and a warden of their own, with the API in front.
struct House: Sendable {
    let folder: TemporaryFolder
    let ledger: SQLiteLedger
    let control: Control
    let handler: DaemonHandler
    let handlers: HandlerTable
    let client: DaemonClient

    /// The states in which the outbox stores its entries.
    static var outboxStates: [String] { OutboxState.allCases.map(\.rawValue) }

    /// Runs `body` while the house stands.
    static func whileStanding<Result: Sendable>(
        loading: Loading = Loading(), _ body: @escaping @Sendable (House) async throws -> Result
    ) async throws -> Result {
        let folder = try TemporaryFolder()
        let socket = folder.file("belfry.sock")
        let keepers = try await Keepers(folder: folder, socket: socket, loading: loading)
        var identity = DaemonIdentity(
            version: "0.0.0-test", pid: getpid(), state: folder.path, places: keepers.places)
        identity.wardenDirectory = folder.file("warden")
        let answers = DaemonHandler(control: keepers.control, identity: identity)
        let handlers = answers.handlers
        let (ready, opened) = AsyncStream.makeStream(of: Int.self)
        let listener = APIListener(
            path: socket, access: .owner, handler: handlers, logger: Logger(label: "api"),
            ready: { opened.yield(0) })
        let house = House(
            folder: folder, ledger: keepers.ledger, control: keepers.control, handler: answers,
            handlers: handlers,
            client: DaemonClient(socket: socket, timeout: .seconds(60), longest: .seconds(120)))
        return try await whileServing([keepers, listener], ready: ready) { _ in try await body(house) }
    }

    /// What the command line answered.
    struct Answer: Sendable {
        var status: Int32
        var output: String
        var errors: String
    }

    /// Runs the built `belfry` with `arguments`, and the house's socket in its environment.
    func belfry(_ arguments: String...) async throws -> Answer {
        try await belfry(arguments)
    }

    func belfry(_ arguments: [String], environment: [String: String] = [:]) async throws -> Answer {
        try await run(try BuiltProgram.path("belfry"), arguments, environment: environment)
    }

    /// Runs a program with `arguments`, and the house's socket in its environment.
    func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> Answer {
        let name = UniqueID.v4()
        let output = folder.file("\(name).out")
        let errors = folder.file("\(name).err")
        var variables = Machine.environment
        variables["TZ"] = "UTC"
        // A machine that is busy with other tests answers late.
        variables["BELFRY_TIMEOUT"] = "60"
        variables.merge(environment) { $1 }
        variables["BELFRY_SOCKET"] = client.socket
        let flags = O_CREAT | O_WRONLY | O_TRUNC
        let pid = try ChildProgram(
            path: program, arguments: [program] + arguments, environment: variables,
            folder: folder.path,
            descriptors: [
                Descriptor.open("/dev/null", O_RDONLY), Descriptor.open(output, flags, mode: 0o600),
                Descriptor.open(errors, flags, mode: 0o600),
            ]
        ).start()
        let status = try await blocking {
            var status: Int32 = 0
            unsafe waitpid(pid, &status, 0)
            return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
        }
        return Answer(status: status, output: try Self.text(output), errors: try Self.text(errors))
    }

    private static func text(_ path: String) throws -> String {
        String(decoding: try SmallFile.read(path, limit: 1 << 22), as: UTF8.self)
    }
}

/// The keepers of the engine, as the daemon runs them.
private struct Keepers: Service {
    let ledger: SQLiteLedger
    let control: Control
    let places: RunPlaces
    private let items: ItemKeeper

    init(folder: TemporaryFolder, socket: String, loading: Loading) async throws {
        let logger = Logger(label: "keepers") { _ in SwiftLogNoOpLogHandler() }
        ledger = try SQLiteLedger(path: folder.file("ledger.sqlite"))
        let clock = try SystemClock()
        let makeID: @Sendable () -> String = { UniqueID.v7(at: clock.now) }
        let zones: ZoneLookup = { try? ZoneFiles().rules(of: $0) }
        let configuration = EngineConfiguration(
            path: nil, zone: "UTC", bots: ["belfry": BotProfile(name: "belfry")], jobs: [],
            routing: Routing(routes: []), channels: [])
        let activeConfiguration = ActiveConfiguration(configuration)
        let (census, notes) = (RunCensus(), RunNotes())
        let board = LiveBoard(ledger: ledger, clock: clock, incarnation: 1, logger: logger)
        var launch = WardenLaunch(
            executable: try BuiltProgram.path("belfry-warden"), state: folder.path,
            tiedTo: getpid())
        launch.startTimeout = .seconds(60)
        try PrivateFolder.make(folder.file("output"))
        places = RunPlaces(
            outputFolder: folder.file("output"), socket: socket, boot: try Machine.bootID())
        let slots = try await SlotKeeper(
            ledger: ledger, clock: clock, zones: zones, census: census, notes: notes, makeID: makeID,
            logger: logger)
        let runs = RunKeeper(
            ledger: ledger, clock: clock,
            performers: [.warden: try WardenClient(directory: folder.file("warden"), launching: launch)],
            board: board, census: census, notes: notes, limits: RunLimits(), places: places,
            zones: zones,
            files: RunFiles(
                readSecret: { try SmallFile.text($0) },
                changeTime: { Moment(microseconds: try SmallFile.changeTime($0)) },
                readOutput: { try OutputLog(path: $0).read(from: 0, limit: $1).bytes }), logger: logger)
        items = ItemKeeper(
            ledger: ledger, clock: clock, board: board, activeConfiguration: activeConfiguration,
            makeID: makeID,
            logger: logger)
        control = Control(
            ledger: ledger, clock: clock, board: board, slots: slots, runs: runs,
            activeConfiguration: activeConfiguration,
            channels: ChannelBoard(), configurationPath: folder.file("belfry.yaml"), zones: zones,
            makeID: makeID, readConfiguration: { throw ReloadRefusal(description: "belfry.yaml:3:1: no") },
            loading: loading, logger: logger)
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await control.slots.run() }
                group.addTask { try? await control.runs.run() }
                group.addTask { try? await control.board.run() }
                group.addTask { try? await items.run() }
            }
        }
    }
}

/// Runs `services` until `body` is done, and stops them.
func whileServing<Result: Sendable>(
    _ services: [any Service], ready: AsyncStream<Int>,
    _ body: @escaping @Sendable (Int) async throws -> Result
) async throws -> Result {
    let group = ServiceGroup(services: services, logger: Logger(label: "api"))
    return try await withThrowingTaskGroup(of: Result?.self) { tasks in
        tasks.addTask {
            try await group.run()
            return nil
        }
        var readiness = ready.makeAsyncIterator()
        guard let port = await readiness.next() else { throw CancellationError() }
        do {
            let result = try await body(port)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return result
        } catch {
            await group.triggerGracefulShutdown()
            throw error
        }
    }
}

/// Serves the API by `handler` on a fresh socket while `body` runs.
func whileServing<Result: Sendable>(
    _ handler: some APIHandler, limits: ConnectionLimits = ConnectionLimits(),
    waits: ConnectionPatience = ConnectionPatience(),
    _ body: @escaping @Sendable (DaemonClient) async throws -> Result
) async throws -> Result {
    let folder = try TemporaryFolder()
    let path = folder.file("belfry.sock")
    let (ready, opened) = AsyncStream.makeStream(of: Int.self)
    let listener = APIListener(
        path: path, access: .owner, limits: limits, waits: waits, handler: handler,
        logger: Logger(label: "api"),
        ready: { opened.yield(0) })
    return try await whileServing([listener], ready: ready) { _ in
        // A busy machine may need longer than the patience of a person at a terminal.
        try await body(DaemonClient(socket: path, timeout: .seconds(60), longest: .seconds(120)))
    }
}

/// Carries what belongs to one reader from the thread that read it to the next one.
struct Held<Value>: @unchecked Sendable {
    // SAFE: the threads use it one after the other; the test awaits each before it starts the next.
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// The built `belfry` without a daemon, in a folder of its own.
struct CommandRun {
    let folder: TemporaryFolder

    init() throws(HostError) { folder = try TemporaryFolder() }

    /// Runs `belfry` with `arguments`, a part of a shell's line, in a machine whose zone is UTC.
    func belfry(_ arguments: String, input: String = "") async throws -> House.Answer {
        try SmallFile.replace(folder.file("in"), with: Array(input.utf8))
        let program = try BuiltProgram.path("belfry")
        let status = try await Shell.run(
            "TZ=UTC '\(program)' \(arguments) < in > out 2> err", in: folder.path)
        return House.Answer(status: status, output: try text("out"), errors: try text("err"))
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try SmallFile.read(folder.file(name), limit: 1 << 24), as: UTF8.self)
    }
}
