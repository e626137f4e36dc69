import Glibc
import Host

/// What a daemon with nothing to do costs: memory, and how often it wakes.
enum IdleBench {
    static func run(arguments: [String]) async throws {
        let seconds = arguments.first.flatMap { UInt32($0) } ?? 60
        let folder = try BenchFolder()
        let daemon = try BenchDaemon(folder: folder.path)
        defer { daemon.end() }
        sleep(5)
        let processes = [("belfryd", daemon.pid), ("belfry-warden", daemon.wardenPid ?? 0)].filter {
            $0.1 > 0
        }
        let before = processes.map { wakeUps(of: $0.1) }
        sleep(seconds)
        for (index, (name, pid)) in processes.enumerated() {
            let memory = memory(of: pid)
            let wakes = Double(wakeUps(of: pid) - before[index]) * 60 / Double(seconds)
            let isDaemon = name == "belfryd"
            report(
                "\(name) private memory", "\(memory.privateMiB.short) MiB",
                limit: isDaemon ? "<= 8 MB" : "<= 4 MB",
                isKept: memory.privateMiB * 1.048576 <= (isDaemon ? 8 : 4))
            if isDaemon {
                report(
                    "\(name) resident", "\(memory.residentMiB.short) MiB", limit: "<= 48 MB",
                    isKept: memory.residentMiB * 1.048576 <= 48)
            }
            report(
                "\(name) wake-ups a minute", "\(wakes.short) in \(seconds) s", limit: "<= 1",
                isKept: wakes <= 1)
        }
    }

    /// Memory that no file backs and no other process could share, and all that is resident.
    ///
    /// Source: proc(5), `smaps_rollup`.
    static func memory(of pid: Int32) -> (privateMiB: Double, residentMiB: Double) {
        let text = (try? SmallFile.text("/proc/\(pid)/smaps_rollup")) ?? ""
        func kib(_ name: String) -> Double {
            text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
                .flatMap { $0.split(separator: " ").dropFirst().first.flatMap { Double($0) } } ?? .nan
        }
        return (kib("Anonymous") / 1024, kib("Rss") / 1024)
    }

    /// How often its threads went to sleep of their own accord, since each began.
    private static func wakeUps(of pid: Int32) -> Int {
        let threads = (try? Folder.names(in: "/proc/\(pid)/task")) ?? []
        return threads.reduce(0) { sum, thread in
            let text = (try? SmallFile.text("/proc/\(pid)/task/\(thread)/status")) ?? ""
            let line = text.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return sum + (line.flatMap { $0.split(separator: "\t").last.flatMap { Int($0) } } ?? 0)
        }
    }
}

/// `belfry status` as people run it.
enum StatusBench {
    static func run(arguments: [String]) async throws {
        let count = arguments.first.flatMap { Int($0) } ?? 60
        let folder = try BenchFolder()
        let daemon = try BenchDaemon(folder: folder.path)
        defer { daemon.end() }
        try measure(count, of: daemon.socket, within: 0.010)
    }

    /// How long the command takes to show the status of a daemon; the median is held to `limit`, in seconds.
    static func measure(
        _ count: Int = 60, of socket: String, beside what: String? = nil, within limit: Double
    ) throws {
        let tool = SmallFile.parent(of: try Machine.executablePath()) + "/belfry"
        var ours: [Double] = []
        var empty: [Double] = []
        for _ in 0..<count {
            empty.append(try time("true", []))
            ours.append(try time(tool, ["status", "--socket", socket]))
        }
        print("  an empty program (true): \(Figures(empty).milliseconds)")
        report(
            "belfry status" + (what.map { " beside \($0)" } ?? ""), Figures(ours).milliseconds,
            limit: "p50 <= \((limit * 1000).short) ms", isKept: Figures(ours).median <= limit)
    }

    private static func time(_ program: String, _ arguments: [String]) throws -> Double {
        let watch = Stopwatch()
        let process = try BenchProcess(program, arguments)
        guard process.status() == 0 else { throw BenchProcess.Failed(program: program) }
        return watch.seconds
    }
}

/// A daemon of its own.
final class BenchDaemon {
    let socket: String
    let pid: Int32
    private let process: BenchProcess
    private let runtime: String

    /// One without jobs and without a desktop; `bots`: those of its configuration, as lines of its map.
    convenience init(folder: String, bots: String = "") throws {
        try self.init(
            folder: folder,
            configuration: """
                zone: UTC
                channels:
                  hook: { kind: webhook, url: "https://example.org/hook" }
                routes:
                  - { when: [failed], to: [hook] }
                \(bots.isEmpty ? "" : "bots:\n  " + bots)
                """)
    }

    /// One with this configuration, and these variables beside our own.
    init(folder: String, configuration: String, environment: [String: String] = [:]) throws {
        let program = SmallFile.parent(of: try Machine.executablePath()) + "/belfryd"
        socket = folder + "/b.sock"
        runtime = folder + "/run"
        unsafe mkdir(runtime, 0o700)
        try SmallFile.replace(folder + "/belfry.yaml", with: Array(configuration.utf8))
        process = try BenchProcess(
            program, ["--config", folder + "/belfry.yaml", "--state", folder + "/state", "--socket", socket],
            environment: environment.merging(["XDG_RUNTIME_DIR": runtime]) { $1 })
        pid = process.processID
        for _ in 0..<1000 {
            if (try? LocalSocket.connect(socket)) != nil { return }
            usleep(10_000)
        }
        throw BenchProcess.Failed(program: program)
    }

    /// What its process has used of a core until now, in seconds.
    ///
    /// Source: proc(5), `stat`: user and system time are the fields 14 and 15, the second is in parentheses.
    func cpuSeconds() throws -> Double { try Self.cpuSeconds(of: pid) }

    /// The same of the process `pid`.
    static func cpuSeconds(of pid: Int32) throws -> Double {
        let fields = try SmallFile.text("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ")
        let ticks = (fields ?? []).dropFirst(11).prefix(2).compactMap { Double($0) }.reduce(0, +)
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The warden it started.
    var wardenPid: Int32? {
        let all = (try? ProcessTable.all()) ?? []
        return all.first { entry in
            let words = (try? SmallFile.text("/proc/\(entry.pid)/cmdline")) ?? ""
            return words.contains("belfry-warden") && words.contains(runtime)
        }?.pid
    }

    func end() {
        let warden = wardenPid
        process.end()
        if let warden { kill(warden, SIGTERM) }
    }
}
