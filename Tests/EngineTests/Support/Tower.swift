import Curl
import Delivery
import DesktopChannel
import Engine
import Grouping
import Host
import Ledger
import LedgerSQLite
import Synchronization
import TestSupport
import Testing
import Timeline
import Tracking
import WardenProtocol
import WebhookChannel

/// The keepers that follow events, on a ledger in a file, with a clock that the test moves.
///
/// Everything is there that a daemon has, and only those keepers run that a test names.
struct Tower {
    enum Keeper: CaseIterable { case board, slots, items, outbox, surfaces, questions, fallbacks, heartbeats }

    let folder: TemporaryFolder
    let ledger: SQLiteLedger
    let clock: ManualClock
    let board: LiveBoard
    let activeConfiguration: ActiveConfiguration
    let health: ChannelBoard
    let control: Control
    /// What the next reload finds.
    let file: Mutexed<Result<EngineConfiguration, ReloadRefusal>>
    /// What a reload does before it reads the file.
    let beforeReading: Mutexed<@Sendable () async -> Void>
    /// Channels that were left out and can be made now.
    let reopened: Mutexed<[String: any Channel]>
    /// Publishes that this machine has a new way out.
    let networkReturns: Broadcast<Void>

    /// Serves while `body` looks on, then stops: what a stop of the daemon is.
    static func run(
        in folder: TemporaryFolder, at now: Moment = at("10:00:00"), keepers: Set<Keeper> = [.items],
        channels: [any Channel] = [], routes: [Route] = [], hasRoutes: Bool = true,
        bots: [String: BotProfile] = [:],
        dispatcher: Dispatcher = Dispatcher(), incarnation: Int64 = 1, loading: Loading = Loading(),
        room: OutboxRoom = .usual, safety: [String: ChannelSafety] = [:],
        isolation: isolated (any Actor)? = #isolation,
        _ body: (Tower) async throws -> Void
    ) async throws {
        let clock = ManualClock(now: now)
        let ledger = try folder.ledger()
        let board = LiveBoard(ledger: ledger, clock: clock, incarnation: incarnation, logger: quiet)
        var configured = EngineConfiguration(
            path: folder.file("belfry.yaml"), zone: "UTC", bots: bots, jobs: [],
            routing: hasRoutes ? Routing(routes: routes) : .standard(to: channels.map(\.name)),
            channels: channels)
        configured.safety = safety
        configured.silences = try await ledger.silences()
        let configuration = configured
        let activeConfiguration = ActiveConfiguration(configuration)
        let beforeReading = Mutexed<@Sendable () async -> Void>({})
        let (census, notes, health, file, reopened) = (
            RunCensus(), RunNotes(), ChannelBoard(),
            Mutexed(Result<EngineConfiguration, ReloadRefusal>.success(configuration)),
            Mutexed([String: any Channel]())
        )
        let warden = try WardenClient(directory: folder.file("w"))
        defer { warden.close() }
        let slots = try await SlotKeeper(
            ledger: ledger, clock: clock, zones: machineZones, census: census, notes: notes, makeID: freshID,
            logger: quiet)
        let runs = RunKeeper(
            ledger: ledger, clock: clock, performers: [.warden: warden], board: board, census: census,
            notes: notes,
            limits: RunLimits(),
            places: RunPlaces(
                outputFolder: folder.file("output"), socket: folder.file("socket"), boot: "b"),
            zones: machineZones, files: machineFiles, logger: quiet)
        let control = Control(
            ledger: ledger, clock: clock, board: board, slots: slots, runs: runs,
            activeConfiguration: activeConfiguration,
            channels: health, configurationPath: folder.file("belfry.yaml"), zones: machineZones,
            makeID: freshID,
            readConfiguration: {
                await beforeReading.value()
                return try file.value.get()
            },
            reopenChannel: { name in reopened.value[name].map { ($0, 7) } }, loading: loading, logger: quiet)
        let items = ItemKeeper(
            ledger: ledger, clock: clock, board: board, activeConfiguration: activeConfiguration,
            dispatcher: dispatcher,
            makeID: freshID, logger: quiet)
        var tools = ChannelTools(
            ledger: ledger, clock: clock, activeConfiguration: activeConfiguration, board: health,
            makeID: freshID, logger: quiet)
        tools.room = room
        tools.act = { await control.act(on: $0) }
        let (pump, surfaces) = (OutboxPump(tools), SurfaceKeeper(tools))
        let (fallbacks, heartbeats) = (FallbackKeeper(tools), HeartbeatKeeper(tools))
        let questions = QuestionKeeper(
            ledger: ledger, clock: clock, runs: runs, askers: control.askers, logger: quiet)
        let tower = Tower(
            folder: folder, ledger: ledger, clock: clock, board: board,
            activeConfiguration: activeConfiguration,
            health: health, control: control, file: file, beforeReading: beforeReading, reopened: reopened,
            networkReturns: tools.networkReturns)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for keeper in keepers {
                switch keeper {
                case .board: group.addTask { try await board.run() }
                case .slots: group.addTask { try await slots.run() }
                case .items: group.addTask { try await items.run() }
                case .outbox: group.addTask { try await pump.run() }
                case .surfaces: group.addTask { try await surfaces.run() }
                case .fallbacks: group.addTask { try await fallbacks.run() }
                case .heartbeats: group.addTask { try await heartbeats.run() }
                case .questions: group.addTask { try await questions.run() }
                }
            }
            try await body(tower)
            group.cancelAll()
            do { try await group.waitForAll() } catch is CancellationError {}
        }
        await ledger.close()
    }

    /// The same on a ledger of its own.
    static func run(
        at now: Moment = at("10:00:00"), keepers: Set<Keeper> = [.items], channels: [any Channel] = [],
        routes: [Route] = [], hasRoutes: Bool = true, bots: [String: BotProfile] = [:],
        dispatcher: Dispatcher = Dispatcher(),
        loading: Loading = Loading(),
        isolation: isolated (any Actor)? = #isolation, _ body: (Tower) async throws -> Void
    ) async throws {
        try await run(
            in: try TemporaryFolder(), at: now, keepers: keepers, channels: channels, routes: routes,
            hasRoutes: hasRoutes, bots: bots, dispatcher: dispatcher, loading: loading, isolation: isolation,
            body)
    }

    // MARK: Doing

    /// A bot says something.
    @discardableResult
    func say(
        _ text: String, bot: String = "ops", thread: String = "main", urgency: Urgency = .normal
    ) async throws -> Message {
        try await control.post(run: nil) { id, now in
            Message(id: id, bot: bot, thread: thread, text: text, at: now, urgency: urgency)
        }.message
    }

    /// A run of the job ends now, as the keeper of runs records it.
    @discardableResult
    func end(_ job: String, _ state: RunState, exitCode: Int? = nil) async throws -> RunRecord {
        try await end(try await begin(job), state, exitCode: exitCode)
    }

    /// A run of the job is at work, which a person asked for or its schedule began; no event says so.
    func begin(_ job: String, bySchedule isScheduled: Bool = false) async throws -> RunRecord {
        let id = freshID()
        let run = RunRecord(
            id: id, job: job, bot: "ops", kind: isScheduled ? .scheduled : .manual,
            cause: isScheduled ? "slot:\(id)" : RunCause.request(id), queuedAt: clock.now, revision: 1)
        try await ledger.commit([
            .insertRun(run, orIgnore: false),
            .moveRun(RunMove(run: id, from: [.queued], attempt: 1, to: .starting)),
            .moveRun(RunMove(run: id, from: [.starting], attempt: 1, to: .running)),
        ])
        return try #require(try await ledger.run(id: id))
    }

    /// That run ends now.
    @discardableResult
    func end(_ run: RunRecord, _ state: RunState, exitCode: Int? = nil) async throws -> RunRecord {
        var move = RunMove(
            run: run.id, from: [.running], attempt: 1, to: state, reason: exitCode.map { _ in .exitCode })
        move.exitCode = exitCode
        move.endedAt = clock.now
        let fact = RunOutcome(state, move.reason).fact(of: Fact.Run(run))
        try await ledger.commit([
            .moveRun(move),
            .append(NewEvent(fact, at: clock.now)),
        ])
        return try #require(try await ledger.run(id: run.id))
    }

    // MARK: Waiting

    /// Waits until the ledger is as it should be: looks now and after every commit.
    func until(_ fits: () async throws -> Bool) async throws {
        let commits = ledger.commits()
        if try await fits() { return }
        for await _ in commits where try await fits() { return }
        throw LedgerError.closed
    }

    /// Waits until the channel is doing so: that is in memory only, and noted a moment after the commit.
    func channel(_ name: String, is state: ChannelBoard.Health.State) async throws {
        while health[name]?.state != state {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Waits until every event has become what it comes to.
    func settled() async throws {
        try await until {
            try await ledger.cursor(of: ItemKeeper.consumer) == ledger.lastEvent()
        }
    }

    // MARK: Looking

    /// The outbox entries of a channel, oldest first.
    func entries(of channel: String) async throws -> [OutboxRecord] {
        try await ledger.outbox(states: [], limit: .max).reversed().filter { $0.channel == channel }
    }

    /// What an item shows; nil: nothing.
    func shown(_ key: ItemKey) async throws -> ItemSnapshot? {
        try await ledger.item(key).flatMap { shownItem($0) }
    }

    /// The types of all events, oldest first.
    func eventTypes() async throws -> [EventType] {
        try await ledger.events(after: 0, limit: .max).map(\.event.type)
    }
}

/// A value that several tasks may read and set.
final class Mutexed<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>
    init(_ value: Value) { mutex = Mutex(value) }
    var value: Value {
        get { mutex.withLock { $0 } }
        set { mutex.withLock { $0 = newValue } }
    }
}

