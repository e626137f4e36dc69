import API
import ArgumentParser
import Glibc
import Host
import Synchronization
import TerminalView
import Timeline
import Tracking

/// The keys of the terminal that a live view draws on: not echoed into its rows, and read one by one where they are its.
///
/// The terminal gets its settings back when the view is left, stopped or ended, also by ``exit`` and by a signal
/// that dumps core; after KILL a ``TerminalGuard`` does it. One a process.
final class LiveKeys {
    /// Readable when a key was pressed; nil: keys are not for us.
    private(set) var descriptor: Int32?
    private static let fatal = [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

    /// Whether the keys are for this view; else they wait for whoever reads the terminal next.
    private let isReading: Bool

    /// Whether every key is for this view, also those that else send signals.
    private let isRaw: Bool
    /// What takes away the terminal's reports of runs.
    private let clearing: [UInt8]
    /// What restores the terminal when this process can't.
    private var keeper: TerminalGuard?

    /// Takes the terminal over, as ``enter()`` does.
    init(isReading: Bool, isRaw: Bool = false, clearing: [UInt8] = []) {
        self.isReading = isReading
        self.isRaw = isRaw
        self.clearing = clearing
        descriptor = isReading && isatty(STDIN_FILENO) == 1 ? STDIN_FILENO : nil
        atexit { restoreTerminal() }
        for signal in Self.fatal {
            Glibc.signal(signal) { number in
                restoreTerminal()
                Glibc.signal(number, SIG_DFL)
                raise(number)
            }
        }
        enter()
    }

    deinit {
        leave()
        for signal in Self.fatal { Glibc.signal(signal, SIG_DFL) }
    }

    /// Turns echo off, and lines where keys are read, while this process is in the foreground; Ctrl-C and Ctrl-Z still send signals.
    func enter() {
        guard !isTaken.load(ordering: .relaxed), tcgetpgrp(STDOUT_FILENO) == getpgrp() else { return }
        guard unsafe tcgetattr(STDOUT_FILENO, settings) == 0 else { return }
        var quiet = unsafe settings.pointee
        quiet.c_lflag &= ~tcflag_t(isReading ? ECHO | ICANON : ECHO)
        if isRaw {
            quiet.c_lflag &= ~tcflag_t(ISIG | IEXTEN)
            quiet.c_iflag &= ~tcflag_t(ICRNL | INLCR | IXON)
        }
        unsafe withUnsafeMutableBytes(of: &quiet.c_cc) { keys in
            unsafe keys[Int(VMIN)] = 1
            unsafe keys[Int(VTIME)] = 0
        }
        // Before the change: a signal in between restores what is there.
        isTaken.store(true, ordering: .sequentiallyConsistent)
        unsafe tcsetattr(STDOUT_FILENO, TCSANOW, &quiet)
        // Where no process can be started the view does without: everything but KILL is taken care of.
        if keeper == nil {
            keeper = unsafe try? TerminalGuard(
                saved: settings.pointee, taken: quiet, clearing: clearing)
        }
        guard isRaw else { return }
        marksPastes.store(true, ordering: .sequentiallyConsistent)
        StandardOutput.write(Array("\u{1B}[?2004h".utf8))
    }

    /// Gives the terminal its settings back.
    func leave() { restoreTerminal() }

    /// Reads the keys that were pressed; whether `q` is among them.
    func isQuitPressed() -> Bool { readBytes().contains(UInt8(ascii: "q")) }

    /// Waits until a key is pressed, and no longer than so.
    func wait(_ time: Duration) {
        guard let descriptor, tcgetpgrp(descriptor) == getpgrp() else {
            usleep(UInt32(clamping: time.milliseconds * 1000))
            return
        }
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&waiting, 1, Int32(clamping: time.milliseconds))
    }

    /// Reads the bytes of the keys that were pressed.
    func readBytes() -> [UInt8] {
        var pressed: [UInt8] = []
        while let descriptor {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            // In the background a read would stop the process.
            guard tcgetpgrp(descriptor) == getpgrp(), unsafe poll(&waiting, 1, 0) == 1 else { break }
            var keys = [UInt8](repeating: 0, count: 256)
            let count = unsafe read(descriptor, &keys, keys.count)
            if count > 0 {
                pressed += keys[..<count]
            } else if count == 0 || errno != EINTR {
                // The terminal hung up.
                self.descriptor = nil
            }
        }
        return pressed
    }
}

