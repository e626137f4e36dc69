import API
import APIClient
import Glibc
import Host
import TerminalView
import Timeline
import Tracking

/// Waits for the reply to a message, and shows it while it comes.
struct ReplyFollower {
    let client: DaemonClient
    let message: WireMessage
    /// Whether the reply is printed.
    let isShown: Bool
    /// When to give up; nil: never.
    var deadline: ContinuousClock.Instant?
    /// Whether it waits for a daemon that is away for as long as that takes.
    var isPatient = false
    /// How long one request to the daemon may wait.
    private static let longestWait = Duration.seconds(10)
    /// What waits for less is not worth a word.
    private static let shortWait = Duration.seconds(2)

    /// Follows the reply to a message that was said.
    init(_ client: DaemonClient, _ message: WireMessage, isShown: Bool) {
        self.client = client
        self.message = message
        self.isShown = isShown
    }

    /// Returns once the run that answers the message has ended.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/timedOut`` at the deadline.
    func follow() throws(APIError) -> WireReply {
        let phase = PhaseLine(isShown: isShown)
        let first = try waitForRun(phase)
        guard let run = first.run, let name = run.name.flatMap({ RunName($0) }) else { return first }
        if isShown { try print(name, phase) } else { try waitForEnd(of: name) }
        phase.clear()
        var reconnection = Reconnection(note: awayNote)
        while true {
            do throws(APIError) {
                return try client.ask(Endpoints.reply(message.id))
            } catch {
                guard isPatient, error.code.row.exitCode == 3 else { throw error }
                try reconnection.wait()
            }
        }
    }

    private var awayNote: String? { isPatient ? ChatText.away : nil }

    /// Waits until a run was given the message.
    private func waitForRun(_ phase: PhaseLine) throws(APIError) -> WireReply {
        var reconnection = Reconnection(note: awayNote)
        while true {
            try check()
            var query = ReplyQuery()
            let left = deadline.map { max(.zero, $0 - ContinuousClock().now) }
            let patience = phase.isSilent ? Self.shortWait : Self.longestWait
            query.wait = Int(min(left ?? patience, patience).milliseconds)
            do throws(APIError) {
                let reply = try client.ask(Endpoints.reply(message.id, query: query))
                reconnection.succeeded()
                if reply.run != nil { return reply }
                phase.show("queued")
                if phase.isSilent, let bot = try? client.ask(Endpoints.bot(message.bot)) {
                    let why = bot.reason.map { " (\(PlainText.oneLine($0)))" } ?? ""
                    let how = bot.status ?? "busy"
                    phase.explain("\(bot.name) is \(how)\(why); the message waits for its turn")
                }
            } catch {
                guard error.code.row.exitCode == 3 else { throw error }
                try reconnection.wait()
            }
        }
    }

    /// Prints what the run's bot says, and further attempts on lines of their own.
    private func print(_ run: RunName, _ phase: PhaseLine) throws(APIError) {
        var stream = SpokenStream()
        var last: Character?
        func show(_ text: String) {
            guard !text.isEmpty else { return }
            phase.clear()
            last = text.last
            StandardOutput.write(Array(text.utf8))
        }
        try Output.copy(
            of: run, from: client, follow: true, write: { show(stream.receive($0)) },
            announce: { _ in
                let rest = stream.finish()
                stream = SpokenStream()
                // Of a reply that had not begun nothing was seen.
                guard last != nil || !rest.isEmpty else { return }
                show(rest + (last == "\n" ? "" : "\n"))
                StandardError.print("belfry: the reply was cut off; \(message.bot) is starting over")
            }, awayNote: awayNote
        ) { () throws(APIError) in
            try check()
            if last == nil { showPhase(of: run, phase) }
        }
        show(stream.finish())
        if let last, last != "\n" { show("\n") }
    }

    /// Shows what the run does, or once why it has not begun.
    private func showPhase(of run: RunName, _ phase: PhaseLine) {
        guard phase.isLive || phase.isSilent, let known: WireRun = try? client.ask(Endpoints.run(run)) else {
            return
        }
        let words = known.state == .running ? known.live?.phase : RunText.detail(known)
        phase.show(words ?? known.state.rawValue)
        guard known.state.isBeforeStart, let why = Self.why(known) else { return }
        phase.explain("\(message.bot) has not replied yet: \(why)")
    }

    private func waitForEnd(of run: RunName) throws(APIError) {
        try Output.copy(
            of: run, from: client, follow: true, write: { _ in }, announce: { _ in }, awayNote: awayNote,
            interrupted: check)
    }

    private func check() throws(APIError) {
        guard let deadline, ContinuousClock().now >= deadline else { return }
        throw APIError(
            .timedOut, "\(message.bot) has not replied in time" + reason,
            hint: "The reply will arrive later: belfry messages \(message.bot)")
    }

