import API
import APIServer
import Bots
import Curl
import Delivery
import DesktopChannel
import Engine
import GatewayClient
import Host
import Ledger
import LedgerSQLite
import Logging
import Performing
import ProgramChannel
import Prompting
import Settings
import WardenProtocol

/// What the keepers stand on: the clock, the zones, the configuration in use and the ledger.
struct DaemonGround {
    let paths: Paths
    let clock: SystemClock
    let zones: ZoneCache
    let curl: CurlMulti
    /// Who has the programs of channels run.
    let programs: ProgramDesk
    /// Where agents of users connect.
    let agents: AgentHub
    let source: ConfigurationSource
    let activeConfiguration: ActiveConfiguration
    let ledger: any Ledger
    let place: StatePlace
    /// This start of the machine.
    let boot: String
    /// What is known of the bots.
    let desk: BotDesk
    /// What bots may call.
    let tools: ToolDesk
    /// What is known of the jobs of gateways.
    let gatewayBoard = GatewayBoard()
    /// The newest prompts that were sent to gateways.
    let sent: SentPrompts
    /// The connections to gateways.
    let gateways: GatewayPool
    let logger: Logger

    /// Reads the configuration, then opens the ledger; nothing is opened where the configuration is refused.
    init(paths: Paths, files: ConfigurationFiles, logger: Logger) async throws {
        self.paths = paths
        self.logger = logger
        clock = try SystemClock()
        zones = ZoneCache()
        curl = try CurlMulti()
        let reader = WebReader(curl: curl, userAgent: "Belfry/\(Version.text)")
        tools = ToolDesk(
            world: ToolWorld(
                fetch: { await reader.page($0.address, from: $0.from, allow: $1.allow) },
                search: { await reader.search($0.words, count: $0.count, by: $1, key: $0.key) }))
        programs = ProgramDesk(folder: paths.warden + "/notices")
        agents = AgentHub(path: AgentHub.path(beside: paths.socket), logger: logger)
        source = ConfigurationSource(
            files: files, zones: zones, links: try QuestionLinks.inState(paths.state),
            channels: Channels(
                curl: curl, programs: programs, socket: paths.socket, agents: agents, clock: clock,
                logger: logger))
        let choice = LedgerChoice(state: paths.state)
        do {
            var configuration = try await source.read(.start, isOtherBot: { _ in true })
            ledger = try choice.open()
            // Jobs of the files may belong to bots of the ledger, and it has channels of its own; it is open only now.
            let own = OwnChannels(try await ledger.channelEntries(), in: paths.state, zones: zones)
            if configuration.hasStrangers || !own.isEmpty {
                let names = try await Self.namesOfBots(in: ledger)
                configuration = try await source.read(.start, isOtherBot: names.contains, adding: own)
            }
            configuration.silences = try await ledger.silences()
            activeConfiguration = ActiveConfiguration(configuration)
        } catch let refusal as ReloadRefusal {
            throw Failure(refusal.description, code: 2)
        }
        place = StatePlace(ledger: choice.path, logger: logger)
        boot = try Machine.bootID()
        desk = BotDesk(
            ledger: ledger, activeConfiguration: activeConfiguration, zones: zones.lookup, clock: clock)
        sent = SentPrompts(path: paths.state + "/gateways/sent.json")
        let threads = SyncedThreads(
            history: GatewayHistory(ledger: ledger, clock: clock), sent: sent,
            activeConfiguration: activeConfiguration, logger: logger)
        gateways = .inState(
            paths.state, clock: clock, keys: source.keys, links: desk.links, board: gatewayBoard,
            readHistory: threads.read)
    }

    private static func namesOfBots(in ledger: any Ledger) async throws(LedgerError) -> Set<String> {
        Set(try await ledger.botEntries().map(\.name))
    }

    /// Makes an id of a message, a run or an event.
    var makeID: @Sendable () -> String { { [clock] in UniqueID.v7(at: clock.now) } }

    /// Where runs find the daemon, and where their output goes.
    var places: RunPlaces {
        RunPlaces(outputFolder: paths.state + "/output", socket: paths.socket, boot: boot)
    }

    /// Who asks bots, each as it is configured at that moment.
    func makeBots() throws -> BotPerformer {
        let performer = try BotPerformer(
            curl: curl, clock: clock, userAgent: "Belfry/\(Version.text)",
            tools: BotTools(
                offered: { [tools] in await tools.offered(to: $0) },
                perform: { [tools] in await tools.perform($0, of: $1, in: $2) },
                isRepeatable: { [tools] in tools.isRepeatable($0) }),
            folder: paths.state + "/loops",
            find: { [desk] name async throws(AttemptFault) in try await desk.bot(name) })
        for (key, why) in performer.unreadable {
            logger.warning(
                "a reply with tool calls can't be continued",
                metadata: ["run.id": "\(key.run)", "attempt": "\(key.attempt)", "reason": "\(why)"])
        }
        return performer
    }