/// Whether the terminal has other settings than ``settings``.
private let isTaken = Atomic<Bool>(false)

/// Whether the terminal was asked to mark what is pasted.
private let marksPastes = Atomic<Bool>(false)

/// The terminal's settings before a view took it over.
// SAFE: written by the one thread of a view while ``isTaken`` is false, read only while it is true.
private nonisolated(unsafe) let settings = {
    let settings = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    unsafe settings.initialize(to: termios())
    return unsafe settings
}()

/// What makes the terminal send pastes as keys again: eight bytes.
// SAFE: written once, never freed.
private nonisolated(unsafe) let pasteOff: UnsafePointer<CChar> = {
    let bytes = UnsafeMutablePointer<CChar>.allocate(capacity: 9)
    for (index, byte) in "\u{1B}[?2004l\0".utf8.enumerated() { unsafe bytes[index] = CChar(byte) }
    return unsafe UnsafePointer(bytes)
}()

/// Runs inside signals, too.
private func restoreTerminal() {
    guard isTaken.exchange(false, ordering: .sequentiallyConsistent) else { return }
    // Not from the background: that would stop the process, and the terminal has other settings by then.
    guard tcgetpgrp(STDOUT_FILENO) == getpgrp() else { return }
    _ = unsafe tcsetattr(STDOUT_FILENO, TCSANOW, settings)
    guard marksPastes.exchange(false, ordering: .sequentiallyConsistent) else { return }
    // A write of a constant: signals may do that.
    _ = unsafe write(STDOUT_FILENO, pasteOff, 8)
}

/// The signals that end a view, stop it or change its size, noticed between two waits.
///
/// While one is alive, INT, TERM and HUP no longer end the process by themselves; a wait for the daemon
/// returns early when one arrives. One a process.
final class TerminalSignals {
    private let signals: [Int32]

    /// - Parameter ownsTerminal: also TSTP and CONT, which a view must see that changes the terminal's settings.
    init(ownsTerminal: Bool) {
        signals = [SIGINT, SIGTERM, SIGHUP, SIGWINCH] + (ownsTerminal ? [SIGTSTP, SIGCONT] : [])
        for signal in signals { Self.handle(signal, with: note) }
    }

    deinit {
        for signal in signals { Self.handle(signal, with: nil) }
    }

    /// The signal that asked for the end since the last look; nil when none did.
    func next() -> Int32? {
        let signal = lastSignal.exchange(0, ordering: .relaxed)
        return signal == 0 ? nil : signal
    }

    /// Whether Ctrl-Z was pressed since the last look.
    func takeStop() -> Bool { isStopWanted.exchange(false, ordering: .relaxed) }

    /// Whether the process was continued since the last look.
    func takeContinuation() -> Bool { wasContinued.exchange(false, ordering: .relaxed) }

    private static func handle(_ signal: Int32, with handler: (@convention(c) (Int32) -> Void)?) {
        var action = sigaction()
        // Without SA_RESTART: the wait must return.
        unsafe action.__sigaction_handler.sa_handler = handler
        _ = unsafe sigaction(signal, &action, nil)
    }
}

private let lastSignal = Atomic<Int32>(0)
private let isStopWanted = Atomic<Bool>(false)
private let wasContinued = Atomic<Bool>(false)

/// Runs inside the signal: a store, and nothing else.
private func note(_ signal: Int32) {
    switch signal {
    case SIGWINCH: break
    case SIGTSTP: isStopWanted.store(true, ordering: .relaxed)
    case SIGCONT: wasContinued.store(true, ordering: .relaxed)
    default: lastSignal.store(signal, ordering: .relaxed)
    }
}

/// A process beside a view that gives the terminal its settings back when the view was killed and could not.
///
/// It has nothing to do otherwise: when the view ends, it looks whether the terminal is still as the view set it. A shell
/// that has it back by then has set it to its own liking, and is left alone.
final class TerminalGuard {
    static let command = "terminal-guard"
    /// Closed when this process ends, however it does.
    private let line: Descriptor

