import Engine
import Glibc
import Host
import Ledger
import LedgerSQLite
import Logging
import Timeline
import Tracking
import WardenProtocol

/// How many runs of `/bin/true` a second go through ledger, keeper and warden, each with its whole history.
enum RunsBench {
    static func run(arguments: [String]) async throws {
        let count = arguments.first.flatMap { Int($0) } ?? 2000
        var bare: [Double] = []
        var full: [Double] = []
        for _ in 0..<5 {
            bare.append(try spawnRate(count: count, inFlight: 4))
            full.append(try await ledgerRate(count: count))
        }
        let (ours, peer) = (Figures(full), Figures(bare))
        print("  posix_spawn, 4 in flight: \(peer.at(0).short) to \(peer.at(1).short) a second in 5 rounds")
        print("  runs with full history: \(ours.at(0).short) to \(ours.at(1).short)")
        let share = ours.median / peer.median
        report(
            "runs with full history",
            "\(ours.median.short) a second, \((share * 100).short) % of posix_spawn",
            limit: ">= 60 %", isKept: share >= 0.6)
    }

    /// The machine's own limit.
    private static func spawnRate(count: Int, inFlight: Int) throws -> Double {
        var words: [UnsafeMutablePointer<CChar>?] = unsafe [unsafe strdup("/bin/true"), nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        let watch = Stopwatch()
        var started = 0
        var ended = 0
        while ended < count {
            while started < count, started - ended < inFlight {
                var pid: pid_t = 0
                guard unsafe (posix_spawn(&pid, "/bin/true", nil, nil, &words, environ)) == 0 else {
                    throw HostError.last("posix_spawn")
                }
                started += 1
            }
            if waitpid(-1, nil, 0) > 0 { ended += 1 }
        }
        return Double(count) / watch.seconds
    }

    private static let files = RunFiles(
        readSecret: { try SmallFile.text($0) },
        changeTime: { Moment(microseconds: try SmallFile.changeTime($0)) },
        readOutput: { try OutputLog(path: $0).read(from: 0, limit: $1).bytes })

    /// The job that takes the least time.
    private static var quickest: JobSpec {
        var spec = JobSpec(
            name: "true", action: .command(["/bin/true"]),
            schedule: ScheduleSpec(kind: .manual, text: "", zone: "UTC"))
        spec.directory = "/"
        spec.overlap = .allow
        return spec
    }

    private static func ledgerRate(count: Int) async throws -> Double {
        let folder = try BenchFolder()
        let runtime = try BenchFolder(inMemory: true)
        let output = folder.path + "/output"
        try PrivateFolder.make(output)
        let clock = try SystemClock()
        let ledger = try SQLiteLedger(path: folder.path + "/ledger.sqlite")
        var quiet = Logger(label: "bench")
        quiet.logLevel = .critical
        let board = LiveBoard(ledger: ledger, clock: clock, incarnation: 1, logger: quiet)
        let (census, notes) = (RunCensus(), RunNotes())
        let program = SmallFile.parent(of: try Machine.executablePath()) + "/belfry-warden"
        let warden = try WardenClient(
            directory: runtime.path + "/warden", launching: WardenLaunch(executable: program))
        let keeper = RunKeeper(
            ledger: ledger, clock: clock, performers: [.warden: warden], board: board, census: census,
            notes: notes, limits: RunLimits(),
            places: RunPlaces(
                outputFolder: output, socket: folder.path + "/none.sock",
                boot: try Machine.bootID()),
            zones: { _ in nil }, files: files, logger: quiet)
        try await ledger.commit([
            .putJob(JobRecord(spec: quickest, origin: .cli, revision: 1, since: clock.now), replacing: nil)
        ])
        let serving = Task { try await keeper.run() }
        defer { serving.cancel() }
        // The first one starts the warden.
        _ = try await finish(1, ledger, clock, census, notes)
        let seconds = try await finish(count, ledger, clock, census, notes)
        // Each run reported its start and its end.
        guard try await ledger.lastEvent() == 2 * (count + 1) else {
            throw HostError.malformed(path: folder.path, problem: "not every run reported itself")
        }
        let ended = try await ledger.runs(RunFilter(states: [.completed], limit: count + 1)).count
        guard ended == count + 1 else {
            throw HostError.malformed(path: folder.path, problem: "\(ended) of \(count + 1) completed")
        }
        await ledger.close()
        return Double(count) / seconds
    }

    /// Makes runs, and waits until the last of them has ended; the seconds that took.
    private static func finish(
        _ count: Int, _ ledger: SQLiteLedger, _ clock: SystemClock, _ census: RunCensus, _ notes: RunNotes
    ) async throws -> Double {
        let watch = Stopwatch()
        let runs = (0..<count).map { _ in
            let id = UniqueID.v7(at: clock.now)
            return RunRecord(
                id: id, job: "true", bot: "belfry", kind: .manual, cause: RunCause.request(id),
                queuedAt: clock.now, revision: 1)
        }
        census.began(runs)
        let ends = census.idleJobs()
        census.awaitEnd(of: "true")
        try await ledger.commit(runs.map { .insertRun($0, orIgnore: false) })
        notes.add(changed: runs.map(\.id))
        // Published after the commit of the last run's end.
        for await _ in ends { break }
        return watch.seconds
    }
}
