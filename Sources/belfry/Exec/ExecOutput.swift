import ArgumentParser
import Glibc
import Host
import TerminalView
import Tracking

/// Copies a command's streams to ours until each ends, or until only processes it left behind hold it open.
final class ExecOutput {
    /// More than fits into a pipe, in turns of a pump.
    private static let lastTurns = 64

    private let poll: EventPoll
    private var pumps: [Int: OutputPump]
    /// How many turns are left for a stream of which everything up to the command's end is in the pipe.
    private var turnsLeft: [Int: Int] = [:]
    /// Streams that are still open and hold nothing from before the command's end.
    private(set) var rest: [Int: OutputRest] = [:]
    /// What kept output from being written; that nobody reads it is no fault.
    private(set) var fault: (number: Int, error: HostError)?

    /// Whether what can't be written is read on and dropped: a terminal that is closed would end the command.
    private let readsOn: Bool

    /// Waits on `poll` for what comes out of `pumps`, by the number of the stream.
    init(
        _ pumps: [Int: OutputPump], on poll: EventPoll, readsOn: Bool = false
    ) throws(HostError) {
        self.pumps = pumps
        self.poll = poll
        self.readsOn = readsOn
        for (number, pump) in pumps { try poll.add(pump.source.raw, Self.source(number)) }
    }

    /// `standard output can't be written: No space left on device`.
    static func sentence(of fault: (number: Int, error: HostError)) -> String {
        "standard \(fault.number == 1 ? "output" : "error") can't be written: \(fault.error.reason)"
    }

    /// There is something to read.
    static func source(_ number: Int) -> UInt64 { 10 + UInt64(number) }
    /// There is room to write again.
    static func room(_ number: Int) -> UInt64 { 20 + UInt64(number) }

    /// Nothing is left to copy here.
    var isDone: Bool { pumps.isEmpty }

    /// Whether everything shown on a terminal ended with its line.
    var isAtLineStart: Bool { pumps.values.allSatisfy { !$0.isTerminal || $0.isAtLineStart } }

    /// Whether something else may be written to a terminal: nothing that was shown there is half of a sequence.
    var isBetween: Bool { pumps.values.allSatisfy { !$0.isTerminal || $0.isBetween } }

    /// Whether this stream is copied to a terminal.
    func showsOnTerminal(_ number: Int) -> Bool { pumps[number]?.isTerminal == true }

    /// Whether this stream is still copied here.
    func copies(_ number: Int) -> Bool { pumps[number] != nil }

    /// Copies nothing any more.
    func stop() {
        for number in pumps.keys { finish(number) }
    }

    /// Copies what is there; false when our stream takes nothing any more.
    func copy(_ number: Int) -> Bool {
        repeat {
            switch pumps[number]?.pump() {
            case nil: return true
            case .more: continue
            case .waits:
                if turnsLeft[number] != nil { setAside(number) }
                return true
            case .isFull:
                waitForRoom(number)
                return true
            case .ended:
                finish(number)
                return true
            case .failed(let error):
                // A terminal that hung up has lost its reader, too.
                let isUnread = error.code == EPIPE || error.code == EIO && showsOnTerminal(number)
                if !isUnread, fault == nil { fault = (number, error) }
                if readsOn, !isUnread {
                    pumps[number]?.discard()
                    continue
                }
                finish(number)
                return false
            }
        } while takesAnotherTurn(number)
        if turnsLeft[number] == 0 { setAside(number) }
        return true
    }

    /// As ``copy(_:)``, once our stream has room again.
    func resume(_ number: Int) -> Bool {
        guard let pump = pumps[number], let target = pump.target else { return true }
        poll.remove(target)
        try? poll.add(pump.source.raw, Self.source(number))
        return copy(number)
    }

    /// Copies what the pipe holds, and sets it aside: all that was printed up to the command's end is in it.
    func copyLast(_ number: Int) -> Bool {
        guard pumps[number] != nil else { return true }
        turnsLeft[number] = Self.lastTurns
        return copy(number)
    }

