import Delivery
import Engine
import Foundation
import Glibc
import Host
import Ledger
import LedgerSQLite
import Performing
import Synchronization
import TestSupport
import Testing
import Timeline
import Tracking
import WardenProtocol

/// The folder of a ledger, a warden and its runs; whatever still runs is ended with it.
final class WardenHome: Sendable {
    let folder: TemporaryFolder
    private let wardens = Mutex<Set<Int32>>([])
    private let jobs = Mutex<Set<Int32>>([])

    init() throws {
        folder = try TemporaryFolder()
        for name in ["state", "work"] { try PrivateFolder.make(folder.file(name)) }
    }

    deinit {
        for pid in jobs.withLock({ $0 }) { kill(-pid, SIGKILL) }
        for pid in wardens.withLock({ $0 }) { kill(pid, SIGKILL) }
    }

    /// How a daemon of this home starts its warden.
    func launch() throws -> WardenLaunch {
        var launch = WardenLaunch(
            executable: try BuiltProgram.path("belfry-warden"), state: folder.file("state"),
            tiedTo: getpid())
        launch.startTimeout = .seconds(60)
        return launch
    }

    /// Ends this warden with the home.
    func mind(warden pid: Int32) { wardens.withLock { _ = $0.insert(pid) } }

    /// Ends this job's process group with the home.
    func mind(job pid: Int32) { jobs.withLock { _ = $0.insert(pid) } }
}

// Files and pipes by which a test and its jobs wait for each other; a job sees them as `../NAME`.

extension WardenHome {
    func lines(of name: String) throws -> [String] {
        let text = try String(contentsOfFile: folder.file(name), encoding: .utf8)
        return text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Makes a pipe that jobs read a line from.
    func makePipe(_ name: String) throws {
        let result = unsafe mkfifo(folder.file(name), 0o600)
        try #require(result == 0)
    }

    /// Lets the job go on that reads from the pipe; waits until it does.
    func release(_ name: String) async throws {
        try #require(try await Shell.run("timeout 300 sh -c 'echo go > \(name)'", in: folder.path) == 0)
    }

    /// Waits until jobs have written that many lines.
    func waitForLines(_ count: Int, in name: String) async throws {
        let text =
            "timeout 300 sh -c 'until [ $(wc -l < \(name)) -ge \(count) ]; do sleep 0.01; done' 2>/dev/null"
        try #require(try await Shell.run(text, in: folder.path) == 0)
    }
}

extension RunScene {
    func lines(of name: String) throws -> [String] { try home.lines(of: name) }
    func makePipe(_ name: String) throws { try home.makePipe(name) }
    /// Opens a gate that any number of jobs wait at: the file they look for.
    func open(_ name: String) throws { try Data().write(to: URL(filePath: home.folder.file(name))) }
    func write(_ name: String) async throws { try await home.release(name) }
    /// Does to the ledger's file what somebody else could.
    func change(_ statements: String) async throws {
        let status = try await Shell.run(
            """
            exec python3 -c 'import sqlite3, sys; sqlite3.connect("ledger.db").executescript(sys.argv[1])' "\(statements)"
            """, in: home.folder.path)
        try #require(status == 0)
    }

    func boot() throws -> String { try Machine.bootID() }
}

/// A run keeper at work with a real warden, on a ledger in a file.
struct RunScene {
    let home: WardenHome
    let ledger: SQLiteLedger
    let clock: ManualClock
    let census: RunCensus
    let notes: RunNotes
    let board: LiveBoard
    let keeper: RunKeeper

    /// Serves while `body` looks on, then stops as the daemon does: jobs and warden go on.
    static func run(
        in home: WardenHome, clock: ManualClock = ManualClock(now: .now, sinceBoot: .sinceBoot),
        limits: RunLimits = RunLimits(), incarnation: Int64 = 1, launches: Bool = true,
        performers: [PerformerKind: any Performer] = [:],
        choosing: @escaping @Sendable (JobSpec) -> PerformerKind = \.performer,
        files: RunFiles = machineFiles, news: AsyncStream<Never>.Continuation? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: (RunScene) async throws -> Void
    ) async throws {
        let ledger = try home.folder.ledger()
        let board = LiveBoard(ledger: ledger, clock: clock, incarnation: incarnation, logger: quiet)
        let client = try WardenClient(
            directory: home.folder.file("w"), launching: launches ? try home.launch() : nil)
        let (census, notes) = (RunCensus(), RunNotes())
        census.began(try await ledger.activeRuns())
        let places = RunPlaces(
            outputFolder: home.folder.file("state/output"), socket: home.folder.file("socket"),
            boot: try Machine.bootID())
        let keeper = RunKeeper(
            ledger: ledger, clock: clock,
            performers: performers.merging([.warden: client]) { given, _ in given },
            choosing: choosing, board: board, census: census, notes: notes, limits: limits,
            places: places, zones: machineZones, files: files, logger: quiet, news: news)
        let scene = RunScene(
            home: home, ledger: ledger, clock: clock, census: census, notes: notes, board: board,
            keeper: keeper)
        defer { client.close() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await keeper.run() }
            group.addTask { try await board.run() }
            try await body(scene)
            await scene.mindProcesses()
            group.cancelAll()
            do { try await group.waitForAll() } catch is CancellationError {}
        }
        await ledger.close()
    }

