import Glibc
import Host
import Testing

@Suite(.serialized) struct `signals` {
    @Test func `arrive in order and do not end the process`() async throws {
        let stream = try Signals.stream()
        for signal in [SIGHUP, SIGTERM, SIGINT] { kill(getpid(), signal) }
        // The kernel may hand over pending signals lowest first; which arrive is what counts.
        var received: Set<Signals.Signal> = []
        for await signal in stream {
            received.insert(signal)
            if received.count == 3 { break }
        }
        #expect(received == [.hangup, .terminate, .interrupt])
    }
}
