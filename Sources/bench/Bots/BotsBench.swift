import API
import APIClient
import Glibc
import Host
import Synchronization
import Timeline

/// A hundred bots that talk, as people meet them: in terminals, on the desktop, and in the order of their turns.
///
/// Their provider is in this process, so that both ends of each path are on one clock. Needs `dbus-daemon` and the
/// Python packages of the tests.
enum BotsBench {
    private static let rounds = 3
    private static let echoes = 10

    /// The first argument: how many bots, 100 when absent.
    static func run(arguments: [String]) async throws {
        let count = arguments.first.flatMap { Int($0) } ?? 100
        let provider = try BareProvider { reply in
            if reply.prompt.contains("in turn") { return .init(words: 5, pause: 20) }
            return reply.model.hasPrefix("echo") ? .init(words: 5, pause: 20) : .init(words: 80, pause: 50)
        }
        try await takeTurns(count, provider)
        let desktop = try BenchDesktop()
        defer { desktop.end() }
        let folder = try BenchFolder()
        let daemon = try BenchDaemon(
            folder: folder.path, configuration: configuration(count, provider),
            environment: ["DBUS_SESSION_BUS_ADDRESS": desktop.address])
        defer { daemon.end() }
        try await talk(count, provider, daemon, desktop)
    }

    private static func configuration(_ count: Int, _ provider: BareProvider) -> String {
        let names = (0..<count).map { "bot-\($0)" } + (0..<echoes).map { "echo-\($0)" }
        return """
            zone: UTC
            bots:
            \(names.map { "  " + provider.bot($0) }.joined(separator: "\n"))
            channels:
              desk: { kind: desktop }
            routes:
              - { when: [failed, message], to: [desk] }

            """
    }

    // MARK: Turns

    /// How many runs may be under way while bots take turns.
    private static let cap = 4

    /// Two prompts of each bot, all of them due at one moment and ``cap`` performed at a time, by the bots in turn: all have
    /// had one before any has the second.
    private static func takeTurns(_ count: Int, _ provider: BareProvider) async throws {
        let bots = (0..<count).map { "  " + provider.bot("bot-\($0)") }
        let slot = Moment(seconds: Moment.now.seconds + 5)
        // The two of a bot are due one after the other: without turns the second would follow the first.
        let jobs = (0..<count).flatMap { bot in
            ["one", "two"].map {
                "  ask-\(bot)-\($0): { schedule: { at: \"\(slot.iso8601)\" }, bot: bot-\(bot), prompt: \"Speak in turn.\", "
                    + "concurrency: { key: turn, max: \(cap) } }"
            }
        }
        let folder = try BenchFolder()
        let daemon = try BenchDaemon(
            folder: folder.path,
            configuration: (["zone: UTC", "bots:"] + bots + ["jobs:"] + jobs)
                .joined(separator: "\n") + "\n")
        defer { daemon.end() }
        while provider.replies.count(where: { $0.last != nil }) < 2 * count { usleep(50_000) }
        let order = provider.replies.map(\.model)
        let served = Set(order.prefix(count)).count
        report(
            "\(count) bots asked twice at once, \(cap) runs at a time",
            "\(served) bots in the first \(count) prompts",
            limit: "\(count)", isKept: served == count && order.count == 2 * count)
    }

    // MARK: Talking

    private static func talk(
        _ count: Int, _ provider: BareProvider, _ daemon: BenchDaemon, _ desktop: BenchDesktop
    ) async throws {
        let terminal = try BenchTerminal(socket: daemon.socket)
        let feed = try PostFeed(socket: daemon.socket)
        defer { feed.end() }
        let isOver = Flag()
        let sending = Task {
            try await onThread {
                var messages: [(id: String, at: ContinuousClock.Instant)] = []
                while !isOver.isSet {
                    messages.append(try terminal.send(to: "echo-\(messages.count % echoes)"))
                    usleep(200_000)
                }
                return messages
            }
        }
        var shown: [(reply: Int, at: ContinuousClock.Instant)] = []
        try await withThrowingTaskGroup(of: [(reply: Int, at: ContinuousClock.Instant)].self) { group in
            for bot in 0..<count {
                group.addTask {
                    try await onThread {
                        // Not all at once, and never before the reply before has been shown.
                        usleep(UInt32(bot * 3_000_000 / count))
                        return try (0..<rounds).map { _ in
                            defer { sleep(4) }
                            return try terminal.ask("bot-\(bot)")
                        }
                    }
                }
            }
            for try await replies in group { shown += replies }
        }
        isOver.set()
        let messages = try await sending.value
        let replies = provider.replies
        let first = shown.compactMap { shown in replies[shown.reply].first.map { ($0, shown.at) } }
        let last = shown.compactMap { shown in
            desktop.time(of: shown.reply).flatMap { at in replies[shown.reply].last.map { ($0, at) } }
        }
        let echoed = messages.compactMap { sent in feed.time(of: sent.id).map { (sent.at, $0) } }
        judge("first word to the terminal", first, of: count * rounds, within: 0.020)
        judge("last byte of a reply to Notify", last, of: count * rounds, within: 2)
        judge("send to its echo in the events", echoed, of: messages.count, within: 1)
    }

