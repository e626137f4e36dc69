import CLinux
import Glibc

/// Signals that are read like any other descriptor, for a program of one thread that waits in an ``EventPoll``.
///
/// Their own actions no longer happen while it lives. Children started by ``ChildProgram`` are not affected.
package final class SignalQueue: Sendable {
    private let descriptor: Descriptor

    /// Takes these signals from now on.
    ///
    /// The corresponding C function is `signalfd`.
    package init(_ signals: [Int32]) throws(HostError) {
        var taken = sigset_t()
        unsafe sigemptyset(&taken)
        for signal in signals { unsafe sigaddset(&taken, signal) }
        unsafe sigprocmask(SIG_BLOCK, &taken, nil)
        let flags = Int32(SFD_CLOEXEC | SFD_NONBLOCK)
        descriptor = try Descriptor(unsafe signalfd(-1, &taken, flags), call: "signalfd")
    }

    deinit {
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigprocmask(SIG_SETMASK, &none, nil)
    }

    /// The descriptor to wait for; readable when a signal came.
    package var raw: Int32 { descriptor.raw }

    /// The signals that came since the last look, in order.
    package func take() -> [Int32] {
        var signals: [Int32] = []
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while unsafe read(descriptor.raw, &info, size) == size { signals.append(Int32(info.ssi_signo)) }
        return signals
    }
}
