import Bots
import Delivery
import Glibc
import Host
import Performing
import Prompting
import Synchronization
import TestSupport
import Testing
import Timeline
import Tracking
import WardenProtocol

/// A bot that is a shell script, and a real warden that runs it.
final class ProgramScene {
    let folder: TemporaryFolder
    private(set) var performer: ProgramPerformer
    private var client: WardenClient
    private let contact: Mutex<BotInUse>
    private let run = UniqueID.v4()
    private let admit: @Sendable (String) async throws(AttemptFault) -> Void
    private let executable: String
    private var pid: Int32 = 0
    private var seen: [PerformerEvent] = []

    var key: RunKey { RunKey(run: run, attempt: 1) }
    /// Where the reply is kept.
    var output: String { folder.file("output/reply.log") }

    /// `variables` are words of the shell that set variables of the warden.
    init(
        _ contact: BotInUse, variables: String = "",
        admit: @escaping @Sendable (String) async throws(AttemptFault) -> Void = { _ in }
    ) async throws {
        self.admit = admit
        folder = try TemporaryFolder()
        try PrivateFolder.make(folder.file("state"))
        let warden = try BuiltProgram.path("belfry-warden")
        if variables.isEmpty {
            executable = warden
        } else {
            executable = folder.file("staged")
            let script = "#!/bin/sh\nexport \(variables)\nexec '\(warden)' \"$@\"\n"
            try SmallFile.replace(executable, with: Array(script.utf8), mode: 0o755)
        }
        self.contact = Mutex(contact)
        client = try WardenClient(directory: folder.file("w"))
        performer = try Self.performer(over: client, in: folder, contact, admit)
        try await connect()
    }

    /// A bot that is the text of a script.
    convenience init(
        _ dialect: ProgramDialect, _ script: String,
        _ change: (inout BotProgram, TemporaryFolder) -> Void = { _, _ in }
    ) async throws {
        var program = BotProgram(dialect, command: ["/bin/sh", "-c", script, "bot"])
        let folder = try TemporaryFolder()
        change(&program, folder)
        var contact = BotInUse(nil)
        contact.program = program
        try await self.init(contact)
    }

    deinit {
        client.close()
        if pid > 0 { kill(pid, SIGKILL) }
    }

    private static func performer(
        over client: WardenClient, in folder: TemporaryFolder, _ contact: BotInUse,
        _ admit: @escaping @Sendable (String) async throws(AttemptFault) -> Void
    ) throws -> ProgramPerformer {
        try ProgramPerformer(
            over: client, folder: folder.file("state/replies"), clock: SteadyClock(), home: folder.path,
            find: { $0 == "sage" ? contact : nil }, admit: admit)
    }

    private func connect() async throws {
        var launch = WardenLaunch(executable: executable, state: folder.file("state"), tiedTo: getpid())
        launch.startTimeout = .seconds(60)
        pid = try await client.connect(launching: launch).pid
        try await until { $0 == .caughtUp }
    }

    /// Another daemon, after this one was killed.
    ///
    /// What `meanwhile` does happens while none is there.
    func restart(_ meanwhile: () throws -> Void = {}) async throws {
        client.close()
        try meanwhile()
        client = try WardenClient(directory: folder.file("w"))
        performer = try Self.performer(over: client, in: folder, contact.withLock(\.self), admit)
        seen = []
        try await connect()
    }

    /// Orders a reply to `prompt`.
    func start(
        _ prompt: String = "Hi", timeout: Duration? = nil, environment: [String: String] = [:],
        session: Continuation? = nil, isReadLive: Bool = false, goesOn: Bool = false
    ) {
        var order = PromptOrder(
            key: key, bot: "sage", text: prompt, timeout: timeout, output: .init(path: output))
        order.session = session
        order.isReadLive = isReadLive
        order.goesOn = goesOn
        order.program = ProcessOrder(
            key: key, work: .command([]), environment: environment, folder: folder.path, grace: .seconds(1),
            output: order.output)
        performer.start(.prompt(order))
    }

    /// Waits for an event; returns all that came since the daemon began.
    @discardableResult func until(_ isLast: (PerformerEvent) -> Bool) async throws -> [PerformerEvent] {
        while !seen.contains(where: isLast) {
            guard await performer.waitForEvents() else { throw CancellationError() }
            seen += performer.takeEvents()
        }
        return seen
    }

    /// Waits for the end of the attempt.
    func end() async throws -> ExitRecord {
        try await until { if case .ended = $0 { true } else { false } }
        for case .ended(let record) in seen { return record }
        throw CancellationError()
    }

    /// The phases of the attempt so far.
    var phases: [String] {
        seen.compactMap { if case .progress(_, let report) = $0 { report.phase } else { nil } }
    }

    /// How many words it has, as reported last.
    var words: String? {
        seen.compactMap { if case .progress(_, let report) = $0 { report.message } else { nil } }.last
    }

    /// The output of the attempt, as people read it.
    func log() throws -> String {
        String(decoding: try OutputLog(path: output).read(from: 0).bytes, as: UTF8.self)
    }

    /// Runs the bot and waits for its end.
    func reply(to prompt: String = "Hi") async throws -> ExitRecord {
        start(prompt)
        return try await end()
    }
}

/// The machine's clock without its sleeps.
struct SteadyClock: WallClock {
    var now: Moment { (try? SystemClock())?.now ?? Moment(seconds: 0) }
    var sinceBoot: Duration { .sinceBoot }
    func sleep(until moment: Moment) async throws {}
}
