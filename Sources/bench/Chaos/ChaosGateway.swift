import CronBench
import Glibc
import Grouping
import Host
import Ledger
import LedgerSQLite
import Synchronization
import TestSupport
import Timeline
import Tracking

/// The gateway of a chaos home: a process that is killed as the daemon is, and two bots behind it with a job each.
///
/// One of them speaks in the agent's main conversation, where each prompt has the same words, the other one in a conversation of
/// its own for each run.
final class ChaosGateway {
    /// The jobs whose bots are behind the gateway.
    static let jobs = ["gate-direct", "gate-isolated"]
    static let period = 3

    /// Where it keeps what was said.
    let folder: String
    private let port: Int
    private var process: Int32?
    /// How often it was killed.
    private(set) var kills = 0

    /// One that is not started yet, in the home's folder.
    init(home: String) throws {
        folder = home + "/gateway"
        port = Int.random(in: 20_000..<32_768)
        unsafe mkdir(folder, 0o700)
        try SmallFile.replace(folder + "/token", with: Array("shared-token\n".utf8))
    }

    deinit { kill() }

    /// The lines under `bots:`.
    var bots: String {
        Self.jobs.map { job in
            """
              \(job): { backend: { kind: openclaw, url: "ws://127.0.0.1:\(port)", token: { file: \(folder)/token }, \
            session: \(job.dropFirst(5)) } }

            """
        }.joined()
    }

    /// The lines under `jobs:`.
    var jobLines: String {
        Self.jobs.enumerated().map { number, job in
            """
              \(job): { schedule: "\(number)-59/\(Self.period) * * * * *", bot: \(job), prompt: Report. }

            """
        }.joined()
    }

    /// Starts it, and waits for nothing.
    func launch() throws {
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        let log = try Descriptor.open(folder + "/log", O_WRONLY | O_CREAT | O_APPEND, mode: 0o600)
        process = try ChildProgram(
            path: try Machine.executablePath(), arguments: ["bench", "gateway-stand", folder, "\(port)"],
            environment: Machine.environment, folder: folder, descriptors: [nothing, log, log]
        ).start()
    }

    /// Ends it without a word.
    func kill() {
        guard let process else { return }
        Glibc.kill(process, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        self.process = nil
        kills += 1
    }

    /// Whether it ended by itself, which it never should.
    var hasEnded: Bool { process.map { waitpid($0, nil, Int32(WNOHANG)) == $0 } ?? false }
}

extension RunRecord {
    /// Whether the run asks a bot, so that no job reports its starts.
    var asksBot: Bool { ChaosTalk.isTalk(self) || ChaosGateway.jobs.contains(job) }
}

/// What the gateway and the ledger show of its prompts when all has ended.
struct ChaosGatewayVerdict {
    /// How many prompts were replied to, and how many of them while the daemon was killed.
    private(set) var replied = 0
    private(set) var outlived = 0
    /// How many the gateway itself lost when it was killed, and how many it never had.
    private(set) var lost = 0
    private(set) var unsent = 0
    /// What is wrong; empty when all is well.
    private(set) var faults: [String] = []

    private let kills: [Moment]

    /// Reads the ledger of a home whose daemon has stopped.
    init(
        _ gateway: ChaosGateway, _ ledger: SQLiteLedger, _ runs: [RunRecord], kills: [Moment]
    ) async throws {
        self.kills = kills
        let entries = GatewayStand.entries(in: gateway.folder)
        /// Of `RUN.ATTEMPT` what was asked, and what was said, by the run.
        func texts(_ role: String) -> [String: [String]] {
            Dictionary(grouping: entries.filter { $0.role == role }) { String($0.run?.prefix(36) ?? "") }
                .mapValues { $0.map { $0.role == "user" ? $0.run ?? "" : $0.text } }
        }
        let (asked, said) = (texts("user"), texts("assistant"))
        var posted: [String: [String]] = [:]
        for job in ChaosGateway.jobs {
            for message in try await ledger.messages(bot: job, thread: job, after: 0, limit: .max)
            where message.record.message.author == .bot {
                posted[message.record.run ?? "", default: []].append(message.record.message.text)
            }
        }
        let own = runs.filter { ChaosGateway.jobs.contains($0.job) && $0.slot != nil }
        for run in own { judge(run, asked[run.id] ?? [], said[run.id] ?? [], posted[run.id] ?? []) }
        let known = Set(own.map(\.id))
        for run in Set(asked.keys).union(posted.keys) where !known.contains(run) {
            faults.append(
                "the gateway executed, or a message belongs to, a run that the ledger does not know: \(run)")
        }
    }

