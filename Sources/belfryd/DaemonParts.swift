import API
import APIServer
import Bots
import Curl
import Delivery
import Engine
import GatewayClient
import Glibc
import Host
import Ledger
import Logging
import Settings
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
            lookAtPlace: { [place = ground.place] in place.check() }, logger: logger)
        items = ItemKeeper(
            ledger: ledger, clock: clock, board: board, activeConfiguration: activeConfiguration,
            makeID: ground.makeID,
            logger: logger)
        replies = ReplyKeeper(
            ledger: ledger, clock: clock, slots: slots, census: census, makeID: ground.makeID,
            speakers: ground.speakers, logger: logger)
        questions = QuestionKeeper(ledger: ledger, clock: clock, runs: runs, logger: logger)
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
