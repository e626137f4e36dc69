import CronBench
import GatewayClient
import Glibc
import Host
import OpenClaw
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
        // With the environment that the units give it.
        let daemon = try BenchDaemon(
            folder: folder.path, configuration: configuration(count, idle, talker, folder.path),
            environment: ["MALLOC_ARENA_MAX": "2"])
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

/// Mutated frames of a gateway: none traps, whatever is read of one is the same twice, a reply that is put together of any
/// events has the text that its changes add up to and at most one end, and what a list of jobs or a history shows is news
/// once, also after what is known of them was written to a file and read again.
///
/// A fault prints its seed and ends the program: `bench gateway-fuzz [COUNT [SEED]]`.
enum GatewayFuzz {
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs `arguments[0]` frames (a million unless said) with the seed `arguments[1]`.
    static func run(arguments: [String]) throws {
        let count = arguments.first.flatMap { Int($0) } ?? 1_000_000
        let seed = arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1
        print("gateway-fuzz: \(count) frames, seed \(seed)")
        var random = SeededNumbers(seed: seed)
        var reply = Reply()
        var scheduler = Scheduler()
        var (read, replies) = (0, 0)
        let watch = Stopwatch()
        for index in 0..<count {
            let bytes = FuzzStreams.frame(&random)
            do {
                guard let frame = try? GatewayFrame(bytes[...]) else { continue }
                read += 1
                guard try GatewayFrame(bytes[...]) == frame else { throw Fault(description: "another frame") }
                look(at: frame)
                if case .response(_, .success(let payload)) = frame { try scheduler.apply(payload) }
                if index.isMultiple(of: 200) { scheduler = Scheduler() }
                if case .event("chat", let payload, _) = frame, let event = ChatEvent(payload) {
                    try reply.apply(event)
                }
                if reply.isOver || index.isMultiple(of: 50) { (reply, replies) = (Reply(), replies + 1) }
            } catch {
                throw Fault(description: "frame \(index): \(error)")
            }
        }
        print("  \(count) frames, \(read) read, \(replies) replies, \(watch.seconds.short) s")
    }

    /// All that is made of a frame.
    private static func look(at frame: GatewayFrame) {
        switch frame {
        case .response(_, .success(let payload)):
            _ = GatewayHello(payload)?.missingScopes
            let history = SessionHistory(payload)
            _ = RunRecovery(
                "k1", message: "hi", sent: Moment(seconds: 1_737_264_000), wait: RunWaitResult(payload),
                history: history)
        case .response(_, .failure(let fault)):
            let trouble = GatewayTrouble(refusal: fault)
            _ = trouble.sentence(of: "b", at: "h")
            _ = (trouble.hint(of: "b"), fault.pause, fault.missingScope)
        case .event(_, let payload, _): _ = GatewayChallenge(payload)
        case .other: break
        }
    }

    /// What is known of a gateway's jobs, and of what was said elsewhere, look after look.
    private struct Scheduler {
        private var watch = GatewayWatch()
        private var sync = SessionSync()
        private var now = Moment(seconds: 1_737_264_000)

        mutating func apply(_ payload: JSON) throws {
            now = now + .seconds(60)
            if payload["messages"] != nil { try review(SessionHistory(payload)) }
            let jobs = (payload["jobs"]?.elements ?? []).compactMap { GatewayJob($0) }
            let runs = (payload["entries"]?.elements ?? []).compactMap { GatewayRun($0) }
            guard !jobs.isEmpty || !runs.isEmpty else { return }
            for job in jobs {
                _ = (job.isKnown, StaggerOffset.of(job.id, within: job.stagger), job.whole.bytes)
            }
            try review(GatewayLook(at: now, jobs: jobs, runs: runs))
        }

        private mutating func review(_ look: GatewayLook) throws {
            let news = watch.review(look, at: now)
            for item in news { _ = (item.words(at: now, in: .utc), item.matter.word) }
            guard GatewayWatch(watch.json) == watch else {
                throw Fault(description: "what is known of the jobs is another when it is read again")
            }
            // A list with two jobs of one id shows each of them in turn.
            let isPlain = Set(look.jobs.map(\.id)).count == look.jobs.count
            let again = watch.review(look, at: now)
            if isPlain, !again.isEmpty { throw Fault(description: "the same look is news again: \(again)") }
            _ = (watch.nextDeadline(after: now), watch.review(at: now + .seconds(86_400)), watch.troubled)
        }

