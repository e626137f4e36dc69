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
    /// Whether the view has a screen of its own.
    private let hasScreen: Bool
    /// What takes away the terminal's reports of runs.
    private let clearing: [UInt8]
    /// What restores the terminal when this process can't.
    private var keeper: TerminalGuard?

    /// Takes the terminal over, as ``enter()`` does.
    init(isReading: Bool, isRaw: Bool = false, hasScreen: Bool = false, clearing: [UInt8] = []) {
        self.isReading = isReading
        self.isRaw = isRaw
        self.hasScreen = hasScreen
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
        guardLine.store(-1, ordering: .sequentiallyConsistent)
        for signal in Self.fatal { Glibc.signal(signal, SIG_DFL) }
    }

    /// Turns echo off, and lines where keys are read, while this process is in the foreground; Ctrl-C and Ctrl-Z still send signals.
    func enter() {
        guard !isTaken.load(ordering: .relaxed), tcgetpgrp(STDOUT_FILENO) == getpgrp() else { return }
        guard unsafe tcgetattr(STDOUT_FILENO, settings) == 0 else { return }
        // Initialized here, and not first in a signal handler.
        _ = unsafe (pasteOff, screenOff)
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
        if isRaw {
            marksPastes.store(true, ordering: .sequentiallyConsistent)
            StandardOutput.write(Array("\u{1B}[?2004h".utf8))
        }
        if hasScreen {
            // Writing to a guard that has died must not end the view.
            Signals.ignoreBrokenPipes()
            isOnScreen.store(true, ordering: .sequentiallyConsistent)
            guardLine.store(keeper?.line.raw ?? -1, ordering: .sequentiallyConsistent)
            // First the guard: a kill in between must not leave the other screen to the shell.
            notifyGuard(TerminalGuard.entered)
            StandardOutput.write(ScreenPainter.enter)
        }
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

/// Whether the view's own screen is shown.
private let isOnScreen = Atomic<Bool>(false)

/// The descriptor on which the guard is notified of which screen is shown; -1: there is no guard.
private let guardLine = Atomic<Int32>(-1)

/// The terminal's settings before a view took it over.
// SAFE: written by the one thread of a view while ``isTaken`` is false, read only while it is true.
private nonisolated(unsafe) let settings = {
    let settings = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    unsafe settings.initialize(to: termios())
    return unsafe settings
}()

/// What makes the terminal send pastes as keys again, and what shows its normal screen.
// SAFE: written once, never freed.
private nonisolated(unsafe) let pasteOff = unsafe constant(Array("\u{1B}[?2004l".utf8))
// SAFE: written once, never freed.
private nonisolated(unsafe) let screenOff = unsafe constant(ScreenPainter.leave)

private func constant(_ bytes: [UInt8]) -> UnsafeBufferPointer<UInt8> {
    let kept = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
    _ = unsafe kept.initialize(fromContentsOf: bytes)
    return UnsafeBufferPointer(kept)
}

/// Notifies the guard, if there is one, of which screen is shown.
private func notifyGuard(_ screen: UInt8) {
    let line = guardLine.load(ordering: .sequentiallyConsistent)
    guard line >= 0 else { return }
    var byte = screen
    _ = unsafe write(line, &byte, 1)
}

/// Runs inside signals, too.
private func restoreTerminal() {
    guard isTaken.exchange(false, ordering: .sequentiallyConsistent) else { return }
    // Not from the background: that would stop the process, and the terminal has other settings by then.
    guard tcgetpgrp(STDOUT_FILENO) == getpgrp() else { return }
    _ = unsafe tcsetattr(STDOUT_FILENO, TCSANOW, settings)
    // Writes of constants: signals may do that.
    if marksPastes.exchange(false, ordering: .sequentiallyConsistent) {
        _ = unsafe write(STDOUT_FILENO, pasteOff.baseAddress, pasteOff.count)
    }
    if isOnScreen.exchange(false, ordering: .sequentiallyConsistent) {
        _ = unsafe write(STDOUT_FILENO, screenOff.baseAddress, screenOff.count)
        notifyGuard(TerminalGuard.left)
    }
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

    /// Whether the terminal's size was changed since the last look, be it there and back.
    func takeResize() -> Bool { wasResized.exchange(false, ordering: .relaxed) }

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
private let wasResized = Atomic<Bool>(false)

/// Runs inside the signal: a store, and nothing else.
private func note(_ signal: Int32) {
    switch signal {
    case SIGWINCH: wasResized.store(true, ordering: .relaxed)
    case SIGTSTP: isStopWanted.store(true, ordering: .relaxed)
    case SIGCONT: wasContinued.store(true, ordering: .relaxed)
    default: lastSignal.store(signal, ordering: .relaxed)
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