    private func makeTester() -> BotTester {
        BotTester(
            curl: curl, clock: clock, userAgent: "Belfry/\(Version.text)",
            programs: .init(
                fault: { MachineLook.programFault($0) }, home: Machine.environment["HOME"],
                run: { [programs, makeID] in await programs.run($0, named: makeID()) }),
            gateways: gateways)
    }

    /// Who asks agents behind gateways.
    func makeGateways() throws -> GatewayPerformer {
        let performer = try GatewayPerformer(
            folder: paths.state + "/gateways/runs", clock: clock, links: gateways, sent: sent,
            find: { [desk] name async throws(AttemptFault) in try await desk.bot(name) })
        for (key, why) in performer.unreadable {
            logger.warning(
                "the record of prompts sent to a gateway can't be read",
                metadata: ["run.id": "\(key.run)", "attempt": "\(key.attempt)", "reason": "\(why)"])
        }
        return performer
    }

    /// Who runs programs, also those that are bots or channels; `warden` does the work.
    func makePrograms(over warden: any Performer) throws -> ProgramPerformer {
        let performer = try ProgramPerformer(
            over: programs.share(warden), folder: paths.state + "/replies", clock: clock,
            home: Machine.environment["HOME"],
            find: { [activeConfiguration] in activeConfiguration.configuration.bots[$0]?.contact },
            toolServer: { [tools, socket = paths.socket] bot, run in
                let names = await tools.offered(to: bot).map(\.name)
                guard !names.isEmpty, let program = try? InstalledWarden.program(beside: "belfry") else {
                    return nil
                }
                return ToolServer(
                    command: [program, "mcp", "--bot", bot, "--socket", socket],
                    environment: ["BELFRY_RUN_ID": run], tools: names)
            },
            admit: { [desk] name async throws(AttemptFault) in _ = try await desk.bot(name) })
        for (key, why) in performer.unreadable {
            logger.warning(
                "the reply of a bot's program can't be read",
                metadata: ["run.id": "\(key.run)", "attempt": "\(key.attempt)", "reason": "\(why)"])
        }
        return performer
    }

    /// Who performs what a spec describes: the prompts of a bot that is a program are run as one.
    var choosePerformer: @Sendable (JobSpec) -> PerformerKind {
        { [activeConfiguration] spec in
            guard case .prompt = spec.action,
                let contact = activeConfiguration.configuration.bots[spec.bot]?.contact
            else { return spec.performer }
            return contact.program != nil ? .warden : contact.gateway != nil ? .gateways : spec.performer
        }
    }

    /// How conversations are held with a bot, as it is configured at that moment.
    var manner: @Sendable (String) -> TalkManner {
        { [activeConfiguration, home = Machine.environment["HOME"]] in
            activeConfiguration.configuration.talkManner(of: $0, home: home)
        }
    }

    /// The bots that answer, by name.
    var speakers: @Sendable () -> Set<String> {
        { [activeConfiguration] in activeConfiguration.configuration.speakers }
    }

    /// Who calls the addresses of jobs.
    func makeURLs() -> URLPerformer {
        URLPerformer(curl: curl, clock: clock, userAgent: "Belfry/\(Version.text)")
    }

    /// The live board of this start.
    func makeBoard() async throws -> LiveBoard {
        LiveBoard(ledger: ledger, clock: clock, incarnation: try await nextIncarnation(), logger: logger)
    }

    /// How often a daemon was started on this state, this start included.
    private func nextIncarnation() async throws(LedgerError) -> Int64 {
        let last = try await ledger.fact(named: "incarnation").flatMap { Int64($0) } ?? 0
        try await ledger.commit([.setFact(name: "incarnation", value: String(last + 1))])
        return last + 1
    }

    /// The keeper of slots; `news` ends when a run may have made some due.
    func makeSlots(
        _ census: RunCensus, _ notes: RunNotes, news: AsyncStream<Never>
    ) async throws -> SlotKeeper {
        try await SlotKeeper(
            ledger: ledger, clock: clock, zones: zones.lookup, census: census, notes: notes,
            makeID: makeID,
            logger: logger,
            machine: ClockEdges(isSynchronised: { Machine.isClockSynchronised }, slept: { Duration.slept }),
            news: news, awaitsJobs: true)
    }

    /// The keeper that judges the jobs of gateways.
    func makeGatewayKeeper() -> GatewayKeeper {
        GatewayKeeper(
            ledger: ledger, board: gatewayBoard, clock: clock, zone: { [desk] in desk.zone }, logger: logger)
    }

