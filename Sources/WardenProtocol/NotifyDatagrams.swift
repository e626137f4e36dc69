import Glibc
package import Host

/// Reads a job's `NOTIFY_SOCKET`.
package enum NotifyDatagrams {
    /// The longest datagram that is accepted; longer ones are dropped.
    package static let limit = 8192

    /// What waits in the socket, in order, at most 64 datagrams.
    package static func read(
        from socket: Descriptor
    ) throws(HostError) -> (datagrams: [[UInt8]], mayHaveMore: Bool) {
        var buffer = [UInt8](repeating: 0, count: limit + 1)
        return try read(from: socket, into: &buffer)
    }

    /// What waits in the socket, in order, at most `most` datagrams; `buffer` has room for more than ``limit``.
    ///
    /// Descriptors that come along are closed at once: `systemd-notify` waits for that (`BARRIER=1`),
    /// up to 5 s. A datagram with nothing else in it is omitted.
    /// - Source: sd_notify(3), sd_notify_barrier.
    package static func read(
        from socket: Descriptor, most: Int = 64, into buffer: inout [UInt8]
    ) throws(HostError) -> (datagrams: [[UInt8]], mayHaveMore: Bool) {
        var datagrams: [[UInt8]] = []
        for _ in 0..<most {
            var received: [Descriptor] = []
            let reading = try LocalSocket.receive(from: socket, into: &buffer, received: &received)
            switch reading {
            case .bytes(let count):
                let datagram = buffer[..<count]
                if count <= limit, !datagram.elementsEqual("BARRIER=1".utf8) {
                    datagrams.append(Array(datagram))
                }
            case .end: continue  // An empty datagram looks like an end; there is none on this socket.
            case .wouldBlock: return (datagrams, false)
            }
        }
        return (datagrams, true)
    }
}
