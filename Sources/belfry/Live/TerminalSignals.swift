import Glibc
import Synchronization

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