    /// The same in a home of its own.
    static func run(
        limits: RunLimits = RunLimits(), isolation: isolated (any Actor)? = #isolation,
        _ body: (RunScene) async throws -> Void
    ) async throws {
        try await run(in: try WardenHome(), limits: limits, isolation: isolation, body)
    }

    // MARK: Asking

    /// Queues a run of `spec`, which starts in the home's `work` folder.
    @discardableResult
    func queue(
        _ spec: JobSpec, id: String = freshID(), isForced: Bool = false
    ) async throws -> RunRecord {
        var run = RunRecord(
            id: id, job: spec.name, bot: spec.bot, kind: .manual, cause: RunCause.exec(id), queuedAt: .now,
            revision: 0)
        run.spec = spec.with { $0.directory = $0.directory ?? home.folder.file("work") }
        run.isForced = isForced
        return try await insert(run)
    }

    /// Queues a run of a job that is stored with its first revision, and starts in the home's `work` folder; its
    /// row says that it waits until `wait` from now.
    func queueStored(_ spec: JobSpec, waiting wait: Duration? = nil) async throws -> RunRecord {
        let spec = spec.with { $0.directory = $0.directory ?? home.folder.file("work") }
        if try await ledger.job(named: spec.name) == nil {
            let job = JobRecord(spec: spec, origin: .cli, revision: 1, since: clock.now)
            try await ledger.commit([.putJob(job, replacing: nil)])
        }
        let id = freshID()
        var run = RunRecord(
            id: id, job: spec.name, bot: spec.bot, kind: .manual, cause: RunCause.request(id),
            queuedAt: clock.now, revision: 1)
        run.notBefore = wait.map { clock.now + $0 }
        return try await insert(run)
    }

    private func insert(_ run: RunRecord) async throws -> RunRecord {
        var run = run
        census.began([run])
        let commit = try await ledger.commit([.insertRun(run, orIgnore: false)])
        notes.add(changed: [run.id])
        run.ordinal = commit.ordinals[run.id] ?? 0
        return run
    }

    /// Queues a shell command.
    @discardableResult
    func queue(_ command: String) async throws -> RunRecord {
        try await queue(.manual("job-\(freshID().prefix(8))", command))
    }

    // MARK: Waiting

    /// Waits until the ledger's row of a run fits.
    @discardableResult
    func run(_ run: RunRecord, is fits: (RunRecord) -> Bool) async throws -> RunRecord {
        let commits = ledger.commits()
        var row = try #require(try await ledger.run(id: run.id))
        if fits(row) { return row }
        for await _ in commits {
            row = try #require(try await ledger.run(id: run.id))
            if fits(row) { return row }
        }
        throw LedgerError.closed
    }

    /// Waits until a run has ended.
    func end(of run: RunRecord) async throws -> RunRecord {
        try await self.run(run) { $0.state.isEnded }
    }

    /// Waits until what the board shows of a run fits.
    @discardableResult
    func live(_ run: RunRecord, is fits: (LiveState) -> Bool) async throws -> LiveState {
        for await _ in board.taps() {
            if let live = await board.state(of: run.id), fits(live) { return live }
        }
        throw CancellationError()
    }

    /// Waits until the keeper has done all that follows the ends so far: it starts no other run before.
    ///
    /// The run that it waits for has left the board as well: that follows its commit.
    func settled() async throws {
        try await left(end(of: queue("true")))
    }

    /// Waits until a run has left the board: that follows the commit of its end.
    func left(_ run: RunRecord) async throws {
        for await _ in board.taps() where await board.state(of: run.id) == nil { return }
        throw CancellationError()
    }

    /// The events of a run, in order.
    func events(of run: RunRecord) async throws -> [NewEvent] {
        try await ledger.events(after: 0, limit: .max).map(\.event).filter { $0.fact.columns.run == run.id }
    }

    /// The types of the events of a run, in order.
    func eventTypes(of run: RunRecord) async throws -> [EventType] { try await events(of: run).map(\.type) }

    /// Notes what must end with the home.
    private func mindProcesses() async {
        if let pid = await keeper.wardenProcess { home.mind(warden: pid) }
        for run in (try? await ledger.activeRuns()) ?? [] {
            if let pid = run.process?.pid, pid > 0 { home.mind(job: pid) }
        }
    }
}
