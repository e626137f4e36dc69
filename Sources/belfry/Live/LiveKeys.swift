import Glibc
import Synchronization

/// The keys of the terminal that a live view draws on: not echoed into its rows, and read one by one where they are its.
///
/// The terminal gets its settings back when the view is left, stopped or ended, also by ``exit`` and by a signal
/// that dumps core; only KILL leaves it as it is (`stty sane` restores it). One a process.
final class LiveKeys {
    /// Readable when a key was pressed; nil: keys are not for us.
    private(set) var descriptor: Int32?
    private static let fatal = [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

    /// Whether the keys are for this view; else they wait for whoever reads the terminal next.
    private let isReading: Bool

    /// Takes the terminal over, as ``enter()`` does.
    init(isReading: Bool) {
        self.isReading = isReading
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
        unsafe withUnsafeMutableBytes(of: &quiet.c_cc) { keys in
            unsafe keys[Int(VMIN)] = 1
            unsafe keys[Int(VTIME)] = 0
        }
        // Before the change: a signal in between restores what is there.
        isTaken.store(true, ordering: .sequentiallyConsistent)
        unsafe tcsetattr(STDOUT_FILENO, TCSANOW, &quiet)
    }

    /// Gives the terminal its settings back.
    func leave() { restoreTerminal() }

    /// Takes the keys that were pressed; true when `q` is among them.
    func takesLeave() -> Bool {
        var isLeaving = false
        while let descriptor {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            // In the background a read would stop the process.
            guard tcgetpgrp(descriptor) == getpgrp(), unsafe poll(&waiting, 1, 0) == 1 else { break }
            var keys = [UInt8](repeating: 0, count: 256)
            let count = unsafe read(descriptor, &keys, keys.count)
            if count > 0 {
                isLeaving = isLeaving || keys[..<count].contains(UInt8(ascii: "q"))
            } else if count == 0 || errno != EINTR {
                // The terminal hung up.
                self.descriptor = nil
            }
        }
        return isLeaving
    }
}

/// Whether the terminal has other settings than ``settings``.
private let isTaken = Atomic<Bool>(false)

/// The terminal's settings before a view took it over.
private nonisolated(unsafe) let settings = {
    // SAFE: written by the one thread of a view while ``isTaken`` is false, read only while it is true.
    let settings = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    unsafe settings.initialize(to: termios())
    return unsafe settings
}()

/// Runs inside signals, too.
private func restoreTerminal() {
    guard isTaken.exchange(false, ordering: .sequentiallyConsistent) else { return }
    // Not from the background: that would stop the process, and the terminal has other settings by then.
    guard tcgetpgrp(STDOUT_FILENO) == getpgrp() else { return }
    _ = unsafe tcsetattr(STDOUT_FILENO, TCSANOW, settings)
}
