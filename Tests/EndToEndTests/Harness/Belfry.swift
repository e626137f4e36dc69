import Foundation
import Synchronization
import TestSupport

/// A home with a configuration and a daemon in it, driven through the built programs as a person would.
///
/// Whatever was started in the home, the daemon, its warden and the jobs, is killed when this is let go.
final class Belfry: Sendable {
    /// The home.
    let folder: TemporaryFolder
    /// The session's bus with a notification server on it; nil: nobody shows anything.
    let bus: PrivateBus?
    /// Where webhooks go; nil: the channel does not exist.
    let hook: HookServer?
    /// The clock the daemon sees; nil: the machine's.
    let clock: FakeClock?
    private let daemon = Mutex<ChildProcess?>(nil)
    /// What the daemon logged before it was up.
    private let firstWords = Mutex<[String]>([])
    /// Without a bus of its own a daemon looks for the one of whoever runs the tests.
    private let quietBus = Mutex<PrivateBus?>(nil)
    private let answers = Atomic<Int>(0)
    private let variables = Mutex<[String: String?]>([:])

    /// Makes a home; starts nothing in it.
    ///
    /// - Parameters:
    ///   - config: what the configuration says besides its zone, channels and routes.
    ///   - bus: the session's bus, which gives it the channel `desk`.
    ///   - hook: the receiver, which gives it the channel `hook`; see ``Belfry/receiver(_:)``.
    ///   - clock: the clock the daemon sees; the machine's unless given.
    ///   - folder: the home; a fresh one unless given.
    /// - Throws: when a file can't be written.
    init(
        _ config: String = "", bus: PrivateBus? = nil, hook: HookServer? = nil, clock: FakeClock? = nil,
        in folder: TemporaryFolder? = nil
    ) throws {
        self.folder = try folder ?? TemporaryFolder()
        self.clock = clock
        self.bus = bus
        self.hook = hook
        try write(Self.secret + "\n", to: "hook.secret")
        try configure(config)
    }

    deinit {
        daemon.withLock { $0 = nil }
        Household.end(of: folder.path)
    }

    /// A home whose daemon is up.
    static func start(
        _ config: String = "", bus: PrivateBus? = nil, hook: HookServer? = nil
    ) async throws -> Belfry {
        let belfry = try Belfry(config, bus: bus, hook: hook)
        try await belfry.start()
        return belfry
    }

    /// A receiver of webhooks that verifies them with the package `standardwebhooks`.
    static func receiver(_ options: String...) async throws -> HookServer {
        try await HookServer(["--secret", secret] + options)
    }

    /// What webhooks are signed with.
    static let secret = "whsec_" + Data((0..<32).map { UInt8($0) }).base64EncodedString()

    // MARK: Files

    /// The configuration's path.
    var configPath: String { folder.file("belfry.yaml") }
    /// The state folder's path.
    var statePath: String { folder.file("state") }
    /// The control socket's path.
    var socketPath: String { folder.file("run/belfry.sock") }

    /// Writes a configuration of `config`, the zone, and the channels and routes of this home.
    func configure(_ config: String) throws {
        try write(text(of: config), to: "belfry.yaml")
    }

