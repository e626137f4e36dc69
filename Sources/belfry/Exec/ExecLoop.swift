import API
import Glibc
import Host
import Performing
import Timeline
import WardenProtocol

/// Stands between a command and this process's terminal: output, keys, signals and the end pass through.
///
/// One thread that waits for all of it at once. The bytes do not go through the daemon: it may end and come back.
final class ExecLoop {
    /// What goes on to the command; TSTP and WINCH are seen to as well.
    private static let passed = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2]

    private enum Token {
        static let signals: UInt64 = 1
        static let link: UInt64 = 2
        static let typing: UInt64 = 3
        /// And the numbers of the runner's sources above it; those of ``ExecOutput`` are below.
        static let runner: UInt64 = 100
    }

    private let runner: any ExecRunner
    private let poll: EventPoll
    private let signals: SignalQueue
    private let link: ExecLink
    private let output: ExecOutput
    private var display: ExecDisplay
    /// Ours, while the command has a terminal of its own.
    private let terminal: ExecTerminal?
    private var keys: ExecKeys?
    private var watched: [UInt64: () throws -> Void] = [:]
    /// The run's attempt, once it is known to have started.
    private var key: RunKey?
    /// Signals that came before the news of the start.
    private var early: [Int32] = []
    private var end: ExecEnd?

    /// Offers the streams and has the command started.
    ///
    /// - Parameters:
    ///   - runner: who has it started.
    ///   - display: what is shown besides its output, or in place of that.
    ///   - hasTerminal: give it a terminal, of the size of ours.
    /// - Throws: ``APIError`` when it can't be had started.
    init(_ runner: any ExecRunner, display: ExecDisplay, hasTerminal: Bool) throws {
        self.runner = runner
        self.display = display
        terminal = hasTerminal ? ExecTerminal() : nil
        Signals.ignoreBrokenPipes()
        signals = try SignalQueue(Self.passed + [SIGTSTP, SIGWINCH])
        poll = try EventPoll()
        keys = hasTerminal ? try ExecKeys(on: poll, Token.typing) : nil
        var streams = try ExecStreams(
            hasTerminal: hasTerminal, isSilent: display.printsLives, removing: display.removal)
        output = try ExecOutput(streams.pumps, on: poll, readsOn: hasTerminal)
        let offer = UniqueID.v4()
        link = try ExecLink(
            to: runner.wardenDirectory, offering: streams.offered, as: offer, on: poll, Token.link)
        streams.forgetOffered()
        try runner.place(token: offer, terminal: hasTerminal ? ExecTerminal.size : nil)
        try poll.add(signals.raw, Token.signals)
        watchRunner()
    }

    /// Returns when the command has ended and all it printed is copied.
    ///
    /// What processes that it left behind print later is copied by ``leaveRest()``.
    func run() throws -> ExecEnd {
        defer {
            display.erase()
            terminal?.leaveRaw()
        }
        while true {
            if let end, output.isDone { return end }
            showProgress()
            keys?.wait(while: key != nil && end == nil)
            for ready in try poll.wait(milliseconds: waitLimit) { try serve(ready) }
            if end == nil, let early = try runner.endBeforeStart(hasStarted: key != nil) {
                end = early
                output.stop()
            }
            if keys?.isReady == true { sendKeys() }
            if !link.flush(), end == nil { end = .lost }
            watchRunner()
        }
    }

    /// Leaves a line of how it ended where there was a row, or the last live state.
    func leave(detail: String?) {
        showProgress()
        display.close(runner.live, detail: detail)
    }

    /// Has what comes later copied on; true when something may come.
    func leaveRest() -> Bool {
        guard !output.rest.isEmpty else { return false }
        do {
            try OutputRelay.leave(output.rest)
            return true
        } catch {
            StandardError.print("belfry: what \(runner.name) left behind goes only to its log: \(error)")
            return false
        }
    }

    /// Why output is missing although the command printed it; nil when all of it was written.
    var missing: APIError? {
        guard let fault = output.fault ?? display.fault else { return nil }
        let hint = RunName(runner.name).map { "Its log has the output: belfry run logs \($0)" }
        return APIError(
            .outputLost, ExecOutput.sentence(of: fault) + "; the output of \(runner.name) is incomplete",
            hint: hint)
    }

    private var waitLimit: Int32? {
        guard end == nil else { return nil }
        if key != nil, keys?.isReady == true { return 0 }
        let wait = runner.nextRefresh(hasStarted: key != nil, isShown: display.isShown)
        return wait.map { Int32(clamping: $0.milliseconds) }
    }

    private func serve(_ ready: EventPoll.Ready) throws {
        switch ready.token {
        case Token.signals: for signal in signals.take() { try pass(signal) }
        case Token.link: if !link.receive(apply), end == nil { end = .lost }
        case Token.typing: sendKeys()
        case ExecOutput.source(1), ExecOutput.source(2):
            copy(Int(ready.token - ExecOutput.source(0)), output.copy)
        case ExecOutput.room(1), ExecOutput.room(2):
            copy(Int(ready.token - ExecOutput.room(0)), output.resume)
        default: try watched[ready.token]?()
        }
    }

    /// Waits for what the runner reads besides; its sources change while it runs.
    private func watchRunner() {
        for (index, source) in runner.sources.enumerated() {
            let token = Token.runner + UInt64(index)
            if watched[token] == nil { try? poll.add(source.descriptor, token) }
            watched[token] = source.read
        }
    }

    // MARK: From the warden

    private func apply(_ message: WardenMessage) {
        switch message {
        case .started(let key, _, _, _):
            self.key = key
            terminal?.enterRaw()
            for signal in early { link.send(.signal(key, number: Int(signal))) }
            early = []
        case .inputTaken(_, let end, let isClosed): keys?.took(end, isClosed: isClosed)
        case .refused(_, let refusal, let text): end = .refused(refusal, text: text)
        case .outlived(_, let stream): copy(stream, output.copyLast)
        case .ended(let record): end = .ended(record)
        default: break
        }
        if case .refused = end { output.stop() }
    }

    // MARK: From the terminal

    private func sendKeys() {
        guard let key, end == nil, let command = keys?.read(for: key) else { return }
        link.append(command)
    }

    private func pass(_ signal: Int32) throws {
        if signal == SIGWINCH { return resize() }
        guard let key else {
            return signal == SIGTSTP ? stop() : wait(with: signal)
        }
        guard signal == SIGTSTP else { return link.send(.signal(key, number: Int(signal))) }
        // STOP, since its session has no parent here: the kernel would drop a TSTP.
        link.send(.signal(key, number: Int(SIGSTOP)))
        stop()
        link.send(.signal(key, number: Int(SIGCONT)))
        resize()
    }

    /// A signal before the news of the start: it ends a run that is not wanted any more, or waits for the command.
    private func wait(with signal: Int32) {
        guard end == nil else { return }
        early.append(signal)
        guard [SIGINT, SIGTERM, SIGHUP, SIGQUIT].contains(signal), runner.withdraw() else { return }
        end = .interrupted(signal)
        output.stop()
    }

    /// Stops until the shell continues us.
    private func stop() {
        display.erase()
        terminal?.leaveRaw()
        kill(getpid(), SIGSTOP)
        if key != nil { terminal?.enterRaw() }
    }

    private func resize() {
        if let key, terminal != nil { link.send(.resize(key, ExecTerminal.size)) }
    }

    // MARK: What the command prints

    private func copy(_ number: Int, _ turn: (Int) -> Bool) {
        guard output.copies(number) else { return }
        if output.showsOnTerminal(number) { display.erase() }
        if !turn(number) { link.send(.endStream(number)) }
    }

    private func showProgress() {
        display.show(
            runner.live, fits: end == nil && output.isAtLineStart, between: end == nil && output.isBetween)
    }
}

