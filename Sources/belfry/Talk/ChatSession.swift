import API
import APIClient
import ArgumentParser
import Glibc
import Host
import TerminalView
import Tracking

/// A chat on a terminal: keys, the daemon's events and the reply that comes, each as it arrives.
final class ChatSession {
    /// Where the reply to the last line is.
    private enum Waiting {
        /// Nobody waits for one.
        case nothing
        /// No run was given the message yet.
        case run(WireMessage)
        /// The run's output is read.
        case output(WireMessage, RunName, ReplyOutput)
    }

    private let client: DaemonClient
    private let bot: WireBot
    private let thread: String
    /// The message that the first line replies to; nil: none, or it was entered.
    private var replyTo: String?
    private let screen: ChatScreen
    private let times: Screen
    private let keys: LiveKeys
    private let signals: TerminalSignals
    private let feed: EventFeed
    private var reader = KeyReader()
    private var editor = LineEditor()
    /// When the last key was pressed, since boot.
    private var pressed = Duration.zero
    private var waiting = Waiting.nothing
    /// What was entered and is not said yet: while the bot replies, or the daemon is away.
    ///
    /// Each has an id of its own, and is said once, however often it is sent.
    private var entered: [SayRequest] = []
    /// Whether the first of these is shown as said.
    private var isFirstShown = false
    /// Whether the daemon could not be reached last.
    private var isAway = false
    private var ids: Set<String> = []
    private var isLeaving = false

    init(
        _ client: DaemonClient, _ bot: WireBot, thread: String, replyTo: String? = nil, _ screen: Screen
    ) throws {
        (self.client, self.bot, self.thread, self.replyTo) = (client, bot, thread, replyTo)
        times = screen
        self.screen = ChatScreen(screen.traits)
        feed = try EventFeed(of: client, query: EventsQuery())
        signals = TerminalSignals(ownsTerminal: true)
        keys = LiveKeys(isReading: true, isRaw: true)
    }

    /// Serves until the person leaves; ends the process with 128+n on a signal.
    func run() throws {
        defer {
            screen.close()
            keys.leave()
        }
        let model = bot.model.map { " (\(PlainText.oneLine($0)))" } ?? ""
        screen.add("\(bot.name)\(model) · /help for help, /quit to leave", .dim)
        try showLast(6)
        while !isLeaving {
            screen.draw(editor)
            try outliving { () throws(APIError) in try wait() }
            try handleSignals()
            for key in readKeys() {
                let outcome = editor.receive(key)
                try outliving { () throws(APIError) in try apply(outcome) }
            }
            if keys.descriptor == nil { return }
            try outliving { () throws(APIError) in try advance() }
        }
    }

    /// Does what needs the daemon; while that is away the chat goes on, and says so once.
    private func outliving(_ work: () throws(APIError) -> Void) throws(APIError) {
        do throws(APIError) {
            try work()
        } catch {
            let mayPass = error.code.row.exitCode == 3 || [.timedOut, .tooBusy].contains(error.code)
            guard mayPass else { throw error }
            guard !isAway else { return }
            isAway = true
            screen.phase = nil
            screen.add("the daemon does not answer; what you say is sent once it does", .yellow)
        }
    }

    /// The daemon answered.
    private func noteAnswer() {
        guard isAway else { return }
        isAway = false
        screen.add("the daemon answers again", .dim)
    }

    /// The keys pressed since the last look; a terminal sends the rest of a key at once, so that what comes later is
    /// another key.
    private func readKeys() -> [Key] {
        let bytes = keys.readBytes()
        guard !bytes.isEmpty else { return [] }
        let now = Duration.sinceBoot
        if now - pressed > .milliseconds(100) { reader.endSequence() }
        pressed = now
        return reader.receive(bytes)
    }

    // MARK: What arrives

    /// Waits until something is there, and takes what the daemon sent.
    private func wait() throws(APIError) {
        if isAway { keys.wait(.milliseconds(300)) }
        if case .output(_, _, let output) = waiting {
            try output.receive(or: keys.descriptor)
            return noteAnswer()
        }
        let isAsking = if case .run = waiting { true } else { false }
        let patience: Duration = isAway ? .zero : isAsking ? .milliseconds(300) : .seconds(10)
        switch try feed.next(timeout: patience, or: keys.descriptor) {
        case .event(let event):
            noteAnswer()
            try show(event)
        // A stream that stays open is no answer.
        case .nothing: break
        case .broken: keys.wait(.milliseconds(300))
        }
    }

    /// Shows what was said in the thread by somebody else.
    private func show(_ event: ServerSentEvent) throws(APIError) {
        guard event.name == "message.posted", case .nothing = waiting else { return }
        let known = try WireCoding.decode(WireEvent.self, from: event.data.utf8)
        guard known.bot == bot.name, let id = known.subject, !ids.contains(id) else { return }
        let message = try client.ask(Endpoints.message(id))
        if message.thread == thread { show(message) }
    }

