import Host
import Performing
import WardenProtocol

/// The connections to the warden's socket, with the one that is the daemon's.
struct Links {
    private var links: [UInt64: DaemonLink] = [:]
    /// The link that said hello last.
    private(set) var daemon: UInt64?
    /// Since when there is no daemon, since boot.
    private(set) var awaySince: Duration? = .sinceBoot

    var count: Int { links.count }
    var ids: some Collection<UInt64> { links.keys }

    subscript(id: UInt64) -> DaemonLink? {
        get { links[id] }
        _modify { yield &links[id] }
    }

    /// Takes in a connection that has not spoken yet.
    mutating func add(_ socket: Descriptor) -> UInt64 {
        let id = (links.keys.max() ?? 0) + 1
        links[id] = DaemonLink(socket: socket)
        return id
    }

    /// Removes a connection; whether it was the daemon's.
    mutating func remove(_ id: UInt64) -> (link: DaemonLink, wasDaemon: Bool)? {
        guard let link = links.removeValue(forKey: id) else { return nil }
        guard daemon == id else { return (link, false) }
        daemon = nil
        awaySince = .sinceBoot
        return (link, true)
    }

    /// The link said hello: it is the daemon's from here on.
    mutating func welcome(_ id: UInt64) {
        daemon = id
        awaySince = nil
    }

    /// Who connected first of those that have not said what they are.
    var oldestStranger: UInt64? {
        links.filter { !$0.value.hasHello && !$0.value.isTerminal }.keys.min()
    }

    /// Whether there is a daemon that reads what it is sent.
    var takesReports: Bool { daemon.map { links[$0]?.isCrowded == false } ?? false }

    /// Sends to the daemon; what it must not miss is repeated when it comes back.
    mutating func sendToDaemon(_ frame: [UInt8], passing: Descriptor? = nil) {
        if let daemon { links[daemon]?.send(frame, passing: passing) }
    }
}