        private mutating func review(_ history: SessionHistory) throws {
            let sent = [SentPrompt("hi", to: "s", at: Moment(seconds: 1_737_264_000))]
            _ = sync.review(history, sent: sent)
            guard let read = SessionSync(sync.json), read.json == sync.json else {
                throw Fault(description: "what is known of the history is another when it is read again")
            }
            guard sync.review(history, sent: sent).isEmpty else {
                throw Fault(description: "the same history is news again")
            }
        }
    }

    /// A reply, put together a second time of what it reports.
    private struct Reply {
        private var assembly = ChatAssembly()
        private var text = ""
        var isOver: Bool { assembly.isOver }

        mutating func apply(_ event: ChatEvent) throws {
            var ends = 0
            for change in assembly.receive(event) {
                switch change {
                case .appended(let piece): text += piece
                case .replaced(let whole): text = whole
                case .ended: ends += 1
                }
            }
            guard text == assembly.text else { throw Fault(description: "the changes make another text") }
            guard ends == (isOver ? 1 : 0) else { throw Fault(description: "\(ends) ends") }
        }
    }
}

extension FuzzStreams {
    private static let frames: [[UInt8]] = [
        #"{"type":"event","event":"connect.challenge","payload":{"nonce":"n-1","ts":1737264000000}}"#,
        #"{"type":"res","id":"1","ok":true,"payload":{"type":"hello-ok","protocol":3,"server":{"version":"2026.4.12","connId":"c-1"},"snapshot":{"sessionDefaults":{"defaultAgentId":"main","mainKey":"main","mainSessionKey":"agent:main:main"}},"auth":{"deviceToken":"dt","scopes":["operator.read"]},"policy":{"maxPayload":26214400,"tickIntervalMs":30000}}}"#,
        #"{"type":"res","id":"1","ok":false,"error":{"code":"NOT_PAIRED","message":"pairing required","details":{"code":"PAIRING_REQUIRED","requestId":"r-1","reason":"not-paired"}}}"#,
        #"{"type":"res","id":"2","ok":false,"error":{"code":"UNAVAILABLE","message":"starting","retryable":true,"retryAfterMs":500}}"#,
        #"{"type":"event","event":"chat","payload":{"runId":"k1","sessionKey":"s","seq":3,"state":"delta","message":{"role":"assistant","content":[{"type":"text","text":"He"}]}},"seq":9}"#,
        #"{"type":"event","event":"chat","payload":{"runId":"k1","sessionKey":"s","seq":5,"state":"final","message":{"content":[{"type":"text","text":"Hello"}]}},"seq":10}"#,
        #"{"type":"event","event":"chat","payload":{"runId":"k1","sessionKey":"s","seq":4,"state":"delta","deltaText":"llo \u00e9"},"seq":3}"#,
        #"{"type":"event","event":"chat","payload":{"runId":"k1","sessionKey":"s","seq":6,"state":"delta","deltaText":"Again","replace":true},"seq":4}"#,
        #"{"type":"event","event":"chat","payload":{"runId":"k1","seq":2,"state":"error","errorMessage":"rate limited","errorKind":"rate_limit"}}"#,
        #"{"type":"res","id":"8","ok":true,"payload":{"runId":"k5","status":"ok","startedAt":1737264003000}}"#,
        #"{"type":"res","id":"4","ok":true,"payload":{"messages":[{"role":"user","content":"hi","timestamp":1737264001000,"__openclaw":{"id":"m","seq":1}},{"role":"assistant","content":[{"type":"text","text":"ho"}]}],"sessionInfo":{"hasActiveRun":true,"activeRunIds":["k1"]},"hasMore":false}}"#,
        #"{"type":"res","id":"9","ok":true,"payload":{"jobs":[{"id":"j","name":"Brief","enabled":true,"createdAtMs":1,"updatedAtMs":1,"configRevision":"r1","schedule":{"kind":"cron","expr":"0 7 * * *","tz":"America/Los_Angeles","staggerMs":300000},"sessionTarget":"isolated","wakeMode":"now","payload":{"kind":"agentTurn","message":"Summarize","timeoutSeconds":600},"delivery":{"mode":"announce"},"state":{"nextRunAtMs":1737264000000,"runningAtMs":1737263000000,"lastRunAtMs":1737262000000,"lastRunStatus":"error","lastError":"timeout","consecutiveErrors":2,"lastDeliveryStatus":"not-delivered"}},{"id":"k","enabled":false,"schedule":{"kind":"every","everyMs":60000,"anchorMs":0},"payload":{"kind":"systemEvent","text":"x"},"state":{"autoDisabled":{"reason":"consecutive-failures"}}}],"total":2,"offset":0,"limit":50,"hasMore":false,"nextOffset":null}}"#,
        #"{"type":"res","id":"10","ok":true,"payload":{"jobs":[{"id":"j","displayName":"One","schedule":{"kind":"at","at":"2027-02-01T16:00:00Z"},"payload":{"kind":"command","argv":["x"]},"state":{"nextRunAtMs":1801497600000}}],"total":1,"hasMore":false}}"#,
        #"{"type":"res","id":"11","ok":true,"payload":{"entries":[{"ts":1737264005000,"jobId":"j","action":"finished","status":"error","error":"rate limit","deliveryStatus":"not-delivered","deliveryError":"no route","runAtMs":1737264000000,"durationMs":2000,"nextRunAtMs":1737350400000,"usage":{"input_tokens":1}},{"ts":1737264006000,"jobId":"k","status":"ok","runAtMs":1737264001000}],"total":2,"hasMore":false}}"#,
        #"{"type":"res","id":"12","ok":true,"payload":{"sessionKey":"s","messages":[{"role":"user","content":"hi","timestamp":1737264001000,"__openclaw":{"id":"m1","seq":1}},{"role":"assistant","content":"ho","timestamp":1737264002000},{"role":"toolResult","content":[],"timestamp":1737264003000},{"role":"user","content":"elsewhere","timestamp":1737264009000,"idempotencyKey":"k9"}],"inFlightRun":{"runId":"k1"},"hasMore":true,"nextOffset":4}}"#,
        #"{"type":"event","event":"cron","payload":{"jobId":"j","action":"finished","runAtMs":1,"durationMs":2,"status":"error","error":"timeout","deliveryStatus":"not-delivered","nextRunAtMs":3},"seq":14}"#,
    ].map { Array($0.utf8) }

