import CLinux
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

/// What a scheduler prints about itself: one line of `jobs START BYTES P50 P99 FIRED`, times in seconds.
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

/// Other schedulers with as many jobs of the same times, each in a process of its own: APScheduler (the tests'
/// Python packages; a million take it many minutes) and robfig/cron (Debian's golang-go and
/// golang-github-robfig-cron-dev).
struct LoadPeers: Sendable {
    var name: String
    private var start: @Sendable (Int, String) throws -> BenchProcess

    static let all: [Self] = [
        LoadPeers(name: "APScheduler") { count, _ in
            try BenchProcess(".build/venv/bin/python", ["-c", snake, "\(count)"])
        },
        LoadPeers(name: "robfig") { count, folder in
            try SmallFile.replace(folder + "/main.go", with: Array(golang.utf8))
            return try BenchProcess(
                "go", ["run", folder + "/main.go", "\(count)"],
                environment: ["GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": ""])
        },
    ]

    /// Its figures; nil, and a word about it, where it can't be measured.
    func measure(_ count: Int) -> Loaded? {
        do {
            let folder = try BenchFolder()
            let process = try start(count, folder.path)
            defer { process.end() }
            return Loaded(try process.firstLine())
        } catch {
            print("  \(name.padded(to: 12)) not installed, so not measured")
            return nil
        }
    }

    private static let snake = """
        import datetime, gc, sys, time
        from apscheduler.schedulers.background import BackgroundScheduler
        from apscheduler.triggers.cron import CronTrigger
        from apscheduler.events import EVENT_JOB_SUBMITTED
        def memory():
            gc.collect()
            for line in open("/proc/self/smaps_rollup"):
                if line.startswith("Anonymous:"):
                    return int(line.split()[1]) * 1024
        def nothing():
            pass
        count, late = int(sys.argv[1]), []
        scheduler = BackgroundScheduler(timezone="Europe/Berlin")
        scheduler.add_listener(
            lambda event: late.append(time.time() - event.scheduled_run_times[0].timestamp()), EVENT_JOB_SUBMITTED)
        before, begin = memory(), time.monotonic()
        for number in range(count):
            second = number * 7919 % 86400
            scheduler.add_job(nothing, CronTrigger(
                second=second % 60, minute=second // 60 % 60, hour=second // 3600, timezone="Europe/Berlin"))
        scheduler.start()
        up, size = time.monotonic() - begin, (memory() - before) / count
        time.sleep(10)
        late.sort()
        at = lambda part: late[min(len(late) - 1, int(len(late) * part))] if late else float("nan")
        print("jobs", up, size, at(0.5), at(0.99), len(late), flush=True)
        """

    private static let golang = """
        package main

        import (
            "fmt"
            "os"
            "runtime"
            "sort"
            "strconv"
            "sync"
            "time"

            "github.com/robfig/cron"
        )

        func memory() float64 {
            runtime.GC()
            var stats runtime.MemStats
            runtime.ReadMemStats(&stats)
            return float64(stats.HeapAlloc)
        }

        func main() {
            count, _ := strconv.Atoi(os.Args[1])
            berlin, _ := time.LoadLocation("Europe/Berlin")
            parser := cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
            var lock sync.Mutex
            late := []float64{}
            before, begin := memory(), time.Now()
            all := cron.New(cron.WithLocation(berlin))
            for number := 0; number < count; number++ {
                second := number * 7919 % 86400
                text := fmt.Sprintf("%d %d %d * * *", second%60, second/60%60, second/3600)
                schedule, _ := parser.Parse(text)
                all.Schedule(schedule, cron.FuncJob(func() {
                    now := time.Now()
                    lock.Lock()
                    late = append(late, now.Sub(now.Truncate(time.Second)).Seconds())
                    lock.Unlock()
                }))
            }
            all.Start()
            up := time.Since(begin).Seconds()
            size := (memory() - before) / float64(count)
            time.Sleep(10 * time.Second)
            lock.Lock()
            sort.Float64s(late)
            at := func(part float64) float64 {
                if len(late) == 0 {
                    return 0
                }
                place := int(float64(len(late)) * part)
                if place > len(late)-1 {
                    place = len(late) - 1
                }
                return late[place]
            }
            fmt.Println("jobs", up, size, at(0.5), at(0.99), len(late))
        }
        """
}

