import CronBench
import Glibc
import Host
import Ledger
import LedgerSQLite
import Timeline
import Tracking

/// A home with jobs in it, and the daemon that is killed over and over.
///
/// What each job does it writes to the file `done` itself, one line a start, and one more at its end where it
/// takes its time: the ledger's word is compared with that.
final class ChaosHome {
    /// The jobs that take their time: more than most daemons here live.
    private static let slow = (count: 4, period: 4)
    /// The jobs that fail at first, and have time for another attempt before their next slot.
    private static let clumsy = (count: 4, period: 10)
    /// The jobs that leave a process behind, hold a lock by it, and may be done again when they are lost.
    private static let untidy = (count: 3, period: 5)
    /// The jobs whose runs wait for their part of a spread that is longer than their interval, each by another policy.
    private static let spread = (policies: ["skip", "queue-one", "queue-all"], period: 2)

    let folder: String
    private let runtime: BenchFolder
    private let quick: Int
    private let ports: (hook: UInt16, sick: UInt16)
    /// Its bots, and what was said to them.
    var talk: ChaosTalk
    /// The gateway that two of its bots are behind.
    let gateway: ChaosGateway
    private let binaries: String
    /// The jobs that change between the kills.
    private(set) var edits = ChaosEdits()
    /// The daemon's process; nil when none was started, or it was killed.
    private(set) var daemon: Int32?

    /// Makes the home: `quick` jobs that start every second, and webhooks to two ports of this machine.
    init(folder: String, quick: Int, ports: (hook: UInt16, sick: UInt16)) throws {
        self.folder = folder
        self.quick = quick
        self.ports = ports
        talk = try ChaosTalk()
        gateway = try ChaosGateway(home: folder)
        runtime = try BenchFolder(inMemory: true)
        binaries = SmallFile.parent(of: try Machine.executablePath())
        try SmallFile.replace(folder + "/scribe", with: Array(ChaosTalk.program(done: done).utf8))
        try writeConfiguration()
    }

    deinit {
        kill()
        while case let members = processes(), !members.isEmpty {
            for pid in members { Glibc.kill(pid, SIGKILL) }
            usleep(10_000)
        }
    }

    /// The names of all jobs, with the seconds from slot to slot.
    var periods: [String: Int] {
        var periods = Dictionary(uniqueKeysWithValues: quickJobs.map { ($0, 1) })
        for job in slowJobs { periods[job] = Self.slow.period }
        for job in clumsyJobs { periods[job] = Self.clumsy.period }
        for job in untidyJobs { periods[job] = Self.untidy.period }
        for job in spreadJobs { periods[job] = Self.spread.period }
        for job in ChaosEdits.edited + ChaosEdits.fleeting { periods[job] = 1 }
        for job in ChaosTalk.jobs + [ChaosTalk.programJob] { periods[job] = ChaosTalk.period }
        for job in ChaosGateway.jobs { periods[job] = ChaosGateway.period }
        return periods
    }

    private var quickJobs: [String] { (0..<quick).map { "quick-\($0)" } }
    private var slowJobs: [String] { (0..<Self.slow.count).map { "slow-\($0)" } }
    private var clumsyJobs: [String] { (0..<Self.clumsy.count).map { "clumsy-\($0)" } }
    private var untidyJobs: [String] { (0..<Self.untidy.count).map { "untidy-\($0)" } }

    private var spreadJobs: [String] { Self.spread.policies.map { "spread-\($0)" } }

    /// Writes the file as the current edition has it, with each edited job changed.
    private func writeConfiguration() throws {
        try SmallFile.replace(folder + "/belfry.yaml", with: Array(configuration().utf8))
    }