    private func show(_ message: WireMessage) {
        ids.insert(message.id)
        if let sender = message.sender {
            // Another bot handed it over.
            screen.add("\(PlainText.oneLine(sender)) to \(bot.name):", .dim)
        } else if message.from == "user" {
            return screen.add(said: message.text)
        }
        for line in PlainText.lines(message.text) { screen.add(line) }
        screen.add("")
    }

    private func showLast(_ count: Int) throws(APIError) {
        var query = MessagesQuery()
        query.bot = bot.name
        query.limit = 50
        let messages = try client.ask(Endpoints.messages(query: query)).filter { $0.thread == thread }
        for message in messages.prefix(count).reversed() { show(message) }
    }

    private func handleSignals() throws {
        if signals.takeContinuation() { keys.enter() }
        if let signal = signals.next() {
            if signal == SIGINT {
                let outcome = editor.receive(.interrupt)
                return try outliving { () throws(APIError) in try apply(outcome) }
            }
            screen.close()
            keys.leave()
            throw ExitCode(128 + signal)
        }
    }

    // MARK: What is typed

    private func apply(_ outcome: LineEditor.Outcome) throws(APIError) {
        switch outcome {
        case .edited: break
        case .redraw: screen.clear()
        case .suspended:
            screen.close()
            keys.leave()
            kill(getpid(), SIGSTOP)
            keys.enter()
        case .ended: isLeaving = true
        case .interrupted(let wasEmpty):
            if case .nothing = waiting {
                isLeaving = wasEmpty
            } else {
                try cancel()
            }
        case .entered(let line): try enter(line)
        }
    }

    private func enter(_ line: String) throws(APIError) {
        let word = line.trimmed
        switch word {
        case "": return
        case "/quit", "/exit": isLeaving = true
        case "/help": for line in ChatText.help { screen.add(line, .dim) }
        case "/last": try showLast(20)
        case "/reset":
            try client.ask(Endpoints.resetBot(bot.name))
            screen.add("started a new session", .dim)
        default:
            guard !word.hasPrefix("/") || word.contains(" ") || word.dropFirst().contains("/") else {
                return screen.add("there is no \(word); see /help", .yellow)
            }
            var request = SayRequest(text: line)
            request.id = UniqueID.v7(at: .now)
            (request.thread, request.replyTo) = (thread, replyTo)
            replyTo = nil
            entered.append(request)
        }
    }

    /// Cancels the reply, and what was entered behind it.
    private func cancel() throws(APIError) {
        entered = []
        isFirstShown = false
        let target: RunTarget
        switch waiting {
        case .nothing: return
        case .run(let message):
            guard let name = try client.ask(Endpoints.reply(message.id)).run?.name.flatMap({ RunName($0) })
            else {
                waiting = .nothing
                screen.phase = nil
                return screen.add("the reply has not started; it will appear here", .dim)
            }
            target = .run(name)
        case .output(_, let name, _): target = .run(name)
        }
        do throws(APIError) {
            _ = try client.ask(Endpoints.cancelRun(target))
        } catch {
            // It ended in between.
            guard error.code == .runEnded else { throw error }
        }
    }

    // MARK: The reply

    private func advance() throws(APIError) {
        switch waiting {
        case .nothing:
            if let request = entered.first { try say(request) }
        case .run(let message):
            let reply = try client.ask(Endpoints.reply(message.id))
            noteAnswer()
            guard let name = reply.run?.name.flatMap({ RunName($0) }) else { return }
            waiting = .output(message, name, ReplyOutput(of: name, client))
        case .output(let message, let name, let output):
            screen.stream(output.drain())
            screen.phase = output.hasText ? nil : output.phase ?? screen.phase
            guard output.hasEnded else { return }
            try finish(message, name)
        }
    }

    private func say(_ request: SayRequest) throws(APIError) {
        if !isFirstShown { screen.add(said: request.text) }
        isFirstShown = true
        do throws(APIError) {
            let message = try client.ask(Endpoints.say(bot.name, body: request))
            noteAnswer()
            ids.insert(message.id)
            waiting = .run(message)
            screen.phase = "sent"
        } catch {
            // It is sent again once the daemon answers.
            guard error.code.row.exitCode != 3, error.code != .timedOut else { throw error }
            screen.add(error.message, .red)
        }
        entered.removeFirst()
        isFirstShown = false
    }

    private func finish(_ message: WireMessage, _ name: RunName) throws(APIError) {
        let reply = try client.ask(Endpoints.reply(message.id))
        screen.endStream()
        screen.phase = nil
        waiting = .nothing
        if let id = reply.message?.id { ids.insert(id) }
        guard let run = reply.run, run.state != .completed else { return }
        screen.add(ChatText.failure(run, of: bot.name), run.state == .canceled ? .dim : .red)
    }
}

extension String {
    /// Without the white space around it.
    fileprivate var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
