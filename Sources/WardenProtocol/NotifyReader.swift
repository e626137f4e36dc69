import Glibc
package import Host
import Timeline

/// Reads a job's `NOTIFY_SOCKET`, for as long as the job runs.
package struct NotifyReader {
    /// The longest datagram that is accepted; longer ones are dropped.
    package static let limit = 8192

    private var senders: NotifySender
    /// Until when, since boot, what is known of the senders holds.
    private var knownUntil = Duration.zero
    /// A process id is not used again within so short a time.
    private static let memory = Duration.seconds(1)

    /// A reader of the reports of `run`, by its id.
    package init(run: String) { senders = NotifySender(run: run) }

    /// Room for what ``read(from:most:into:)`` receives.
    package static func makeBuffer() -> [UInt8] { [UInt8](repeating: 0, count: limit + 1) }

    /// What waits in the socket, in order, at most `most` datagrams; `buffer` has room for more than ``limit``.
    ///
    /// Of a socket that names senders, only what processes of the run sent counts. Descriptors that come along are closed
    /// at once: `systemd-notify` waits for that (`BARRIER=1`), up to 5 s. A datagram with nothing else in it is omitted.
    /// - Source: sd_notify(3), sd_notify_barrier.
    package mutating func read(
        from socket: Descriptor, most: Int = 64, into buffer: inout [UInt8]
    ) throws(HostError) -> (datagrams: [[UInt8]], mayHaveMore: Bool) {
        let now = Duration.sinceBoot
        if now >= knownUntil {
            senders.forget()
            knownUntil = now + Self.memory
        }
        var datagrams: [[UInt8]] = []
        for _ in 0..<most {
            var received: [Descriptor] = []
            var sender: LocalSocket.Peer?
            let reading = try LocalSocket.receive(
                from: socket, into: &buffer, received: &received, sender: &sender)
            switch reading {
            case .bytes(let count):
                let datagram = buffer[..<count]
                if count <= Self.limit, !datagram.elementsEqual("BARRIER=1".utf8), senders.mayReport(sender) {
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
/// of a sender is believed: it ended at once after its report, or is of another user.
package struct NotifySender {
    private let mark: String
    /// What was found of senders a moment ago.
    private var known: [Int32: Bool] = [:]
    /// So many ancestors are looked at.
    private static let depth = 64

    /// The senders of a run's reports.
    package init(run: String) { mark = Self.mark(of: run) }

    /// The entry of the environment that every process of a run is born with.
    package static func mark(of run: String) -> String { "BELFRY_RUN_ID=\(run)" }

    /// Looks at every sender anew: their ids may be used again by others.
    mutating func forget() { known.removeAll(keepingCapacity: true) }

    /// Whether a report counts that this process sent.
    package mutating func mayReport(_ sender: LocalSocket.Peer?) -> Bool {
        guard let sender, sender.pid > 0 else { return true }
        if let known = known[sender.pid] { return known }
        let may = isOurs(sender.pid)
        known[sender.pid] = may
        return may
    }

    private func isOurs(_ sender: Int32) -> Bool {
        Self.isOurs(
            sender, mark: { ProcessTable.mark(mark, of: $0) }, entry: { ProcessTable.entry($0) },
            isWarden: { $0.name.hasPrefix("belfry-warden") })
    }

    /// Whether a process is one of the run's, by what can be seen of it and of those above it.
    ///
    /// An ancestor that can't be looked at, as the login that a person's shell belongs to, shows nothing: those above it do.
    static func isOurs(
        _ sender: Int32, mark: (Int32) -> ProcessTable.Mark?, entry: (Int32) -> ProcessEntry?,
        isWarden: (ProcessEntry) -> Bool
    ) -> Bool {
        var (pid, isOfOther) = (sender, false)
        for _ in 0..<depth where pid > 1 {
            let seen = mark(pid)
            if seen == .same { return true }
            guard let process = entry(pid) else { return true }
            // The warden's own children lose the mark only by showing a title of their own. And systemd-notify reports on
            // behalf of its parent, which is the warden where a job is nothing but that.
            if isWarden(process) { return !isOfOther }
            if pid == sender, seen == nil { return true }
            isOfOther = isOfOther || seen == .other
            pid = process.parent
        }
        return false
    }
}