/// The connection to the warden that starts the command: news of it come in, keys and signals go out.
final class ExecLink {
    private let poll: EventPoll
    private let token: UInt64
    private var connection: ClientConnection
    /// Whether something waits for room to be sent.
    private var waitsForRoom = false

    /// Offers `streams` to the start order that will name `offer`, and waits on `poll` for what the warden sends.
    ///
    /// - Throws: ``APIError`` when there is no warden, or one that accepts no streams.
    init(
        to directory: String, offering streams: [(number: Int, descriptor: Descriptor)], as offer: String,
        on poll: EventPoll, _ token: UInt64
    ) throws {
        (self.poll, self.token) = (poll, token)
        connection = try Self.connect(to: directory)
        do throws(WardenError) {
            try connection.attach(offer, streams)
        } catch {
            throw Self.refusal(error)
        }
        try poll.add(connection.socket.raw, token)
    }

    private static func refusal(_ error: WardenError) -> APIError {
        if error == .silent {
            return APIError(
                .wardenAway, "\(error)",
                hint: "It may be stopped or overloaded. See: belfry doctor")
        }
        return APIError(
            .wardenAway, "the warden accepts no streams (\(error))",
            hint: "It is older than this belfry and will be replaced when its runs have ended.")
    }

    private static func connect(to directory: String) throws(APIError) -> ClientConnection {
        do throws(WardenError) {
            return try ClientConnection(directory: directory)
        } catch {
            throw APIError(
                .wardenAway, "\(error)",
                hint:
                    "belfry exec reaches the warden of its own user; leave --system out, or become its user.")
        }
    }

    /// Hands over each message that has come; false when the warden hung up, and nothing is waited for any more.
    func receive(_ handle: (WardenMessage) -> Void) -> Bool {
        do throws(WardenError) {
            let isOpen = try connection.receive()
            while let message = try connection.nextMessage() { handle(message) }
            if isOpen { return true }
        } catch {}
        poll.remove(connection.socket.raw)
        return false
    }

    /// Queues a command for ``flush()``.
    func append(_ command: WardenCommand) { connection.outgoing.append(command.frame) }

    /// Sends a command at once, if there is room.
    func send(_ command: WardenCommand) {
        append(command)
        try? connection.outgoing.flush(to: connection.socket)
    }

    /// Sends what waits, and waits for room for the rest; false when the warden hung up.
    func flush() -> Bool {
        do throws(HostError) {
            try connection.outgoing.flush(to: connection.socket)
            guard connection.outgoing.isWaiting != waitsForRoom else { return true }
            waitsForRoom.toggle()
            try poll.change(connection.socket.raw, token, waitsForRoom ? .readingAndWriting : .reading)
            return true
        } catch {
            return false
        }
    }
}