    private func configuration() -> String {
        let edition = edits.current
        let words = "\"\(edition.number) $BELFRY_RUN_ID $BELFRY_ATTEMPT"
        var jobs = ""
        for job in ChaosEdits.edited + edition.present.sorted() {
            jobs += """
                  \(job): { schedule: "* * * * * *", shell: 'echo \(words) begin" >> \(done)' }

                """
        }
        jobs += steadyJobs
        return """
            zone: UTC
            bots:
            \(talk.bots)\(gateway.bots)jobs:
            \(jobs)\(talk.jobLines)\(gateway.jobLines)channels:
              hook: { kind: webhook, url: "http://127.0.0.1:\(ports.hook)/hook", allow: [127.0.0.1/32] }
              sick: { kind: webhook, url: "http://127.0.0.1:\(ports.sick)/hook", allow: [127.0.0.1/32] }
            routes:
              - { when: [completed, failed, lost, missed, recovered, canceled, message], to: [hook, sick] }

            """
    }

    /// The jobs that stay as they are.
    private var steadyJobs: String {
        let words = "\"0 $BELFRY_RUN_ID $BELFRY_ATTEMPT"
        var jobs = ""
        for (number, job) in quickJobs.enumerated() {
            let end = number == 0 ? "exit 3" : "exit 0"
            jobs += """
                  \(job): { schedule: "* * * * * *", shell: 'echo \(words) begin" >> \(done); \(end)' }

                """
        }
        for (number, job) in slowJobs.enumerated() {
            jobs += """
                  \(job): { schedule: "\(number)-59/\(Self.slow.period) * * * * *", shell: 'echo \(words) begin" >> \
                \(done); sleep 2.5; echo \(words) end" >> \(done)' }

                """
        }
        for (number, job) in clumsyJobs.enumerated() {
            jobs += """
                  \(job): { schedule: "\(number)-59/\(Self.clumsy.period) * * * * *", \
                retry: { attempts: 3, backoff: 1s }, shell: 'echo \(words) begin" >> \(done); \
                test $BELFRY_ATTEMPT -gt 1' }

                """
        }
        for (number, job) in untidyJobs.enumerated() {
            // Whoever finds the lock of its run taken says so: another attempt is still at it.
            jobs += """
                  \(job): { schedule: "\(number)-59/\(Self.untidy.period) * * * * *", \
                retry: { attempts: 3, backoff: 1s, onLost: true }, shell: 'echo \(words) begin" >> \(done); \
                (setsid flock -n \(folder)/lock-$BELFRY_RUN_ID sleep 2.5 || echo \(words) beside" >> \(done)) & \
                sleep 1' }

                """
        }
        for (job, policy) in zip(spreadJobs, Self.spread.policies) {
            jobs += """
                  \(job): { schedule: "*/\(Self.spread.period) * * * * *", spread: 5s, overlap: \(policy), \
                shell: 'echo \(words) begin" >> \(done)' }

                """
        }
        return jobs
    }

    private var done: String { folder + "/done" }
    private var socket: String { runtime.path + "/b.sock" }

    /// What the jobs wrote, line by line.
    var lines: [Substring] {
        (try? SmallFile.text(done, limit: 1 << 30))?.split(separator: "\n") ?? []
    }

    // MARK: Processes

    private var environment: [String: String] {
        var variables = Machine.environment.filter {
            !$0.key.hasPrefix("BELFRY_") && !$0.key.hasPrefix("XDG_")
        }
        variables["HOME"] = folder
        variables["XDG_RUNTIME_DIR"] = runtime.path
        variables["BELFRY_SOCKET"] = socket
        variables["TZ"] = "UTC"
        return variables
    }

    private func start(_ program: String, _ words: [String], output: String) throws -> Int32 {
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        let output = try Descriptor.open(output, O_WRONLY | O_CREAT | O_APPEND, mode: 0o600)
        return try ChildProgram(
            path: binaries + "/" + program, arguments: [program] + words, environment: environment,
            folder: folder, descriptors: [nothing, output, output]
        ).start()
    }

    // MARK: Edits

    /// Replaces the file by its next edition; ``reload()`` or ``launch()`` loads it.
    func edit(_ random: inout SeededNumbers) throws {
        edits.advance(&random, at: .now)
        try writeConfiguration()
    }

    /// Asks the daemon to load the file and waits for nothing; the request's process.
    func reload() throws -> Int32 { try begin("reload") }

    /// Notes whether the reload of edition `number` has succeeded.
    func noteReload(_ pid: Int32, of number: Int) {
        if status(of: pid) == 0 { edits.loaded(number, by: .now) }
    }