/// Many jobs whose slots fall on one second: from the second to the last durable row.
enum HerdBench {
    static func run(arguments: [String]) async throws {
        let count = arguments.first.flatMap { Int($0) } ?? 10_000
        var ours: [Double] = []
        var bare: [Double] = []
        var lean: [Double] = []
        for _ in 0..<5 {
            bare.append(try await bareCommit(count, .run))
            lean.append(try await bareCommit(count, .wide))
            ours.append(try await herd(count))
        }
        let (peer, taken) = (Figures(bare).median, Figures(ours).median)
        print(
            """
              one bare SQLite commit of the same \(count) rows: \((peer * 1000).short) ms; of rows with a third of \
            the columns and two indexes: \((Figures(lean).median * 1000).short) ms (medians of 5)
            """)
        report(
            "\(count) slots due in one second, all durable",
            "\((taken * 1000).short) ms, \((taken / peer).short) x", limit: "<= 2 x",
            isKept: taken <= 2 * peer)
    }

    /// The same number of rows, of what a run holds, in plain C.
    private static func bareCommit(_ count: Int, _ width: BareTable.Width) async throws -> Double {
        let folder = try BenchFolder()
        let path = folder.path + "/bare.db"
        if width == .run { await (try SQLiteLedger(path: path)).close() }
        let table = try BareTable(path: path, width: width)
        let jobs = (0..<count).map { "job-\($0)" }
        let ids = (0..<count).map { UniqueID.v7(at: Moment(microseconds: 1_800_000_000_000_000 + Int64($0))) }
        let watch = Stopwatch()
        try table.insert(jobs, slot: 1_800_003_600_000_000, ids: ids, cause: "slot:0:1800003600000000")
        return watch.seconds
    }

    /// Makes ids in order, one a microsecond.
    private static func makeIDs(after start: Moment) -> @Sendable () -> String {
        let ids = Mutex<Int64>(0)
        return {
            let number = ids.withLock { number in
                number += 1
                return number
            }
            return UniqueID.v7(at: Moment(microseconds: start.microseconds + number))
        }
    }

    private static func herd(_ count: Int) async throws -> Double {
        let folder = try BenchFolder()
        let start = Moment(seconds: 1_800_000_000)
        let clock = BenchClock(start)
        var quiet = Logger(label: "bench")
        quiet.logLevel = .critical
        let ledger = try SQLiteLedger(path: folder.path + "/ledger.sqlite")
        let keeper = try await SlotKeeper(
            ledger: ledger, clock: clock, zones: { $0 == "UTC" ? .utc : nil }, census: RunCensus(),
            notes: RunNotes(), makeID: makeIDs(after: start), logger: quiet)
        let serving = Task { try await keeper.run() }
        defer { serving.cancel() }
        _ = try await keeper.change(
            (0..<count).map { number in
                .put(
                    JobSpec(
                        name: "job-\(number)", action: .command(["true"]),
                        schedule: ScheduleSpec(kind: .cron, text: "0 * * * *", zone: "UTC")),
                    origin: .cli, place: nil)
            })
        let commits = ledger.commits()
        await clock.waitForSleeper()
        let watch = Stopwatch()
        let slot = Moment(seconds: (start.seconds / 3600 + 1) * 3600)
        clock.advance(to: slot)
        // With the last of them the watermark moves; what is reported is durable.
        for await stations in commits where stations.contains(.runs) {
            if try await ledger.watermark()?.decidedUntil == slot { break }
        }
        let seconds = watch.seconds
        guard try await ledger.runs(RunFilter(limit: count)).count == count else {
            throw HostError.malformed(path: folder.path, problem: "not every slot became a run")
        }
        await ledger.close()
        return seconds
    }
}