    /// What the API and the signals ask.
    func makeControl(
        _ board: LiveBoard, _ slots: SlotKeeper, _ runs: RunKeeper, _ channelBoard: ChannelBoard,
        _ watcher: GatewayKeeper
    ) -> Control {
        Control(
            ledger: ledger, clock: clock, board: board, slots: slots, runs: runs,
            activeConfiguration: activeConfiguration,
            channels: channelBoard, configurationPath: source.files.path, zones: zones.lookup,
            makeID: makeID,
            readConfiguration: { [source, ledger, activeConfiguration, state = paths.state] in
                let names = try await Self.namesOfBots(in: ledger)
                let leftOut = activeConfiguration.configuration.leftOut
                let own = OwnChannels(
                    try await ledger.channelEntries(), in: state, zones: source.zones)
                return try await source.read(.reload(leftOut), isOtherBot: names.contains, adding: own)
            },
            houseFacts: FileProblems(
                files: source.files, activeConfiguration: activeConfiguration, state: place
            ).problems,
            reopenChannel: { [source] in await source.channels.reopen($0) },
            reopenBot: { [source] in source.keys.reopen($0) }, desk: desk,
            bots: .inState(paths.state, zones: zones),
            ownChannels: .inState(paths.state, zones: zones, channels: source.channels),
            testBot: { [tester = makeTester()] in await tester.test($0, $1, asks: $2) },
            gateways: .of(gateways, board: gatewayBoard, keeper: watcher, activeConfiguration),
            machine: .ofThisMachine,
            loading: Loading(isDone: false), logger: logger)
    }
}

/// Makes the engine's configuration of the files.
struct ConfigurationSource: Sendable {
    let files: ConfigurationFiles
    let zones: ZoneCache
    let links: QuestionLinks
    let channels: Channels
    let keys = BotKeys()

    /// When the files are read: what of them can't be used is left out, instead of refusing everything, where nobody is
    /// there to correct it, or it was left out before.
    enum Occasion {
        case start
        case reload([LeftOut])

        func leavesOut(channel: String, _ fault: String) -> Bool {
            switch self {
            case .start: true
            case .reload(let leftOut): leftOut.contains { $0.channel?.name == channel && $0.reason == fault }
            }
        }
    }

    /// Reads the files, with zones and channels as they are now; throws a `ReloadRefusal`.
    ///
    /// A bot whose key can't be read is offline on each occasion. Jobs may belong to a bot for which `isOtherBot` holds. The
    /// channels of the ledger, `own`, come after those of the files; one that can't be used is left out in any case.
    func read(
        _ occasion: Occasion, isOtherBot: @escaping (String) -> Bool, adding own: OwnChannels? = nil
    ) async throws -> EngineConfiguration {
        zones.forget()
        let edition = files.edition
        var configuration: Configuration
        do {
            configuration = try files.read { reader in
                reader.isOtherBot = isOtherBot
                reader.leavesOutBots = true
                reader.leavesOutChannel = { occasion.leavesOut(channel: $0, $1) }
            }
        } catch let error as SettingsError {
            throw ReloadRefusal(error)
        } catch let failure as Failure {
            throw ReloadRefusal(description: failure.message)
        }
        let entries = own?.join(&configuration) ?? []
        let ownNames = Set(entries.map(\.name))
        let made = try await channels.channels(
            leavingOutOf: configuration.channels, configuration.leftOut,
            where: { ownNames.contains($0) || occasion.leavesOut(channel: $0, $1) })
        keys.note(configuration.bots)
        var active = EngineConfiguration(
            configuration, path: files.exists ? files.path : nil, channels: made, edition: edition)
        if let base = configuration.listen?.linkBase {
            active.questionLink = { [links] in base + links.path(of: $0) }
        }
        for entry in entries {
            active.ownChannels.insert(entry.name)
            active.addRoute(to: entry.name, when: entry.when)
        }
        return active
    }
}

/// Which store keeps the ledger: the one place of the daemon that opens it.
enum LedgerChoice {
    /// A file, kept by SQLite.
    case sqlite(path: String)

    /// The ledger of the daemon with this state folder.
    init(state: String) { self = .sqlite(path: state + "/ledger.sqlite") }

    /// The file that is watched, copied and restored.
    var path: String {
        switch self {
        case .sqlite(let path): path
        }
    }

    /// Opens the ledger, or makes a new one.
    ///
    /// - Throws: what keeps the store from being opened; it is left as it was.
    func open() throws(LedgerError) -> any Ledger {
        switch self {
        case .sqlite(let path): try SQLiteLedger(path: path)
        }
    }
}