    /// Starts it.
    ///
    /// - Parameters:
    ///   - saved: the settings before the view.
    ///   - taken: the settings that the view gave it.
    ///   - clearing: what takes away the terminal's reports of runs.
    /// - Throws: what the system has against another process.
    init(saved: termios, taken: termios, clearing: [UInt8]) throws(HostError) {
        let (read, write) = try Descriptor.pipe(nonblockingRead: false)
        let terminal = try Descriptor.duplicate(of: STDOUT_FILENO)
        let nothing = try Descriptor.open("/dev/null", O_RDWR)
        let program = ChildProgram(
            path: try Machine.executablePath(),
            arguments: ["belfry", Self.command]
                + (clearing.isEmpty ? [] : ["--clear", Base64.encode(clearing)]),
            environment: Machine.environment, folder: "/", descriptors: [read, terminal, nothing])
        try write.writeAll((Self.bytes(of: saved) + Self.bytes(of: taken))[...])
        _ = try program.start()
        line = write
    }

    private static func bytes(of settings: termios) -> [UInt8] {
        unsafe withUnsafeBytes(of: settings) { unsafe Array($0) }
    }
}

/// See ``TerminalGuard``, which starts it.
struct TerminalGuardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: TerminalGuard.command,
        abstract: "Gives the terminal its settings back when a view was killed.", shouldDisplay: false)

    @Option(help: "Also write these bytes, in base64.")
    var clear: String?

    func validate() throws {
        guard Descriptor.isPipe(STDIN_FILENO), isatty(STDOUT_FILENO) == 1 else {
            throw ValidationError("belfry watch starts this itself")
        }
    }

    func run() throws {
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTTOU, SIGTTIN, SIGTSTP, SIGPIPE] {
            Glibc.signal(number, SIG_IGN)
        }
        var saved = termios()
        var taken = termios()
        guard Self.read(&saved), Self.read(&taken) else { return }
        // The end of the view ends this.
        var byte: UInt8 = 0
        while unsafe Glibc.read(STDIN_FILENO, &byte, 1) < 0, errno == EINTR {}
        var now = termios()
        guard unsafe tcgetattr(STDOUT_FILENO, &now) == 0, now.c_lflag == taken.c_lflag,
            now.c_iflag == taken.c_iflag
        else { return }
        guard unsafe tcsetattr(STDOUT_FILENO, TCSANOW, &saved) == 0 else {
            throw HostError.last("tcsetattr")
        }
        let reset = Array("\u{1B}[?2026l\u{1B}[?2004l\u{1B}[?25h".utf8)
        StandardOutput.write(reset + (clear.flatMap(Base64.decode) ?? []))
    }

    /// Reads one record of settings; whether all of it came.
    private static func read(_ settings: inout termios) -> Bool {
        unsafe withUnsafeMutableBytes(of: &settings) { bytes in
            var count = 0
            while count < bytes.count, let start = bytes.baseAddress {
                let got = unsafe Glibc.read(STDIN_FILENO, start + count, bytes.count - count)
                if got < 0, errno == EINTR { continue }
                guard got > 0 else { return false }
                count += got
            }
            return true
        }
    }
}

/// Has the terminal that a person sits at notify, by the way that was chosen.
struct TerminalNotices {
    private let way: TerminalNotice
    private let isInTmux: Bool

    /// `way` is one of ``TerminalNotice``, or `auto` for the one that the terminal understands.
    init(_ way: String, _ environment: [String: String]) {
        self.way = TerminalNotice(rawValue: way) ?? TerminalNotice(environment: environment)
        isInTmux = environment["TMUX"] != nil
    }

    /// Notifies of an event that a person who watches wants to know of, and of no other.
    func notify(of event: WireEvent) {
        guard let words = TerminalNotice.words(for: event.type) else { return }
        notify(of: event.name ?? event.job ?? event.bot ?? "belfry", words)
    }

    /// Notifies of what happened to something; nobody is notified where there is no terminal.
    func notify(of name: String, _ words: String) {
        try? ControllingTerminal.write(way.bytes(title: name, body: words, throughTmux: isInTmux))
    }
}