    private func takesAnotherTurn(_ number: Int) -> Bool {
        guard let left = turnsLeft[number], left > 0 else { return false }
        turnsLeft[number] = left - 1
        return true
    }

    private func setAside(_ number: Int) {
        if let rest = pumps[number]?.takeRest() { self.rest[number] = rest }
        finish(number)
    }

    private func waitForRoom(_ number: Int) {
        guard let pump = pumps[number], let target = pump.target else { return }
        poll.remove(pump.source.raw)
        try? poll.add(target, Self.room(number), .writing)
    }

    private func finish(_ number: Int) {
        guard let pump = pumps.removeValue(forKey: number) else { return }
        poll.remove(pump.source.raw)
        if let target = pump.target { poll.remove(target) }
    }
}

/// The rest of a stream, for whoever copies it on.
struct OutputRest {
    let source: Descriptor
    /// The beginning of a sequence that came out of it already and was not written.
    var held: [UInt8]
}

/// Copies what comes out of a pipe to one of this process's own streams, byte for byte, never waiting for either; to a
/// terminal without the progress that Belfry shows in the command's place.
struct OutputPump {
    /// How a turn ended.
    enum Outcome {
        /// There may be more at once.
        case more
        /// The pipe is empty for now.
        case waits
        /// The stream takes nothing now.
        case isFull
        /// All is copied.
        case ended
        /// The stream takes nothing any more; `EPIPE` when nobody reads it.
        case failed(HostError)
    }

    let source: Descriptor
    /// Where it goes; nil: nowhere.
    private(set) var target: Int32?
    /// Whether the target is a terminal.
    let isTerminal: Bool
    /// Whether what went to a terminal so far ended a line.
    private(set) var isAtLineStart = true
    private var splices: Bool
    private var passing: PassedOutput
    private var waiting: ArraySlice<UInt8> = []
    private var buffer: [UInt8] = []

    /// Copies what comes out of `source`, after `held`.
    init(
        _ source: Descriptor, to target: Int32?, removing removal: PassedOutput.Removal = .nothing,
        after held: [UInt8] = []
    ) {
        self.source = source
        self.target = target
        waiting = held[...]
        passing = PassedOutput(removing: removal)
        isTerminal = target.map { isatty($0) == 1 } ?? false
        splices = target.map(Descriptor.isPipe) ?? false
    }

    /// Whether what was copied ends with a whole character or sequence.
    var isBetween: Bool { waiting.isEmpty && passing.isBetween }

    /// What is left of the stream for another process to copy, which begins with what is held here; nil: it goes nowhere.
    mutating func takeRest() -> OutputRest? {
        target == nil ? nil : OutputRest(source: source, held: passing.finish())
    }

    /// Copies nothing from now on, and still empties the pipe.
    mutating func discard() {
        target = nil
        splices = false
        waiting = []
    }

    mutating func pump() -> Outcome {
        do throws(HostError) {
            return try splices ? splice() : copy()
        } catch {
            if splices, error.code == EINVAL {
                splices = false
                return .more
            }
            return .failed(error)
        }
    }

    private mutating func splice() throws(HostError) -> Outcome {
        guard let target else { return try copy() }
        switch try source.splice(to: target) {
        case .bytes: return .more
        case .end: return .ended
        case .wouldBlock: return Self.isReady(source.raw, POLLIN) ? .isFull : .waits
        }
    }

    private mutating func copy() throws(HostError) -> Outcome {
        if waiting.isEmpty {
            if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: 1 << 16) }
            switch try source.read(into: &buffer) {
            case .bytes(let count):
                waiting = isTerminal ? passing.receive(buffer[..<count])[...] : buffer[..<count]
            case .end:
                waiting = passing.finish()[...]
                if waiting.isEmpty { return .ended }
            case .wouldBlock: return .waits
            }
        }
        guard let target else {
            waiting = []
            return .more
        }
        while !waiting.isEmpty {
            guard Self.isReady(target, POLLOUT) else { return .isFull }
            // What a stream that has room takes without waiting, at least: PIPE_BUF.
            let part = waiting.prefix(4096)
            let count = unsafe part.withUnsafeBytes { unsafe write(target, $0.baseAddress, $0.count) }
            if count > 0 {
                isAtLineStart = part[part.startIndex + count - 1] == 0x0A
                waiting = waiting.dropFirst(count)
            } else if errno == EAGAIN {
                return .isFull
            } else if errno != EINTR {
                throw .last("write")
            }
        }
        return .more
    }

    private static func isReady(_ descriptor: Int32, _ event: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        // An error counts as ready: the call that follows says what it is.
        return unsafe poll(&waiting, 1, 0) == 1
    }
}