    /// What keeps the reply from coming, where that is known: how its last attempt failed, and what its run waits for.
    private var reason: String {
        guard let reply = try? client.ask(Endpoints.reply(message.id)),
            let name = reply.run?.name.flatMap({ RunName($0) }),
            let run: WireRun = try? client.ask(Endpoints.run(name)), run.state.isBeforeStart
        else { return "" }
        return Self.why(run).map { ": " + $0 } ?? ""
    }

    private static func why(_ run: WireRun) -> String? {
        let failure = run.attempts?.last { $0.state.isFailure }?.reason?.words
        let parts = [failure, RunText.detail(run)].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}

/// What a bot is doing: one dim line where a person watches, which leaves nothing behind; elsewhere one sentence where it
/// takes long, and no more.
final class PhaseLine {
    /// Whether the line is drawn.
    let isLive: Bool
    private let isShown: Bool
    private var isDrawn = false
    private var isExplained = false

    init(isShown: Bool) {
        self.isShown = isShown
        isLive = isShown && isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    }

    /// Whether a sentence would still be printed.
    var isSilent: Bool { isShown && !isLive && !isExplained }

    func show(_ words: String) {
        guard isLive else { return }
        StandardError.write("\r\u{1B}[2m\(PlainText.preview(words, limit: 60)) …\u{1B}[0m\u{1B}[K")
        isDrawn = true
    }

    /// Prints why it takes long, once, where no line is drawn.
    func explain(_ sentence: String) {
        guard isSilent else { return }
        isExplained = true
        StandardError.print("belfry: " + sentence)
    }

    func clear() {
        guard isDrawn else { return }
        isDrawn = false
        StandardError.write("\r\u{1B}[K")
    }
}

/// The output of a run that answers, read piece by piece by somebody who has other things to do.
final class ReplyOutput {
    private let client: DaemonClient
    private let run: RunName
    private var stream: AnswerStream?
    private var spoken = SpokenStream()
    private var waiting = ""
    private var offset = 0
    private var attempt: Int64?
    /// Short pauses: who reads it has other things to do.
    private var reconnection = Reconnection(longestPause: .milliseconds(500))
    /// Whether anything was said.
    private(set) var hasText = false
    /// What the bot is doing; nil: not known.
    private(set) var phase: String?
    /// Whether the run has ended, and all of its output is read.
    private(set) var hasEnded = false

    init(of run: RunName, _ client: DaemonClient) {
        (self.run, self.client) = (run, client)
    }

    /// Returns what arrived since the last call.
    func drain() -> String {
        defer { waiting = "" }
        return waiting
    }

    /// Waits for more, and no longer than until `other` can be read; not at all once it has ended.
    func receive(timeout: Duration = .milliseconds(500), or other: Int32? = nil) throws(APIError) {
        guard !hasEnded else { return }
        do throws(APIError) {
            let stream = try open()
            switch try stream.next(timeout: timeout, or: other) {
            case .bytes(let bytes):
                offset += bytes.count
                add(spoken.receive(bytes))
            case .nothing: if !hasText { try refresh() }
            case .ended: try end()
            }
            reconnection.succeeded()
        } catch {
            guard error.code.row.exitCode == 3 else { throw error }
            stream = nil
            try reconnection.wait()
        }
    }

    private func add(_ text: String) {
        guard !text.isEmpty else { return }
        hasText = true
        waiting += text
    }

    private func open() throws(APIError) -> AnswerStream {
        if let stream { return stream }
        var query = LogsQuery()
        query.offset = offset
        query.attempt = attempt
        query.follow = true
        let opened = try client.open(Endpoints.logs(run, query: query))
        attempt = opened.head[OutputStream.attemptField].flatMap { Int64($0) } ?? attempt
        stream = opened
        return opened
    }

    /// The answer has ended: the run has, or there is another attempt, or there was a gap.
    private func end() throws(APIError) {
        stream = nil
        let known: WireRun = try client.ask(Endpoints.run(run))
        if let next = known.attempt, let last = attempt, Int64(next) > last {
            add(spoken.finish() + (hasText ? "\n[the reply was cut off; it is starting over]\n" : ""))
            (attempt, offset, spoken) = (Int64(next), 0, SpokenStream())
            try refresh(known)
        } else if known.state.isEnded {
            add(spoken.finish())
            hasEnded = true
        }
    }

    private func refresh(_ known: WireRun? = nil) throws(APIError) {
        let now: WireRun
        if let known { now = known } else { now = try client.ask(Endpoints.run(run)) }
        phase = now.state == .running ? now.live?.phase : RunText.detail(now) ?? now.state.rawValue
    }
}