    /// A frame of a gateway that is nearly right: its bytes were changed, or values of its JSON were exchanged.
    static func frame(_ random: inout SeededNumbers) -> [UInt8] {
        let frame = frames[Int.random(in: 0..<frames.count, using: &random)]
        guard Bool.random(using: &random), let json = JSON(parsing: frame[...]) else {
            return mutated(frame, &random)
        }
        return twisted(json, &random).bytes
    }

    private static let oddValues: [JSON] =
        [.null, .bool(true), .bool(false), .array([]), .members([]), .int(0), .int(1)]
        + [
            "-1", "0.5", "1e308", "-1e308", "9223372036854775807", "-9223372036854775808", "9000000000000000",
            "18446744073709551616", "1737264060000",
        ].map { .number($0) }
        + ["", "ok", "error", "j", "k1", "at", "every", "cron", "2027-02-01T16:00:00Z", "9999999999999999"]
        .map { .string($0) }

    private static func twisted(_ json: JSON, _ random: inout SeededNumbers) -> JSON {
        func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
        if below(25) == 0 { return oddValues[below(oddValues.count)] }
        switch json {
        case .array(let elements):
            var all = elements.map { twisted($0, &random) }
            if !all.isEmpty, below(4) == 0 { all.append(all[below(all.count)]) }
            return .array(all)
        case .members(let members):
            return .members(members.map { .init($0.name, twisted($0.value, &random)) })
        default: return json
        }
    }
}