/// A webhook to an address, which may be on this machine.
func makeHook(
    _ name: String, to url: String = "http://127.0.0.1:1/", secret: String? = nil, curl: CurlMulti
) throws -> HTTPSender {
    try HTTPSender(
        name: name, form: try makeHookForm(url), secrets: FormSecrets(["secret": secret.map { [$0] } ?? []]),
        userAgent: "Belfry/test", curl: curl)
}

/// The channel `inbox`, whose mails go to a port of this machine.
func makeInbox(port: Int = 1, curl: CurlMulti) throws -> MailSender {
    var values = FormValues()
    values["to"] = .words(["ops@example.org"])
    values["from"] = .word("belfry@example.org")
    values["url"] = .word("smtp://localhost:\(port)")
    values["tls"] = .word("none")
    values["allow"] = .exceptions([try AddressException("localhost")])
    values["timeout"] = .duration(.seconds(120))
    let form = try MailForm(values)
    guard case .mail(_, let server) = form.carrier else { throw NoMailServer() }
    return MailSender(name: "inbox", form: form, to: server, curl: curl)
}

private struct NoMailServer: Error {}

/// The channels `desk` and `hook`; neither reaches anything.
func makeDeskAndHook(_ curl: CurlMulti) throws -> [any Channel] {
    [makeDesk(clock: ManualClock(now: at("10:00:00"))), try makeHook("hook", curl: curl)]
}

/// The form of such a webhook.
func makeHookForm(_ url: String = "http://127.0.0.1:1/") throws -> WebhookForm {
    WebhookForm(
        try HTTPReach(url: try HTTPAddress(url), allow: [try AddressException("127.0.0.1/32")]))
}

/// A desktop that looks for its bus at `address` only, and waits for it as long as a busy machine may need.
func makeDesk(
    _ name: String = "desk", at address: String = "unix:path=/no/such/bus",
    deadline: Duration = .seconds(60), clock: any WallClock
) -> Desktop {
    Desktop(
        name: name, form: DesktopForm(deadline: deadline),
        bus: SessionBus(environment: ["DBUS_SESSION_BUS_ADDRESS": address], userID: 4_000_000_000),
        clock: clock, logger: quiet)
}
