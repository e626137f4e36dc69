import API
import Glibc
import Host
import Performing
import Timeline
import Tracking
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
    private var link: ClientConnection
    private let output: ExecOutput
    private var row: ExecRow?
    private var printsLives: Bool
    /// Ours, while the command has a terminal of its own.
    private let terminal: ExecTerminal?
    private var typing: ExecTyping?
    private var isTypingWatched = false
    /// Standard input is one that never has to be waited for.
    private var isTypingAtHand = false
    private var lastTold: LiveState?
    private var watched: [UInt64: () throws -> Void] = [:]
    private var waitsForRoom = false
    private var key: RunKey?
    /// Signals that came before the news of the start.
    private var early: [Int32] = []
    private var hasStarted = false
    private var end: ExecEnd?
    /// Why live states could not be printed.
    private var fault: (number: Int, error: HostError)?

    /// Offers the streams and has the command started.
    ///
    /// - Parameters:
    ///   - runner: who has it started.
    ///   - row: where to show how far it is.
    ///   - printsLives: print live states, one a line, in place of its output.
    ///   - hasTerminal: give it a terminal, of the size of ours.
    /// - Throws: ``APIError`` when it can't be had started.
    init(_ runner: any ExecRunner, row: ExecRow?, printsLives: Bool, hasTerminal: Bool) throws {
        self.runner = runner
        self.row = row
        self.printsLives = printsLives
        terminal = hasTerminal ? ExecTerminal() : nil
        typing = hasTerminal ? try ExecTyping() : nil
        Signals.ignoreBrokenPipes()
        signals = try SignalQueue(Self.passed + [SIGTSTP, SIGWINCH])
        poll = try EventPoll()
        var streams = try ExecStreams(hasTerminal: hasTerminal, isSilent: printsLives)
        output = try ExecOutput(streams.pumps, on: poll, readsOn: hasTerminal)
        link = try Self.connect(to: runner.wardenDirectory)
        let token = UniqueID.v4()
        do throws(WardenError) {
            try link.attach(token, streams.offered)
        } catch {
            throw Self.refusal(error)
        }
        streams.forgetOffered()
        try runner.place(token: token, terminal: hasTerminal ? ExecTerminal.size : nil)
        try poll.add(signals.raw, Token.signals)
        try poll.add(link.socket.raw, Token.link)
        takeOfficeSources()
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

    /// Returns when the command has ended and all it printed is copied.
    ///
    /// What processes that it left behind print later is copied by ``leaveRest()``.
    func run() throws -> ExecEnd {
        defer {
            row?.erase()
            terminal?.leaveRaw()
        }
        while true {
            if let end, output.isDone { return end }
            showProgress()
            waitForTyping()
            for ready in try poll.wait(milliseconds: patience) { try serve(ready) }
            if end == nil, let early = try runner.look(hasStarted: hasStarted) {
                end = early
                output.stop()
            }
            if isTypingAtHand { type() }
            try flushLink()
            takeOfficeSources()
        }
    }

    /// Leaves a line of how it ended where there was a row, or the last live state.
    func leave(detail: String?) {
        showProgress()
        row?.close(runner.live, detail: detail)
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
        guard let fault = output.fault ?? fault else { return nil }
        let hint = RunName(runner.name).map { "Its log has the output: belfry run logs \($0)" }
        return APIError(
            .outputLost, ExecOutput.sentence(of: fault) + "; the output of \(runner.name) is incomplete",
            hint: hint)
    }

    private var patience: Int32? {
        guard end == nil else { return nil }
        if isTypingAtHand, key != nil, typing?.mayRead == true { return 0 }
        let look = runner.nextLook(hasStarted: hasStarted, isShown: row != nil || printsLives)
        return look.map { Int32(clamping: $0.milliseconds) }
    }

    private func serve(_ ready: EventPoll.Ready) throws {
        switch ready.token {
        case Token.signals: for signal in signals.take() { try pass(signal) }
        case Token.link: try readLink()
        case Token.typing: type()
        case ExecOutput.source(1), ExecOutput.source(2):
            copy(Int(ready.token - ExecOutput.source(0)), output.copy)
        case ExecOutput.room(1), ExecOutput.room(2):
            copy(Int(ready.token - ExecOutput.room(0)), output.resume)
        default: try watched[ready.token]?()
        }
    }

    private func takeOfficeSources() {
        for (index, source) in runner.sources.enumerated() {
            let token = Token.runner + UInt64(index)
            if watched[token] == nil { try? poll.add(source.descriptor, token) }
            watched[token] = source.read
        }
    }

    // MARK: From the warden

    private func readLink() throws {
        do throws(WardenError) {
            let isOpen = try link.receive()
            while let message = try link.nextMessage() { take(message) }
            if !isOpen { throw .hungUp }
        } catch {
            poll.remove(link.socket.raw)
            if end == nil { end = .lost }
        }
    }

    private func take(_ message: WardenMessage) {
        switch message {
        case .started(let key, _, _, _):
            self.key = key
            hasStarted = true
            terminal?.enterRaw()
            for signal in early { send(.signal(key, number: Int(signal))) }
            early = []
        case .inputTaken(_, let end, let isClosed): typing?.took(end, isClosed: isClosed)
        case .refused(_, let refusal, let text): end = .refused(refusal, text: text)
        case .outlived(_, let stream): copy(stream, output.copyLast)
        case .ended(let record): end = .ended(record)
        default: break
        }
        if case .refused = end { output.stop() }
    }

    private func flushLink() throws {
        do throws(HostError) {
            try link.outgoing.flush(to: link.socket)
            guard link.outgoing.isWaiting != waitsForRoom else { return }
            waitsForRoom.toggle()
            try poll.change(link.socket.raw, Token.link, waitsForRoom ? .readingAndWriting : .reading)
        } catch {
            if end == nil { end = .lost }
        }
    }

    // MARK: From the terminal

    /// Waits for keys while the command reads them.
    private func waitForTyping() {
        guard let typing, !isTypingAtHand else { return }
        let wants = key != nil && end == nil && typing.mayRead
        guard wants != isTypingWatched else { return }
        isTypingWatched = wants
        if !wants { return poll.remove(typing.raw) }
        // Files are always ready, and the kernel refuses to wait for them.
        if (try? poll.add(typing.raw, Token.typing)) == nil { isTypingAtHand = true }
    }

    private func type() {
        guard let key, end == nil, typing?.mayRead == true else { return }
        if let command = typing?.read(for: key) { link.outgoing.append(command.frame) }
    }

    private func pass(_ signal: Int32) throws {
        if signal == SIGWINCH { return resize() }
        guard let key else {
            return signal == SIGTSTP ? stop() : wait(with: signal)
        }
        guard signal == SIGTSTP else { return send(.signal(key, number: Int(signal))) }
        // STOP, since its session has no parent here: the kernel would drop a TSTP.
        send(.signal(key, number: Int(SIGSTOP)))
        stop()
        send(.signal(key, number: Int(SIGCONT)))
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
        row?.erase()
        terminal?.leaveRaw()
        kill(getpid(), SIGSTOP)
        if key != nil { terminal?.enterRaw() }
    }

    private func resize() {
        if let key, terminal != nil { send(.resize(key, ExecTerminal.size)) }
    }

    private func send(_ command: WardenCommand) {
        link.outgoing.append(command.frame)
        try? link.outgoing.flush(to: link.socket)
    }

    // MARK: What the command prints

    private func copy(_ number: Int, _ turn: (Int) -> Bool) {
        guard output.copies(number) else { return }
        if output.showsOnTerminal(number) { row?.erase() }
        if !turn(number) { send(.endStream(number)) }
    }

    private func showProgress() {
        guard let live = runner.live else { return }
        if printsLives {
            guard live != lastTold else { return }
            lastTold = live
            print(live)
        } else if end == nil, output.isAtLineStart {
            row?.show(live)
        }
    }

    private func print(_ live: LiveState) {
        guard let text = try? WireCoding.text(WireLive(live, at: .now)) else { return }
        do throws(HostError) {
            try StandardOutput.send(Array((text + "\n").utf8))
        } catch {
            printsLives = false
            if error.code != EPIPE { fault = (1, error) }
        }
    }
}
