import CLinux
import Cron
import Engine
import Glibc
import Host
import Ledger
import LedgerSQLite
import Logging
import Synchronization
import Timeline

/// Very many jobs: how long a start takes, what a job costs in memory beyond the ledger, and how late slots are.
///
/// Each figure comes from a process of its own that finds the jobs already stored, as a daemon does.
enum LoadBench {
    /// Bytes a job may cost.
    private static let limit = 150

    static func run(arguments: [String]) async throws {
        if let place = arguments.firstIndex(of: "--serve") {
            return try await serve(arguments[place + 1])
        }
        let counts = arguments.compactMap { Int($0) }
        for count in counts.isEmpty ? [100_000, 1_000_000] : counts {
            let folder = try BenchFolder()
            try await store(count, in: folder.path + "/ledger.sqlite")
            let program = try Machine.executablePath()
            let process = try BenchProcess(program, ["load", "--serve", folder.path + "/ledger.sqlite"])
            // The heading of every bench comes first.
            var line = ""
            while !line.hasPrefix("jobs ") { line = try process.firstLine() }
            let figures = Loaded(line)
            _ = process.status()
            report(
                "\(count) jobs, resident beyond the ledger", "\(Int(figures.bytes)) bytes a job",
                limit: "<= \(limit) bytes", isKept: figures.bytes <= Double(limit))
            figures.printTimes("belfry", count)
            for peer in LoadPeers.all { peer.measure(count)?.printTimes(peer.name, count, showsBytes: true) }
        }
    }

    /// Jobs that each have one second of the day, so that a few are due at every moment.
    private static func store(_ count: Int, in path: String) async throws {
        let ledger = try SQLiteLedger(path: path)
        let since = Moment.now
        for first in stride(from: 0, to: count, by: 10_000) {
            try await ledger.commit(
                (first..<min(count, first + 10_000)).map { number in
                    let schedule = ScheduleSpec(kind: .cron, text: expression(number), zone: "Europe/Berlin")
                    let spec = JobSpec(
                        name: "job-\(number)", action: .command(["true"]), schedule: schedule)
                    return .putJob(
                        JobRecord(spec: spec, origin: .cli, revision: 1, since: since), replacing: nil)
                })
        }
        await ledger.close()
    }

    /// One second of the day, all of them used alike.
    static func expression(_ number: Int) -> String {
        let second = number &* 7919 % 86_400
        return "\(second % 60) \(second / 60 % 60) \(second / 3600) * * *"
    }

    /// What a daemon does with them, measured.
    private static func serve(_ path: String) async throws {
        let clock = try SystemClock()
        let ledger = try SQLiteLedger(path: path)
        let berlin = try ZoneFiles().rules(of: "Europe/Berlin")
        var quiet = Logger(label: "bench")
        quiet.logLevel = .critical
        // The ledger's own caches are full before it is measured what comes beyond them.
        _ = try await ledger.jobs(after: "", limit: 20_000)
        let before = ownMemory()
        let watch = Stopwatch()
        let keeper = try await SlotKeeper(
            ledger: ledger, clock: clock, zones: { $0 == "UTC" ? .utc : berlin }, census: RunCensus(),
            notes: RunNotes(),
            makeID: { UniqueID.v7(at: clock.now) }, logger: quiet)
        let seconds = watch.seconds
        let summary = await keeper.summary()
        let bytes = Double(ownMemory() - before) / Double(max(1, summary.jobs))
        let serving = Task { try await keeper.run() }
        try await clock.sleep(until: clock.now + .seconds(10))
        serving.cancel()
        let lateness = try await ledger.runs(RunFilter()).compactMap { $0.lateness.map { $0 / .seconds(1) } }
        await ledger.close()
        let figures = Figures(lateness)
        print("jobs \(seconds) \(bytes) \(figures.at(0.5)) \(figures.at(0.99)) \(lateness.count)")
    }

    /// Bytes that no file backs, what the allocator holds back given to the system first.
    private static func ownMemory() -> Int {
        _ = malloc_trim(0)
        let text = (try? SmallFile.text("/proc/self/smaps_rollup")) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("Anonymous:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }
}

/// What a scheduler says of itself: one line of `jobs START BYTES P50 P99 FIRED`, times in seconds.
struct Loaded {
    var start = Double.nan
    var bytes = Double.nan
    var late = (p50: Double.nan, p99: Double.nan)
    var fired = 0

    init(_ line: String) {
        let words = line.split(separator: " ").dropFirst().map { Double($0) ?? .nan }
        guard words.count == 5 else { return }
        (start, bytes, late, fired) = (words[0], words[1], (words[2], words[3]), Int(words[4]))
    }

    func printTimes(_ name: String, _ count: Int, showsBytes: Bool = false) {
        let memory = showsBytes ? ", \(Int(bytes)) bytes a job" : ""
        print(
            """
              \(name.padded(to: 12)) \(count) jobs: up after \(start.short) s\(memory); \(fired) slots in 10 s, \
            late p50 \((late.p50 * 1000).short), p99 \((late.p99 * 1000).short) ms
            """)
    }
}
