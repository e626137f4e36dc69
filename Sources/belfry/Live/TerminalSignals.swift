import Glibc
import Synchronization

/// The signals that end a view or change its size, noticed between two waits.
///
/// While one is alive, INT, TERM and HUP no longer end the process by themselves; a wait for the daemon
/// returns early when one arrives. One a process.
final class TerminalSignals {
    init() {
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGWINCH] { Self.handle(signal, with: note) }
    }

    deinit {
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGWINCH] { Self.handle(signal, with: nil) }
    }

    /// The signal that asked for the end since the last look; nil when none did.
    func take() -> Int32? {
        let signal = lastSignal.exchange(0, ordering: .relaxed)
        return signal == 0 ? nil : signal
    }

    private static func handle(_ signal: Int32, with handler: (@convention(c) (Int32) -> Void)?) {
        var action = sigaction()
        // Without SA_RESTART: the wait must return.
        unsafe action.__sigaction_handler.sa_handler = handler
        _ = unsafe sigaction(signal, &action, nil)
    }
}

private let lastSignal = Atomic<Int32>(0)

/// Runs inside the signal: a store, and nothing else.
private func note(_ signal: Int32) {
    if signal != SIGWINCH { lastSignal.store(signal, ordering: .relaxed) }
}