    /// Writes a file in the home.
    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file(name)))
    }

    /// The lines of a file in the home; none when there is no such file.
    func lines(of name: String) -> [String] {
        let data = FileManager.default.contents(atPath: folder.file(name)) ?? Data()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func text(of config: String) -> String {
        var channels: [String: String] = [:]
        if bus != nil { channels["desk"] = "{ kind: desktop }" }
        if let hook {
            channels["hook"] = """
                { kind: webhook, url: "\(hook.url())", secret: { file: \(folder.file("hook.secret")) }, \
                allow: [127.0.0.1/32] }
                """
        }
        if channels.isEmpty { channels["desk"] = "{ kind: desktop }" }
        let lines = channels.keys.sorted().map { "  \($0): \(channels[$0] ?? "")\n" }.joined()
        return """
            zone: UTC
            \(config)
            channels:
            \(lines)routes:
              - when: [started, progress, completed, failed, recovered, canceled, lost, missed, message, test]
                to: [\(channels.keys.sorted().joined(separator: ", "))]

            """
    }

    /// Sets a variable for what is started from now on; nil takes it away.
    func set(_ name: String, _ value: String?) {
        variables.withLock { $0[name] = .some(value) }
    }

    // MARK: The daemon

    /// Starts the daemon and waits until it accepts commands and has loaded its jobs.
    ///
    /// - Parameters:
    ///   - words: how it is called; nil: with this home's configuration and state.
    ///   - wrapper: a program with its arguments that starts it, such as `prlimit`.
    ///   - program: the daemon's path; the built one unless given.
    /// - Throws: ``NotUp`` with its last words when it ends instead.
    func start(
        _ words: [String]? = nil, through wrapper: [String] = [], program: String? = nil
    ) async throws {
        if bus == nil, quietBus.withLock({ $0 == nil }) {
            let bus = try await PrivateBus.start()
            quietBus.withLock { $0 = bus }
        }
        let process = try launch(words, through: wrapper, program: program)
        var words: [String] = []
        for await line in process.lines {
            words.append(line)
            if "\(line) ".contains(" started ") {
                daemon.withLock { $0 = process }
                firstWords.withLock { $0 = words }
                return
            }
        }
        throw NotUp(words: words)
    }

    /// Starts the daemon and does not wait for anything.
    func launch(
        _ words: [String]? = nil, through wrapper: [String] = [], program: String? = nil
    ) throws -> ChildProcess {
        let program = try program ?? BuiltProgram.path("belfryd")
        let all = wrapper + [program] + (words ?? ["--config", configPath, "--state", statePath])
        return try ChildProcess(
            all[0], Array(all.dropFirst()),
            environment: environment.merging(clock?.environment ?? [:]) { $1 }, folder: folder.path,
            streams: .bothInLines)
    }

    /// The daemon's process.
    ///
    /// - Throws: ``NotUp`` when none was started.
    func process() throws -> ChildProcess {
        guard let process = daemon.withLock({ $0 }) else { throw NotUp(words: []) }
        return process
    }

    /// Waits until the daemon has logged a line that holds `text`; the line.
    @discardableResult
    func logged(_ text: String) async throws -> String {
        if let line = firstWords.withLock({ $0.first { $0.contains(text) } }) { return line }
        guard let line = try await process().line(where: { $0.contains(text) }) else { throw Feed.Ended() }
        return line
    }

    /// Kills the daemon and waits until it has ended.
    func kill() async throws {
        try await process().end()
    }

    /// Asks the daemon to end, and waits; its exit code.
    @discardableResult
    func stop() async throws -> Int32? {
        let process = try process()
        process.signal(SIGTERM)
        return await process.status()
    }

    /// Kills the daemon and starts the next.
    func restart() async throws {
        try await kill()
        try await start()
    }

    /// The daemon ended, or was never started.
    struct NotUp: Error {
        var words: [String]
    }

    // MARK: Commands

    /// Runs `belfry` with these words and waits for its end.
    @discardableResult
    func run(_ words: String..., input: String? = nil) async throws -> Answer {
        try await run("belfry", words, input: input)
    }

    /// The JSON that `belfry ... --json` prints.
    ///
    /// - Throws: ``Refused`` when it exits with anything but 0.
    func json(_ words: String...) async throws -> JSON {
        let answer = try await run("belfry", words + ["--json"])
        guard answer.code == 0 else { throw Refused(answer: answer) }
        return try answer.json()
    }

    /// Waits until the daemon has recorded the end of a run, which may come after that of its `belfry exec`; the run.
    @discardableResult
    func ended(_ run: String) async throws -> JSON {
        while true {
            let shown = try await json("run", "show", run)
            if shown["endedAt"].text != nil { return shown }
            try Task.checkCancellation()
        }
    }

    /// Waits until something is so; the time limit of the test ends a wait that is in vain.
    func until(_ isSo: () async throws -> Bool) async throws {
        while try await !isSo() { try Task.checkCancellation() }
    }

    /// Runs a built program, or another one by its path, in this home and waits for its end.
    func run(_ program: String, _ words: [String], input: String? = nil) async throws -> Answer {
        let number = answers.add(1, ordering: .relaxed).newValue
        let (output, errors) = (folder.file("\(number).out"), folder.file("\(number).err"))
        let path = program.contains("/") ? program : try BuiltProgram.path(program)
        let process = try ChildProcess(
            path, words, environment: environment, folder: folder.path,
            streams: .files(output: output, errors: errors))
        // It may end without reading any of it; what came of that is the answer.
        if let input { try? process.write(input) }
        try process.closeInput()
        guard let code = await process.status() else { throw Feed.Ended() }
        return Answer(
            code: code, bytes: bytes(of: output), errors: String(decoding: bytes(of: errors), as: UTF8.self))
    }

    private func bytes(of path: String) -> [UInt8] {
        [UInt8](FileManager.default.contents(atPath: path) ?? Data())
    }

    /// Starts a command that prints one JSON object a line; ends with the value.
    func feed(_ words: String...) throws -> Feed {
        Feed(try ChildProcess(BuiltProgram.path("belfry"), words + ["--json"], environment: environment))
    }

    /// Every event from the first one on.
    func events() throws -> Feed { try feed("events", "--since", "0") }

    /// What the programs see: this home alone, and none of the tester's own daemon.
    ///
    /// A folder `zones` in the home is the zone data.
    var environment: [String: String?] {
        let zones = folder.file("zones")
        let own: [String: String?] = [
            "HOME": folder.path, "XDG_RUNTIME_DIR": folder.file("run"), "BELFRY_SOCKET": socketPath,
            "XDG_CONFIG_HOME": nil, "XDG_STATE_HOME": nil, "BELFRY_CONFIG": nil, "BELFRY_STATE": statePath,
            "DBUS_SYSTEM_BUS_ADDRESS": (bus ?? quietBus.withLock { $0 })?.address,
            "DBUS_SESSION_BUS_ADDRESS": (bus ?? quietBus.withLock { $0 })?.address, "TZ": "UTC",
            "TZDIR": FileManager.default.fileExists(atPath: zones) ? zones : nil,
            "NO_COLOR": nil, "CI": nil,
            // A machine that is busy with other tests answers late.
            "BELFRY_TIMEOUT": "60",
        ]
        return own.merging(variables.withLock(\.self)) { $1 }
    }
}

