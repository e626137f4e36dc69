import Glibc
import Host
import Tracking

/// A folder with a configuration and a state, the daemon that is killed in it, and its commands.
class DaemonHome {
    let folder: String
    private let runtime: BenchFolder
    /// How its programs are started.
    let programs: ChaosPrograms
    /// The daemon's process; nil when none was started, or it was killed.
    private(set) var daemon: Int32?

    /// Makes the home in `folder`, where `belfry.yaml` is its configuration; its session bus is at `bus`.
    init(folder: String, bus: String? = nil) throws {
        self.folder = folder
        runtime = try BenchFolder(inMemory: true)
        programs = ChaosPrograms(
            folder: folder, runtime: runtime.path, bus: bus,
            binaries: SmallFile.parent(of: try Machine.executablePath()))
    }

    deinit {
        kill()
        while case let members = processes(), !members.isEmpty {
            for pid in members { Glibc.kill(pid, SIGKILL) }
            usleep(10_000)
        }
    }

    /// Starts the daemon, which loads the file, and waits for nothing.
    func launch() throws {
        daemon = try programs.start(
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
        try programs.start("belfry", words, output: "/dev/null")
    }

    /// Runs the command and waits for its end: its exit code, and what it printed.
    @discardableResult
    func run(_ words: String...) throws -> (code: Int32, text: String) {
        let output = folder + "/answer"
        unsafe unlink(output)
        let code = status(of: try programs.start("belfry", words, output: output))
        return (code, (try? SmallFile.text(output, limit: 1 << 24)) ?? "")
    }

    /// Waits for the end of a process; its exit code, 128 and more for a signal.
    func status(of pid: Int32) -> Int32 { ChaosPrograms.status(of: pid) }

    private struct Status: Decodable {
        struct Outbox: Decodable { var pending: Int }
        var running: Int
        var queued: Int
        var outbox: Outbox
    }

    /// Whether the daemon answers, and no run and no delivery is under way.
    func isIdle() throws -> Bool {
        let (code, text) = try run("status", "--json")
        guard code == 0, let status = try? JSON.decode(Status.self, from: text.utf8) else { return false }
        return status.running + status.queued == 0 && status.outbox.pending == 0
    }

    /// The warden of this home; nil when there is none.
    var warden: Int32? {
        processes().first { (try? SmallFile.text("/proc/\($0)/comm")) == "belfry-warden" }
    }

    private func processes() -> [Int32] {
        ((try? ProcessTable.all()) ?? []).filter {
            !$0.isZombie && $0.pid != getpid()
                && ProcessTable.process($0.pid, wasStartedWith: "BELFRY_SOCKET=\(programs.socket)")
        }.map(\.pid)
    }
}

/// How the programs of a home are started: with its folders, its socket and its bus.
struct ChaosPrograms: Sendable {
    let folder: String
    let socket: String
    let binaries: String
    private let environment: [String: String]

    init(folder: String, runtime: String, bus: String?, binaries: String) {
        (self.folder, self.binaries) = (folder, binaries)
        socket = runtime + "/b.sock"
        var variables = Machine.environment.filter {
            !$0.key.hasPrefix("BELFRY_") && !$0.key.hasPrefix("XDG_")
        }
        variables["HOME"] = folder
        variables["XDG_RUNTIME_DIR"] = runtime
        variables["BELFRY_SOCKET"] = socket
        if let bus { variables["DBUS_SESSION_BUS_ADDRESS"] = bus }
        variables["TZ"] = "UTC"
        environment = variables
    }

    /// Starts one of our programs, or one of the system's; its process.
    func start(_ program: String, _ words: [String], output: String) throws -> Int32 {
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        let output = try Descriptor.open(output, O_WRONLY | O_CREAT | O_APPEND, mode: 0o600)
        let path = (program.hasPrefix("belfry") ? binaries : "/usr/bin") + "/" + program
        return try ChildProgram(
            path: path, arguments: [program] + words, environment: environment, folder: folder,
            descriptors: [nothing, output, output]
        ).start()
    }

    /// Waits for the end of a process; its exit code, 128 and more for a signal.
    static func status(of pid: Int32) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return code(of: status)
    }

    /// The same without waiting; nil: the process has not ended.
    static func statusSoFar(of pid: Int32) -> Int32? {
        var status: Int32 = 0
        return unsafe waitpid(pid, &status, Int32(WNOHANG)) > 0 ? code(of: status) : nil
    }

    private static func code(of status: Int32) -> Int32 {
        status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}