    /// Starts the daemon, which loads the file, and waits for nothing.
    func launch() throws {
        edits.loaded(edits.current.number, by: .now)
        daemon = try start(
            "belfryd", ["--config", folder + "/belfry.yaml", "--state", folder + "/state"],
            output: folder + "/log")
    }

    /// Ends the daemon without a word.
    func kill() {
        guard let daemon else { return }
        Glibc.kill(daemon, SIGKILL)
        _ = status(of: daemon)
        self.daemon = nil
    }

    /// Asks the daemon to end, and waits.
    func stop() {
        guard let daemon else { return }
        Glibc.kill(daemon, SIGTERM)
        _ = status(of: daemon)
        self.daemon = nil
    }

    /// Whether the daemon has ended by itself, which it never should.
    func hasDaemonEnded() -> Bool {
        guard let daemon, waitpid(daemon, nil, Int32(WNOHANG)) == daemon else { return false }
        self.daemon = nil
        return true
    }

    /// Starts the command and waits for nothing; its process.
    func begin(_ words: String...) throws -> Int32 {
        try start("belfry", words, output: "/dev/null")
    }

    /// Runs the command and waits for its end: its exit code, and what it printed.
    @discardableResult
    func run(_ words: String...) throws -> (code: Int32, text: String) {
        let output = folder + "/answer"
        unsafe unlink(output)
        let code = status(of: try start("belfry", words, output: output))
        return (code, (try? SmallFile.text(output, limit: 1 << 24)) ?? "")
    }

    /// Waits for the end of a process; its exit code, 128 and more for a signal.
    func status(of pid: Int32) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    /// The warden of this home; nil when there is none.
    var warden: Int32? {
        processes().first { (try? SmallFile.text("/proc/\($0)/comm")) == "belfry-warden" }
    }

    private func processes() -> [Int32] {
        ((try? ProcessTable.all()) ?? []).filter {
            !$0.isZombie && $0.pid != getpid()
                && ProcessTable.process($0.pid, wasStartedWith: "BELFRY_SOCKET=\(socket)")
        }.map(\.pid)
    }

    // MARK: Coming to rest

    private struct Status: Decodable {
        struct Outbox: Decodable { var pending: Int }
        var running: Int
        var queued: Int
        var outbox: Outbox
    }

    /// Waits until nothing is under way, ends the daemon, and starts it again for what still waits for more of its
    /// thread: `status` does not count it; false when that takes `seconds`.
    func comeToRest(within seconds: Double) async throws -> Bool {
        let watch = Stopwatch()
        while try settle(within: seconds - watch.seconds) {
            stop()
            let ledger = try SQLiteLedger(path: folder + "/state/ledger.sqlite")
            let waiting = try await ledger.itemsToWake(limit: 1)
            await ledger.close()
            // What repeats itself after hours is nothing to wait for.
            if waiting.allSatisfy({ $0.flushAt.map { $0 > .now + .seconds(60) } ?? true }) { return true }
            try launch()
        }
        stop()
        return false
    }

    /// Lists every job again, pauses them all and waits until nothing is under way; false when that takes `seconds`.
    func settle(within seconds: Double) throws -> Bool {
        let watch = Stopwatch()
        edits.complete(at: .now)
        try writeConfiguration()
        while try run("reload").code != 0, watch.seconds < seconds { usleep(100_000) }
        edits.loaded(edits.current.number, by: .now)
        // What an outage left waits for the channel's own next try, or for a test of the channel.
        try run("channel", "test", "sick")
        var unpaused = Set(periods.keys)
        while watch.seconds < seconds {
            for job in unpaused where try run("job", "pause", job).code == 0 { unpaused.remove(job) }
            if unpaused.isEmpty, let status = try status(), status.running + status.queued == 0,
                status.outbox.pending == 0
            {
                return true
            }
            usleep(100_000)
        }
        return false
    }

    private func status() throws -> Status? {
        let (code, text) = try run("status", "--json")
        return code == 0 ? try? JSON.decode(Status.self, from: text.utf8) : nil
    }
}