extension Belfry {
    /// Runs `sh -c` in this home with `belfry` in its PATH, standard input from nowhere; what it answered.
    func shell(_ text: String) async throws -> Answer {
        let name = UUID().uuidString
        let (output, errors) = (folder.file(name + ".out"), folder.file(name + ".err"))
        let process = try startShell(text, output: output, errors: errors)
        guard let code = await process.status() else { throw Feed.Ended() }
        func bytes(_ path: String) -> [UInt8] {
            [UInt8](FileManager.default.contents(atPath: path) ?? Data())
        }
        return Answer(
            code: code, bytes: bytes(output), errors: String(decoding: bytes(errors), as: UTF8.self))
    }

    /// Starts `sh -c` as ``shell(_:)`` does, and does not wait.
    func startShell(_ text: String, output: String, errors: String) throws -> ChildProcess {
        let path = try BuiltProgram.path("belfry")
        var environment = environment
        let programs = URL(fileURLWithPath: path).deletingLastPathComponent().path
        environment["PATH"] = programs + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
        let process = try ChildProcess(
            "sh", ["-c", text], environment: environment, folder: folder.path,
            streams: .files(output: output, errors: errors))
        try process.closeInput()
        return process
    }

    /// The names of the runs that are waiting in the spool, begun or ended.
    var spooled: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: statePath + "/spool")) ?? []
        return names.filter { $0.hasSuffix(".json") }.sorted()
    }
}

/// What a command answered.
struct Answer: CustomStringConvertible {
    /// The exit code.
    let code: Int32
    /// Standard output, byte for byte.
    let bytes: [UInt8]
    /// Standard error.
    let errors: String

    /// Standard output as text.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The lines of standard output.
    var lines: [String] { text.split(separator: "\n").map(String.init) }

    /// Standard output as JSON.
    ///
    /// - Throws: ``Refused`` with everything that was said when it is none.
    func json() throws -> JSON {
        do {
            return try JSON(text)
        } catch {
            throw Refused(answer: self)
        }
    }

    var description: String { "code \(code), output \"\(text)\", errors \"\(errors)\"" }
}

/// A command did not do what the test needed of it.
struct Refused: Error, CustomStringConvertible {
    var answer: Answer

    var description: String { answer.description }
}
