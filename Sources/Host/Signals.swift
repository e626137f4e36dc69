import CLinux
import Glibc
import Synchronization

/// The signals that a person or a service manager sends to a daemon.
package enum Signals {
    /// One of the signals a daemon answers.
    package enum Signal: Int32, Sendable, CaseIterable {
        /// Load the configuration again.
        case hangup = 1
        /// Ctrl-C at a terminal: end.
        case interrupt = 2
        /// End.
        case terminate = 15
    }

    /// The signals that arrive from now on, in order.
    ///
    /// Their default action no longer happens while the stream lives; when it is dropped the defaults
    /// come back. One stream a process: a newer one takes over from an older one.
    package static func stream() throws(HostError) -> AsyncStream<Signal> {
        let pipe = try Descriptor.pipe(nonblockingRead: false)
        try pipe.write.setNonblocking()
        let (stream, continuation) = AsyncStream.makeStream(of: Signal.self)
        // The handler may only load this word and write; it is initialised before any handler exists.
        signalPipe.store(pipe.write.raw, ordering: .sequentiallyConsistent)
        try BackgroundThread.start(named: "signals") {
            var buffer: [UInt8] = [0]
            while case .bytes? = try? pipe.read.read(into: &buffer),
                let signal = Signal(rawValue: Int32(buffer[0]))
            {
                continuation.yield(signal)
            }
            continuation.finish()
        }
        for signal in Signal.allCases { handle(signal.rawValue, with: passOn) }
        continuation.onTermination = { _ in
            let isOurs = signalPipe.compareExchange(
                expected: pipe.write.raw, desired: -1, ordering: .sequentiallyConsistent
            ).exchanged
            if isOurs {
                for signal in Signal.allCases { handle(signal.rawValue, with: nil) }
            }
            // A zero byte names no signal and ends the thread.
            try? pipe.write.writeAll([0])
        }
        return stream
    }

    /// Makes writes to a closed pipe or socket fail with an errno instead of ending the process.
    package static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }

    private static func handle(_ signal: Int32, with handler: (@convention(c) (Int32) -> Void)?) {
        var action = sigaction()
        action.sa_flags = SA_RESTART
        unsafe action.__sigaction_handler.sa_handler = handler
        unsafe sigaction(signal, &action, nil)
    }
}

private let signalPipe = Atomic<Int32>(-1)

/// Runs inside the signal: only async-signal-safe calls, and errno as it was.
private func passOn(_ signal: Int32) {
    let saved = errno
    var byte = UInt8(truncatingIfNeeded: signal)
    unsafe write(signalPipe.load(ordering: .sequentiallyConsistent), &byte, 1)
    errno = saved
}

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

/// The service manager that started this process, where one did.
package enum ServiceManager {
    /// Notifies it that this process is ready; does nothing when no manager waits for that.
    ///
    /// - Source: sd_notify(3), `READY=1`.
    package static func sayReady(environment: [String: String] = Machine.environment) throws(HostError) {
        guard let path = environment["NOTIFY_SOCKET"], !path.isEmpty else { return }
        let socket = try LocalSocket.connectDatagram(path)
        try socket.writeAll(Array("READY=1".utf8)[...])
    }
}

/// The systemd service that this process belongs to.
package struct ServiceUnit: Hashable, Sendable {
    /// Its name with `.service`.
    package let name: String
    /// Whether a user's manager runs it; the machine's does otherwise.
    package let isOfUser: Bool

    /// The command that speaks to its manager.
    package var control: String { isOfUser ? "systemctl --user" : "systemctl" }

    /// The service of this process; nil: none, as in a terminal or a container.
    package static var own: ServiceUnit? {
        (try? SmallFile.text("/proc/self/cgroup")).flatMap(ServiceUnit.init(membership:))
    }

    /// Reads the lines of `/proc/PID/cgroup`.
    ///
    /// What a user's manager runs lies below the service of that manager; a terminal lies in a scope.
    /// - Source: systemd.special(7), `user@.service`; cgroups(7).
    package init?(membership: String) {
        let paths = membership.split(separator: "\n").compactMap { line -> Substring? in
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts[1].isEmpty || parts[1] == "name=systemd" else { return nil }
            return parts[2]
        }
        guard let path = paths.first(where: { $0.hasSuffix(".service") }) else { return nil }
        let names = path.split(separator: "/")
        guard let name = names.last, !name.hasPrefix("user@") else { return nil }
        self.name = String(name)
        isOfUser = names.dropLast().contains { $0.hasPrefix("user@") && $0.hasSuffix(".service") }
    }
}