/// What processes that a command left behind still print, once `belfry exec` itself has returned.
///
/// Without Belfry they would hold its standard output themselves: whoever reads a pipe to its end waits for
/// them, and the shell does not. A small process of its own does that in their place, as long as they print.
enum OutputRelay {
    /// The hidden command that does it: our descriptors 1 and 2, and what is copied there as 3 and 4.
    static let command = "relay-output"

    /// Where the stream of this number comes from in that process.
    static func source(_ number: Int) -> Int32 { Int32(number) + 2 }

    /// Starts it for these streams, by number.
    static func leave(_ streams: [Int: OutputRest]) throws(HostError) {
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        var (sources, targets) = ([nothing, nothing], [nothing, nothing])
        for (number, rest) in streams {
            sources[number - 1] = rest.source
            targets[number - 1] = try Descriptor.duplicate(of: Int32(number))
        }
        let words = streams.sorted { $0.key < $1.key }.map { RelayedStream(number: $0, held: $1.held).text }
        let program = ChildProgram(
            path: try Machine.executablePath(), arguments: ["belfry", command] + words,
            environment: Machine.environment, folder: "/", descriptors: [nothing] + targets + sources)
        _ = try program.start()
    }
}

/// A stream as ``OutputRelay`` names it to its process: `1`, or `2:G105` with what is written before the rest (Base64).
struct RelayedStream: Hashable, ExpressibleByArgument {
    var number: Int
    var held: [UInt8]

    init(number: Int, held: [UInt8]) { (self.number, self.held) = (number, held) }

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1)
        guard let first = parts.first, let number = Int(first),
            let held = Base64.decode(parts.count > 1 ? String(parts[1]) : "")
        else { return nil }
        (self.number, self.held) = (number, held)
    }

    var text: String { held.isEmpty ? "\(number)" : "\(number):\(Base64.encode(held))" }
}

/// See ``OutputRelay``, which starts it.
struct OutputRelayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: OutputRelay.command, abstract: "Copies what processes left behind by belfry exec print.",
        shouldDisplay: false)

    @Argument(help: "The streams, 1 and 2.")
    var streams: [RelayedStream]

    func validate() throws {
        let numbers = streams.map(\.number)
        let isOpen = numbers.allSatisfy {
            (1...2).contains($0) && Descriptor.isPipe(OutputRelay.source($0))
        }
        guard isOpen, Set(numbers).count == numbers.count else {
            throw ValidationError("belfry exec starts this itself")
        }
    }

    func run() throws {
        Signals.ignoreBrokenPipes()
        var pumps: [Int: OutputPump] = [:]
        for stream in streams {
            let source = Descriptor(owning: OutputRelay.source(stream.number))
            pumps[stream.number] = OutputPump(source, to: Int32(stream.number), after: stream.held)
        }
        let poll = try EventPoll()
        let output = try ExecOutput(pumps, on: poll)
        var open = Set(streams.map(\.number))
        while !output.isDone {
            for ready in try poll.wait() { serve(ready.token, output) }
            if let fault = output.fault, open.contains(fault.number) {
                StandardError.print("belfry: \(ExecOutput.sentence(of: fault))")
            }
            // Whoever waits for the end of one stream does not wait for the other.
            for number in open where !output.copies(number) {
                close(Int32(number))
                open.remove(number)
            }
        }
    }

    private func serve(_ token: UInt64, _ output: ExecOutput) {
        for number in streams.map(\.number) {
            if token == ExecOutput.source(number) { _ = output.copy(number) }
            if token == ExecOutput.room(number) { _ = output.resume(number) }
        }
    }
}
