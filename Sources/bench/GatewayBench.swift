import CronBench
import Glibc
import Host
import TestSupport
import Timeline
import Tracking

/// Very many gateways at once: what idle connections cost, and how a person fares beside them.
///
/// The gateways are the tests' emulator in this process: one that listens on a thousand addresses of this machine for the idle
/// connections, and one whose bot is talked to.
enum GatewayBench {
    /// The most that the daemon may have resident, in bytes, and the part of a core that it may use.
    private static let memoryLimit = 100e6
    private static let coreLimit = 0.01
    private static let asked = 100

    /// The arguments: how many connections, 1,000 when absent, and for how many seconds they are watched, 60 when absent.
    static func run(arguments: [String]) async throws {
        let count = arguments.first.flatMap { Int($0) } ?? 1000
        let seconds = arguments.dropFirst().first.flatMap { UInt32($0) } ?? 60
        var manner = GatewayEmulator.Manner()
        (manner.issuesTokens, manner.keepsTime) = (false, true)
        let idle = try await GatewayEmulator(manner, host: "0.0.0.0")
        let talker = try await GatewayEmulator(manner)
        let folder = try BenchFolder()
        try SmallFile.replace(folder.path + "/token", with: Array("shared-token\n".utf8))
        let daemon = try BenchDaemon(
            folder: folder.path, configuration: configuration(count, idle, talker, folder.path))
        defer { daemon.end() }
        let watch = Stopwatch()
        while idle.clients < count || talker.clients < 1 {
            guard watch.seconds < 180 else { throw Failed(count: idle.clients) }
            usleep(50_000)
        }
        print("  \(idle.clients) connections after \(watch.seconds.short) s")
        // Gateways show that they are alive twice a minute.
        let ticks = Task {
            while !Task.isCancelled {
                for gateway in [idle, talker] {
                    gateway.send("tick", .object(["ts": .int(Moment.now.microseconds / 1000)]))
                }
                try await Task.sleep(for: .seconds(30))
            }
        }
        defer { ticks.cancel() }
        let (pid, socket) = (daemon.pid, daemon.socket)
        try await onOwnThread {
            sleep(15)
            try measureIdle(pid, idle, count, seconds)
            try StatusBench.measure(of: socket, beside: "\(count) connections", within: 0.050)
            try measureDeltas(socket, talker)
        }
    }

    private struct Failed: Error, CustomStringConvertible {
        let count: Int
        var description: String { "only \(count) connections were made within 180 s" }
    }

    private static func configuration(
        _ count: Int, _ idle: GatewayEmulator, _ talker: GatewayEmulator, _ folder: String
    ) -> String {
        func bot(_ name: String, _ host: String, _ port: Int) -> String {
            "  \(name): { backend: { kind: openclaw, url: \"ws://\(host):\(port)\", "
                + "token: { file: \(folder)/token }, session: direct } }"
        }
        let bots = (0..<count).map { bot("idle-\($0)", "127.1.\($0 / 250).\($0 % 250 + 1)", idle.port) }
        return """
            zone: UTC
            bots:
            \((bots + [bot("talker", "127.0.0.1", talker.port)]).joined(separator: "\n"))
            channels:
              hook: { kind: webhook, url: "https://example.org/hook" }
            routes:
              - { when: [failed], to: [hook] }

            """
    }

    // MARK: Figures

    private static func measureIdle(
        _ pid: Int32, _ gateway: GatewayEmulator, _ count: Int, _ seconds: UInt32
    ) throws {
        let (before, watch) = (try BenchDaemon.cpuSeconds(of: pid), Stopwatch())
        sleep(seconds)
        let part = (try BenchDaemon.cpuSeconds(of: pid) - before) / watch.seconds
        let memory = IdleBench.memory(of: pid)
        let resident = memory.residentMiB * 1_048_576
        report(
            "\(gateway.clients) of \(count) connections, resident",
            "\((resident / 1e6).short) MB, \((memory.privateMiB * 1.048576).short) MB private",
            limit: "<= 100 MB", isKept: resident <= memoryLimit && gateway.clients == count)
        report(
            "the same, processor", "\((part * 100).short) % of a core in \(seconds) s", limit: "<= 1 %",
            isKept: part <= coreLimit)
    }

    /// From the moment the gateway writes a piece of a reply until the command has printed it.
    private static func measureDeltas(_ socket: String, _ gateway: GatewayEmulator) throws {
        var times: [Double] = []
        for _ in 0..<asked {
            gateway.reply(with: .init("first ", "second ", "third.", pauseAfter: 1))
            let (output, pid) = try ask(socket)
            var buffer = [UInt8](repeating: 0, count: 4096)
            var written: ContinuousClock.Instant?
            while case .bytes = try output.read(into: &buffer) {
                let now = ContinuousClock.now
                if let start = written {
                    times.append((now - start) / .seconds(1))
                    break
                }
                // The first piece is there: the run waits for the rest.
                written = .now
                gateway.proceed()
            }
            while case .bytes = try output.read(into: &buffer) {}
            var status: Int32 = 0
            while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
            guard status == 0 else { throw BenchProcess.Failed(program: "belfry ask") }
        }
        let figures = Figures(times)
        report(
            "a delta to the terminal, \(times.count) of \(asked)", figures.milliseconds,
            limit: "p99 <= 20 ms",
            isKept: times.count == asked && figures.at(0.99) <= 0.020)
    }

    /// The command as people use it, with a pipe in the place of their terminal.
    private static func ask(_ socket: String) throws -> (output: Descriptor, pid: Int32) {
        let tool = SmallFile.parent(of: try Machine.executablePath()) + "/belfry"
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        let pipe = try Descriptor.pipe(nonblockingRead: false)
        let pid = try ChildProgram(
            path: tool, arguments: ["belfry", "ask", "talker", "Speak.", "--socket", socket],
            environment: Machine.environment, descriptors: [nothing, pipe.write, nothing]
        ).start()
        return (pipe.read, pid)
    }

    private static func onOwnThread(_ work: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            do {
                try BackgroundThread.start(named: "bench") {
                    continuation.resume(with: Result { try work() })
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
