import Glibc
import Host
import Performing
import TerminalView
import WardenProtocol

/// The streams of a command that somebody else starts for us: what is offered to it, and our ends of it.
struct ExecStreams {
    /// What the warden is given, by number.
    private(set) var offered: [(number: Int, descriptor: Descriptor)]
    /// What copies its output to ours, by number; standard error is not among them when it has a terminal.
    let pumps: [Int: OutputPump]

    /// Makes the pipes.
    ///
    /// - Parameters:
    ///   - hasTerminal: it writes to a terminal of its own, and what it reads is typed there.
    ///   - isSilent: what it prints is not shown.
    ///   - removal: what a terminal of ours is not sent of it.
    /// - Throws: when there are no descriptors left.
    init(hasTerminal: Bool, isSilent: Bool, removing removal: PassedOutput.Removal) throws(HostError) {
        var offered: [(number: Int, descriptor: Descriptor)] = []
        var pumps: [Int: OutputPump] = [:]
        if !hasTerminal { offered.append((0, try Self.input())) }
        for number in hasTerminal ? [1] : [1, 2] {
            let pipe = try Descriptor.pipe(nonblockingRead: true)
            pipe.read.enlargePipe()
            offered.append((number, pipe.write))
            pumps[number] = OutputPump(
                pipe.read, to: isSilent ? nil : Int32(number), removing: removal)
        }
        self.offered = offered
        self.pumps = pumps
    }

    /// Closes our copies of what was offered: the warden has its own.
    mutating func forgetOffered() { offered = [] }

    /// The command gets our standard input itself: what it does not read stays there for the next one.
    ///
    /// A terminal whose foreground is somebody else's is not given away: the command could not be stopped from
    /// reading what is meant for others.
    private static func input() throws(HostError) -> Descriptor {
        if isatty(STDIN_FILENO) == 1, tcgetpgrp(STDIN_FILENO) != getpgrp() {
            return try Descriptor.open("/dev/null", O_RDONLY)
        }
        return try Descriptor.duplicate(of: STDIN_FILENO)
    }
}

/// Standard input on its way to a command's terminal, never further ahead than the warden has room for.
private struct ExecTyping {
    private let input: Descriptor
    private var sent = 0
    private var taken = 0
    /// Nothing more is to be read.
    private(set) var isOver = false
    private var buffer = [UInt8](repeating: 0, count: 1 << 14)

    init() throws(HostError) {
        input = try Descriptor.duplicate(of: STDIN_FILENO)
    }

    /// What to wait for.
    var raw: Int32 { input.raw }

    /// Whether there is room for more.
    var mayRead: Bool { !isOver && sent - taken + buffer.count <= ProcessOrder.inputWindow }

    /// The command took all up to `end`, or will take nothing any more.
    mutating func took(_ end: Int, isClosed: Bool) {
        taken = max(taken, end)
        if isClosed { isOver = true }
    }

    /// What standard input holds now, as a command for the warden; nil when it holds nothing.
    mutating func read(for key: RunKey) -> WardenCommand? {
        switch (try? input.read(into: &buffer)) ?? .end {
        case .bytes(let count):
            defer { sent += count }
            return .input(key, offset: sent, bytes: Array(buffer[..<count]))
        case .wouldBlock: return nil
        case .end:
            isOver = true
            return .closeInput(key)
        }
    }
}

/// Standard input while the command reads it: waited for only then, and only while there is room.
struct ExecKeys {
    private let poll: EventPoll
    private let token: UInt64
    private var typing: ExecTyping
    private var isWatched = false
    /// Whether standard input is one that never has to be waited for.
    private var isAtHand = false

    /// Waits on `poll`, under `token`.
    init(on poll: EventPoll, _ token: UInt64) throws(HostError) {
        (self.poll, self.token) = (poll, token)
        typing = try ExecTyping()
    }

    /// Whether something can be read without waiting.
    var isReady: Bool { isAtHand && typing.mayRead }

    /// Waits for keys while the command `isReading` them.
    mutating func wait(while isReading: Bool) {
        guard !isAtHand else { return }
        let wants = isReading && typing.mayRead
        guard wants != isWatched else { return }
        isWatched = wants
        if !wants { return poll.remove(typing.raw) }
        // Files are always ready, and the kernel refuses to wait for them.
        if (try? poll.add(typing.raw, token)) == nil { isAtHand = true }
    }

    /// What standard input holds now, as a command for the warden; nil when it holds nothing, or there is no room.
    mutating func read(for key: RunKey) -> WardenCommand? { typing.mayRead ? typing.read(for: key) : nil }

    /// The command took all up to `end`, or will take nothing any more.
    mutating func took(_ end: Int, isClosed: Bool) { typing.took(end, isClosed: isClosed) }
}

/// This process's own terminal while the command behind it has another one: every key goes there as it is.
final class ExecTerminal {
    private let saved: termios?
    private var isRaw = false

    /// Notes how the terminal is set now; changes nothing.
    init() {
        var settings = termios()
        saved = unsafe tcgetattr(STDIN_FILENO, &settings) == 0 ? settings : nil
    }

    deinit { leaveRaw() }

    /// Lets keys through one by one, Ctrl-C among them; does nothing where standard input is no terminal.
    func enterRaw() {
        guard var raw = saved, !isRaw else { return }
        unsafe cfmakeraw(&raw)
        isRaw = unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0
    }

    /// Makes the terminal what it was.
    func leaveRaw() {
        guard var settings = saved, isRaw else { return }
        unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
        isRaw = false
    }

    /// How large it is; 24 rows of 80 where there is none.
    static var size: PtySize {
        let size = TerminalSize(of: STDOUT_FILENO, STDIN_FILENO, STDERR_FILENO)
        return PtySize(rows: size.rows, columns: size.columns)
    }
}
