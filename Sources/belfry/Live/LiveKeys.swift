import Glibc
import Host
import Synchronization
import Timeline

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
