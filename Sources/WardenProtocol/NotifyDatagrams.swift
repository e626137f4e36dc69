import Glibc
package import Host

/// Reads a job's `NOTIFY_SOCKET`.
package enum NotifyDatagrams {
    /// The longest datagram that is accepted; longer ones are dropped.
    package static let limit = 8192

    /// What waits in the socket of `run`, in order, at most 64 datagrams.
    package static func read(
        from socket: Descriptor, of run: String
    ) throws(HostError) -> (datagrams: [[UInt8]], mayHaveMore: Bool) {
        var buffer = [UInt8](repeating: 0, count: limit + 1)
        return try read(from: socket, of: run, into: &buffer)
    }

    /// What waits in the socket, in order, at most `most` datagrams; `buffer` has room for more than ``limit``.
    ///
    /// Of a socket that names senders, only what processes of the run sent counts. Descriptors that come along are closed at once: `systemd-notify` waits for that (`BARRIER=1`),
    /// up to 5 s. A datagram with nothing else in it is omitted.
    /// - Source: sd_notify(3), sd_notify_barrier.
    package static func read(
        from socket: Descriptor, of run: String, most: Int = 64, into buffer: inout [UInt8]
    ) throws(HostError) -> (datagrams: [[UInt8]], mayHaveMore: Bool) {
        var datagrams: [[UInt8]] = []
        var senders = NotifySender(run: run)
        for _ in 0..<most {
            var received: [Descriptor] = []
            var sender: LocalSocket.Peer?
            let reading = try LocalSocket.receive(
                from: socket, into: &buffer, received: &received, sender: &sender)
            switch reading {
            case .bytes(let count):
                let datagram = buffer[..<count]
                if count <= limit, !datagram.elementsEqual("BARRIER=1".utf8), senders.mayReport(sender) {
                    datagrams.append(Array(datagram))
                }
            case .end: continue  // An empty datagram looks like an end; there is none on this socket.
            case .wouldBlock: return (datagrams, false)
            }
        }
        return (datagrams, true)
    }
}

/// Who reports on a run's `NOTIFY_SOCKET`: the processes of its tree, and nobody else who got hold of the address.
///
/// Its processes were started with the run's id in their environment, or have a parent that was. What can't be looked at
/// is believed: a process that ended at once after its report, or one of another user.
package struct NotifySender {
    private let mark: String
    /// What was found of the senders of one reading; ids are not used again that fast.
    private var known: [Int32: Bool] = [:]
    /// So many ancestors are looked at.
    private static let depth = 64

    /// The senders of a run's reports.
    package init(run: String) { mark = Self.mark(of: run) }

    /// The entry of the environment that every process of a run is born with.
    package static func mark(of run: String) -> String { "BELFRY_RUN_ID=\(run)" }

    /// Whether a report counts that this process sent.
    package mutating func mayReport(_ sender: LocalSocket.Peer?) -> Bool {
        guard let sender, sender.pid > 0 else { return true }
        if let known = known[sender.pid] { return known }
        let may = isOurs(sender.pid)
        known[sender.pid] = may
        return may
    }

    private func isOurs(_ sender: Int32) -> Bool {
        var pid = sender
        for _ in 0..<Self.depth where pid > 1 {
            guard let isMarked = ProcessTable.knows(pid, wasStartedWith: mark) else { return true }
            if isMarked { return true }
            guard let entry = ProcessTable.entry(pid) else { return true }
            // systemd-notify reports on behalf of its parent, which is the warden where a job is nothing but that.
            if pid == sender, entry.name.hasPrefix("belfry-warden") { return true }
            pid = entry.parent
        }
        return false
    }
}
