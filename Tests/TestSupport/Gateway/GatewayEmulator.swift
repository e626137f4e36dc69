import Foundation
import Glibc
import NIOCore
import NIOPosix
import Synchronization
package import Tracking

/// An OpenClaw gateway as strict as the real one: closed schemas, signed devices, scopes, both versions of the protocol.
///
/// Its transcripts survive ``restart()``, its runs do not.
package final class GatewayEmulator: Sendable {
    /// How it behaves.
    package struct Manner: Sendable {
        /// The version of the protocol that it speaks.
        package var version = 4
        /// The shared token; nil: it wants none.
        package var token: String? = "shared-token"
        /// Whether a person must approve a device first.
        package var wantsApproval = false
        /// Whether it issues tokens for devices.
        package var issuesTokens = true
        /// The scopes that it grants at most.
        package var scopes = ["operator.read", "operator.write", "operator.admin"]
        /// Whether a person must allow a device more than it asked for first.
        package var guardsUpgrades = false
        /// How often it shows that it is alive, milliseconds.
        package var tick = 30_000
        /// Whether it sends its challenge.
        package var challenges = true
        /// Whether it answers pings.
        package var answersPings = true
        /// The methods of its scheduler that it performs without an answer.
        package var swallows: Set<String> = []
        /// Whether its list of jobs begins again at each page.
        package var repeatsPages = false
        /// The numbers that its next event skips.
        package var skipped = 0
        /// Whether its clients read slowly: events that may be lost do not reach them, and their numbers are used up.
        package var isHeldUp = false
        /// Whether it accepts a device's proof in the older form, too.
        package var acceptsOldProofs = true
        /// Whether its rows have the time of the machine; else one second lies between any two.
        package var keepsTime = false
        /// What it does with the run of that id, where no reply is set for the next prompt; nil: it says "Hello there".
        package var makeReply: (@Sendable (_ run: String) -> Reply)?

        package init() {}
    }

    /// What it does with a prompt.
    package struct Reply: Sendable {
        /// The pieces of the text.
        package var pieces: [String]
        /// Waits for ``GatewayEmulator/proceed()`` after so many pieces; nil: it does not.
        package var pauseAfter: Int?
        /// The state that it ends in.
        package var end = "final"
        /// Whether the last event holds the whole text.
        package var hasMessage = true
        /// What stands in the last event besides.
        package var extra: [String: JSON] = [:]

        package init(_ pieces: String..., pauseAfter: Int? = nil) {
            (self.pieces, self.pauseAfter) = (pieces, pauseAfter)
        }
    }

    /// A request as it came, in the order of all.
    package struct Request: Sendable {
        package let method: String
        package let params: JSON
        /// Why it was refused; nil: it was not.
        package let fault: String?
    }

    /// A message of a session, as it is written down.
    package struct Entry: Sendable {
        package var session: String
        package var role: String
        package var text: String
        /// The run that it belongs to; nil: none.
        package var run: String?
        /// When it was said, in milliseconds.
        package var at: Int64

        package init(session: String, role: String, text: String, run: String?, at: Int64) {
            (self.session, self.role, self.text, self.run, self.at) = (session, role, text, run, at)
        }
    }

    struct Run {
        var session: String
        var message: String
        var text = ""
        var rest: Reply
        var seq = 0
        var state = "running"
        var isPaused = false
    }

    struct State {
        var manner: Manner
        var replies: [Reply] = []
        var requests: [Request] = []
        var seen = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
        var doors: [ObjectIdentifier: GatewayDoor] = [:]
        var runs: [String: Run] = [:]
        var transcripts: [String: [JSON]] = [:]
        var executed: [String] = []
        var deviceTokens: [String: String] = [:]
        var approved: Set<String> = []
        /// What each device was granted.
        var granted: [String: Set<String>] = [:]
        var jobs: [JSON] = []
        var log: [JSON] = []
        var refusals: [JSON] = []
        var failures: [String: [JSON]] = [:]
        var seq = 100
        /// A run that is to pause does not: it was let go on before.
        var mayProceed = false
        var heads: [[String: String]] = []
        var server: (any Channel)?
        var port = 0
        /// The times of the challenges that were sent.
        var challengeTimes: [Int] = []
        /// Answers `agent` a second time, once the run has ended.
        var secondAnswers: [String: @Sendable () -> Void] = [:]
        var clock = Int64(Date().timeIntervalSince1970 * 1000)
        /// Writes a message down before anybody hears of it.
        var keep: (@Sendable (Entry) -> Void)?
    }

    /// The codes with which clients take leave, as they come.
    package let closes: AsyncStream<Int>
    let left: AsyncStream<Int>.Continuation
    let state: Mutex<State>
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// Where it listens.
    private let host: String

    /// Starts one that listens on a free port of this machine, or on the given one.
    ///
    /// It begins with the transcripts `kept`, and hands what is said to `keep` before anybody hears of it.
    package init(
        _ manner: Manner = Manner(), host: String = "127.0.0.1", port: Int = 0, kept: [Entry] = [],
        keep: (@Sendable (Entry) -> Void)? = nil
    ) async throws {
        self.host = host
        (closes, left) = AsyncStream.makeStream(of: Int.self)
        var start = State(manner: manner)
        start.port = port
        for entry in kept { start.note(entry.role, entry.text, in: entry.session, at: entry.at) }
        start.keep = keep
        state = Mutex(start)
        try await listen()
    }

    deinit { group.shutdownGracefully { _ in } }

    private func listen() async throws {
        let port = state.withLock(\.port)
        let server =
            if port > 0 {
                try await GatewayDoor.listen(on: group, host: host, port: port, for: self)
            } else {
                try await listenAnywhere()
            }
        state.withLock { state in
            state.server = server
            state.port = server.localAddress?.port ?? 0
        }
    }

    /// On a port that the system gives to no client's connection: it is still free after ``kill()``.
    private func listenAnywhere() async throws -> any Channel {
        while true {
            do {
                return try await GatewayDoor.listen(
                    on: group, host: host, port: Int.random(in: 20_000..<32_768), for: self)
            } catch let error as IOError where error.errnoCode == EADDRINUSE {
                continue
            }
        }
    }

    // MARK: What tests do

    /// The port it listens on.
    package var port: Int { state.withLock(\.port) }
    /// Its address.
    package var url: String { "ws://127.0.0.1:\(port)" }
    /// What it executed, in order: once for each run.
    package var executed: [String] { state.withLock(\.executed) }
    /// All requests so far.
    package var requests: [Request] { state.withLock(\.requests) }
    /// The headers of the requests for a WebSocket, names in lower case.
    package var heads: [[String: String]] { state.withLock(\.heads) }
    /// The times of its challenges so far, in milliseconds.
    package var challengeTimes: [Int] { state.withLock(\.challengeTimes) }
    /// Whether a run waits for ``proceed()``.
    package var isPaused: Bool { state.withLock { $0.runs.values.contains { $0.isPaused } } }
    /// How many clients are connected.
    package var clients: Int { state.withLock { $0.doors.count } }

    /// Changes how it behaves from now on.
    package func change(_ body: (inout Manner) -> Void) { state.withLock { body(&$0.manner) } }

    /// What it does with the next prompts; with all others it replies "Hello there".
    package func reply(with replies: Reply...) { state.withLock { $0.replies += replies } }

    /// Refuses the next attempts to connect with these errors.
    package func refuse(with errors: String...) throws {
        let parsed = errors.compactMap { JSON(parsing: Array($0.utf8)[...]) }
        state.withLock { $0.refusals += parsed }
    }

    /// Refuses the next calls of a method with these errors.
    package func fail(_ method: String, with errors: String...) {
        let parsed = errors.compactMap { JSON(parsing: Array($0.utf8)[...]) }
        state.withLock { $0.failures[method, default: []] += parsed }
    }

    /// A person approves all devices that asked.
    package func approve() { change { ($0.wantsApproval, $0.guardsUpgrades) = (false, false) } }

    /// Goes on with all runs that wait.
    package func proceed() {
        let paused = state.withLock { state in
            let paused = state.runs.filter { $0.value.isPaused }.map(\.key)
            state.mayProceed = paused.isEmpty
            return paused
        }
        for run in paused { advance(run, from: .max) }
    }

    /// Appends messages to a session that another device sent.
    package func say(_ message: String, reply: String, in session: String) {
        state.withLock { state in
            state.note("user", message, in: session)
            state.note("assistant", reply, in: session)
        }
    }

    /// Closes all connections with this code.
    package func close(_ code: Int, _ reason: String = "") {
        for door in doors { door.close(code, reason) }
    }

    /// Cuts all connections.
    package func cut() { for door in doors { door.cut() } }

    /// Sends a text to all clients, whatever it is.
    package func send(_ text: String) { for door in doors { door.send(Array(text.utf8)) } }

    /// Sends an event to all clients.
    package func send(_ event: String, _ payload: JSON) { broadcast(event, payload) }

    /// Ends as a process would that is killed: connections and runs are lost, transcripts stay.
    package func kill() async throws {
        let (server, doors) = state.withLock { state in
            defer { (state.server, state.doors, state.runs) = (nil, [:], [:]) }
            return (state.server, Array(state.doors.values))
        }
        try await server?.close().get()
        for door in doors { door.cut() }
    }

    /// Starts again on the same port.
    package func restart() async throws { try await listen() }

    /// The next request of a method that no earlier call has returned, once it has come.
    package func request(_ method: String) async -> Request {
        while true {
            let found: Request? = state.withLock { state in
                while state.seen < state.requests.count {
                    state.seen += 1
                    let request = state.requests[state.seen - 1]
                    if request.method == method { return request }
                }
                return nil
            }
            if let found { return found }
            await withCheckedContinuation { continuation in
                let isNew = state.withLock { state in
                    if state.seen < state.requests.count { return true }
                    state.waiters.append(continuation)
                    return false
                }
                if isNew { continuation.resume() }
            }
        }
    }

    private var doors: [GatewayDoor] { state.withLock { Array($0.doors.values) } }

    func note(_ request: Request) {
        let waiters = state.withLock { state in
            state.requests.append(request)
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// An event to all who are connected; version 3 counts for all together, version 4 for each.
    func broadcast(_ name: String, _ payload: JSON) {
        let isDroppable =
            ["cron", "heartbeat", "presence", "sessions.changed"].contains(name)
            || name == "chat" && payload["state"]?.text == "delta"
        let (doors, version, number, skipped) = state.withLock { state in
            if isDroppable, state.manner.isHeldUp {
                state.manner.skipped += 1
                return ([GatewayDoor](), 0, 0, 0)
            }
            let skipped = state.manner.skipped
            state.seq += 1 + skipped
            state.manner.skipped = 0
            return (Array(state.doors.values), state.manner.version, state.seq, skipped)
        }
        for door in doors {
            door.send(name, payload, seq: version == 3 ? number : nil, skipping: skipped)
        }
    }
}

// MARK: - Runs

extension GatewayEmulator {
    /// Takes a prompt; returns the answer.
    func take(_ params: JSON, from session: String) -> JSON {
        let key = params["idempotencyKey"]?.text ?? ""
        let message = params["message"]?.text ?? ""
        let known: String? = state.withLock { state in
            if let run = state.runs[key] { return run.state }
            let standard = state.manner.makeReply?(key) ?? Reply("Hello ", "there")
            let reply = state.replies.isEmpty ? standard : state.replies.removeFirst()
            state.runs[key] = Run(session: session, message: message, rest: reply)
            state.executed.append(message)
            state.note("user", message, in: session, run: key)
            return nil
        }
        switch known {
        case nil: return .object(["runId": .string(key), "status": .string("started")])
        case "running": return .object(["runId": .string(key), "status": .string("in_flight")])
        default: return .object(["runId": .string(key), "status": .string("ok")])
        }
    }

    /// Writes the next pieces, up to a pause or the end.
    func advance(_ id: String, from start: Int = 0) {
        var events: [JSON] = []
        state.withLock { state in
            guard var run = state.runs[id], run.state == "running" else { return }
            if start > 0 {
                run.rest.pauseAfter = nil
            } else if state.mayProceed, run.rest.pauseAfter != nil {
                (state.mayProceed, run.rest.pauseAfter) = (false, nil)
            }
            run.isPaused = false
            var written = 0
            while !run.rest.pieces.isEmpty {
                if run.rest.pauseAfter == written {
                    run.isPaused = true
                    break
                }
                let piece = run.rest.pieces.removeFirst()
                written += 1
                run.text += piece
                run.seq += 2
                events.append(Self.delta(id, run, piece, state.manner.version))
            }
            if run.rest.pieces.isEmpty, run.rest.pauseAfter != written {
                run.seq += 1
                run.state = run.rest.end
                if run.rest.end == "final", run.rest.hasMessage {
                    state.note("assistant", run.text, in: run.session, run: id)
                }
                events.append(Self.end(id, run))
            } else {
                run.isPaused = true
            }
            state.runs[id] = run
        }
        for event in events { broadcast("chat", event) }
        let answer = state.withLock { state in
            state.runs[id]?.state == "running" ? nil : state.secondAnswers.removeValue(forKey: id)
        }
        answer?()
    }

    /// Ends a run; whether it was under way.
    func abort(_ id: String) -> Bool {
        let event: JSON? = state.withLock { state in
            guard var run = state.runs[id], run.state == "running" else { return nil }
            run.state = "aborted"
            run.rest.end = "aborted"
            run.rest.extra["stopReason"] = .string("rpc")
            state.runs[id] = run
            return Self.end(id, run)
        }
        if let event { broadcast("chat", event) }
        return event != nil
    }

    private static func delta(_ id: String, _ run: Run, _ piece: String, _ version: Int) -> JSON {
        var payload = head(id, run, "delta")
        if version == 3 {
            payload["message"] = message(run.text)
        } else {
            payload["deltaText"] = .string(piece)
        }
        return payload
    }

    private static func end(_ id: String, _ run: Run) -> JSON {
        var payload = head(id, run, run.rest.end)
        if run.rest.hasMessage, run.rest.end != "error" { payload["message"] = message(run.text) }
        for (name, value) in run.rest.extra { payload[name] = value }
        return payload
    }

    private static func head(_ id: String, _ run: Run, _ state: String) -> JSON {
        .object([
            "runId": .string(id), "sessionKey": .string(run.session), "seq": .int(run.seq),
            "state": .string(state),
        ])
    }

    static func message(_ text: String) -> JSON {
        .object([
            "role": .string("assistant"),
            "content": .array([.object(["type": .string("text"), "text": .string(text)])]),
        ])
    }
}

extension GatewayEmulator.State {
    mutating func note(
        _ role: String, _ text: String, in session: String, run: String? = nil, at: Int64? = nil
    ) {
        clock = manner.keepsTime ? max(clock, Int64(Date().timeIntervalSince1970 * 1000)) : clock + 1000
        let clock = at ?? clock
        keep?(GatewayEmulator.Entry(session: session, role: role, text: text, run: run, at: clock))
        let rows = transcripts[session, default: []]
        transcripts[session] =
            rows + [
                .object([
                    "role": .string(role),
                    "content": .array([.object(["type": .string("text"), "text": .string(text)])]),
                    "timestamp": .int(clock),
                    "__openclaw": .object(["id": .string("m\(rows.count)"), "seq": .int(rows.count)]),
                ])
            ]
    }
}