    private mutating func judge(_ run: RunRecord, _ asked: [String], _ said: [String], _ posted: [String]) {
        func fault(_ text: String) { faults.append("\(run.name): \(text)") }
        if asked.count > 1 { fault("its prompt was executed \(asked.count) times: \(asked)") }
        guard let reply = said.first else {
            if !posted.isEmpty { fault("has the messages \(posted), and the gateway said nothing") }
            if run.state != .failed { fault("is \(run.state.rawValue), and the gateway said nothing") }
            if asked.isEmpty { unsent += 1 } else { lost += 1 }
            return
        }
        replied += 1
        if let start = run.startedAt, let end = run.endedAt, kills.contains(where: { start < $0 && $0 < end })
        {
            outlived += 1
        }
        if run.state != .completed || posted != [reply] || reply != GatewayStand.reply(to: asked.first ?? "")
        {
            fault("is \(run.state.rawValue) with \(posted), and the gateway said \(said) to \(asked)")
        }
    }
}

/// The emulated gateway of the tests as a process of its own, which can be killed: `bench gateway-stand FOLDER PORT`.
///
/// It writes each message down before anybody hears of it, and begins with what an earlier process wrote. Replies take their
/// time, and connections are cut now and then.
enum GatewayStand {
    /// A message of a session, as it stands in the file.
    struct Entry: Codable {
        var session: String
        var role: String
        var text: String
        var run: String?
        var at: Int64
    }

    /// The file in `folder` that the messages are written to.
    static func file(in folder: String) -> String { folder + "/transcript" }

    /// Every message so far, oldest first; a line that was cut off by a kill is none.
    static func entries(in folder: String) -> [Entry] {
        let text = (try? SmallFile.text(file(in: folder), limit: 1 << 28)) ?? ""
        return text.split(separator: "\n").compactMap { try? JSON.decode(Entry.self, from: $0.utf8) }
    }

    /// The reply to the prompt of a run.
    static func reply(to run: String) -> String { "gate-reply \(run) is whole." }

    /// Serves until it is killed.
    static func run(arguments: [String]) async throws {
        guard arguments.count == 2, let port = Int(arguments[1]) else {
            throw BenchProcess.Failed(program: "bench gateway-stand FOLDER PORT")
        }
        let file = try Descriptor.open(
            Self.file(in: arguments[0]), O_WRONLY | O_CREAT | O_APPEND, mode: 0o600)
        let kept = entries(in: arguments[0]).map {
            GatewayEmulator.Entry(session: $0.session, role: $0.role, text: $0.text, run: $0.run, at: $0.at)
        }
        var manner = GatewayEmulator.Manner()
        (manner.issuesTokens, manner.keepsTime) = (false, true)
        manner.makeReply = { run in
            let words = Self.reply(to: run).split(separator: " ").map { $0 + " " }
            var reply = GatewayEmulator.Reply(pauseAfter: 1)
            reply.pieces = words.dropLast().map(String.init) + ["whole."]
            return reply
        }
        let broken = Mutex<String?>(nil)
        let gateway = try await GatewayEmulator(manner, port: port, kept: kept) { entry in
            let line = Entry(
                session: entry.session, role: entry.role, text: entry.text, run: entry.run, at: entry.at)
            do {
                try file.writeAll(Array(try JSON.encode(line)) + [0x0A])
            } catch {
                broken.withLock { $0 = "\(error)" }
            }
        }
        var random = SeededNumbers(seed: UInt64.random(in: 0 ... .max))
        while broken.withLock({ $0 }) == nil {
            try await Task.sleep(for: .milliseconds(Int.random(in: 30...500, using: &random)))
            if Int.random(in: 0..<20, using: &random) == 0 { gateway.cut() }
            if gateway.isPaused { gateway.proceed() }
        }
        throw BenchProcess.Failed(program: broken.withLock { $0 } ?? "gateway-stand")
    }
}