    private static func judge(
        _ what: String, _ times: [(ContinuousClock.Instant, ContinuousClock.Instant)], of count: Int,
        within limit: Double
    ) {
        let figures = Figures(times.map { ($0.1 - $0.0) / .seconds(1) })
        report(
            "\(what), \(times.count) of \(count)", figures.milliseconds,
            limit: "p99 <= \((limit * 1000).short) ms",
            isKept: times.count == count && figures.at(0.99) <= limit)
    }
}

/// Does blocking work on a thread of its own.
private func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        do {
            try BackgroundThread.start(named: "bench") {
                continuation.resume(with: Result { try work() })
            }
        } catch {
            continuation.resume(throwing: error)
        }
    }
}

/// The command as people use it, with a pipe in the place of their terminal.
private final class BenchTerminal: Sendable {
    private let tool: String
    private let socket: String

    init(socket: String) throws {
        self.socket = socket
        tool = SmallFile.parent(of: try Machine.executablePath()) + "/belfry"
    }

    /// Asks a bot; which reply came, and when its first bytes did.
    func ask(_ bot: String) throws -> (reply: Int, at: ContinuousClock.Instant) {
        let (text, first) = try run("ask", bot, "Say something.")
        guard let reply = BareProvider.numbers(after: "reply-", in: text).first, let first else {
            throw BenchProcess.Failed(program: "belfry ask")
        }
        return (reply, first)
    }

    /// Says something to a bot; the message's id, and when the command was started.
    func send(to bot: String) throws -> (id: String, at: ContinuousClock.Instant) {
        let start = ContinuousClock.now
        let (text, _) = try run("send", bot, "Hello.", "--json")
        let answer = Array(text.utf8)
        let message = try WireCoding.decode(WireMessage.self, from: answer)
        return (message.id, start)
    }

    /// What a command prints, and when the first of it came.
    private func run(_ words: String...) throws -> (text: String, first: ContinuousClock.Instant?) {
        let (output, pid) = try start(words + ["--socket", socket])
        var (text, first): ([UInt8], ContinuousClock.Instant?) = ([], nil)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case .bytes(let count) = try output.read(into: &buffer) {
            first = first ?? .now
            text += buffer[..<count]
        }
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { throw BenchProcess.Failed(program: "belfry \(words[0])") }
        return (String(decoding: text, as: UTF8.self), first)
    }

    private func start(_ words: [String]) throws -> (output: Descriptor, pid: Int32) {
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        let pipe = try Descriptor.pipe(nonblockingRead: false)
        let pid = try ChildProgram(
            path: tool, arguments: ["belfry"] + words, environment: Machine.environment,
            descriptors: [nothing, pipe.write, nothing]
        ).start()
        return (pipe.read, pid)
    }
}

/// Whether work has ended, for threads that look at it now and then.
private final class Flag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() { flag.store(true, ordering: .releasing) }
}

/// When each message appeared in the daemon's events, to somebody who follows them.
private final class PostFeed: Sendable {
    private let times = Mutex<[String: ContinuousClock.Instant]>([:])
    private let isOver = Flag()

    init(socket: String) throws {
        try BackgroundThread.start(named: "events") { [self] in
            guard let feed = try? EventFeed(of: DaemonClient(socket: socket), query: EventsQuery()) else {
                return
            }
            while !isOver.isSet, let arrival = try? feed.next(timeout: .seconds(1)) {
                guard case .event(let event) = arrival, event.name == "message.posted",
                    let id = try? WireCoding.decode(WireEvent.self, from: Array(event.data.utf8)).subject
                else { continue }
                times.withLock { $0[id] = .now }
            }
        }
    }

    func time(of message: String) -> ContinuousClock.Instant? { times.withLock { $0[message] } }

    func end() { isOver.set() }
}

/// A desktop on a bus of its own: when each reply was first in a call of `Notify`.
private final class BenchDesktop: Sendable {
    /// The bus.
    let address: String
    private let times = Mutex<[Int: ContinuousClock.Instant]>([:])
    private let processes: [Int32]

    init() throws {
        let bus = try BenchProcess("dbus-daemon", ["--session", "--nofork", "--print-address"])
        address = try bus.firstLine()
        let server = try BenchProcess(
            ".build/venv/bin/python",
            ["Tests/Support/notification-server.py", "--stay", "--address", address])
        _ = try server.firstLine()
        processes = [server.processID, bus.processID]
        let box = Handed(bus, server)
        try BackgroundThread.start(named: "desktop") { [self] in
            while let line = try? box.server.firstLine() {
                let now = ContinuousClock.now
                for reply in BareProvider.numbers(after: "reply-", in: line) {
                    times.withLock { $0[reply] = $0[reply] ?? now }
                }
            }
        }
    }

    func time(of reply: Int) -> ContinuousClock.Instant? { times.withLock { $0[reply] } }

    func end() { for process in processes { kill(process, SIGKILL) } }

    /// Two processes that one thread has from now on.
    // SAFE: made by one thread and handed to another one, which alone reads from them.
    private final class Handed: @unchecked Sendable {
        let bus: BenchProcess
        let server: BenchProcess

        init(_ bus: BenchProcess, _ server: BenchProcess) { (self.bus, self.server) = (bus, server) }
    }
}
