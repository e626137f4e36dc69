import Glibc
import Synchronization

/// The signals by which a person or a service manager speaks to a daemon.
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
