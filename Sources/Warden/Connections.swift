import Glibc
import Host
import Performing
import WardenProtocol

/// The connections to the warden's socket, with the one that is the daemon's.
final class Connections {
    /// How many may be open before one that has not spoken is closed for the next.
    private static let most = 16

    private let listener: Descriptor
    /// What is answered to a hello.
    private let identity: WardenHello
    private let watches: Watches
    private let buffer: ReadBuffer
    private var connections: [UInt64: Connection] = [:]
    /// Streams that wait for their order, by token.
    private var attachments: [String: OfferedStreams] = [:]
    /// The connection that sent hello last.
    private(set) var daemon: UInt64?
    /// Since when there is no daemon, since boot.
    private(set) var awaySince: Duration? = .sinceBoot

    /// Listens at `path`, in place of a socket that an earlier warden left there.
    init(
        listeningAt path: String, identity: WardenHello, watches: Watches, buffer: ReadBuffer
    ) throws(HostError) {
        self.identity = identity
        self.watches = watches
        self.buffer = buffer
        unsafe unlink(path)
        listener = try LocalSocket.listen(path)
        try watches.add(listener.raw, .listener)
    }

    subscript(id: UInt64) -> Connection? {
        get { connections[id] }
        _modify { yield &connections[id] }
    }

    // MARK: Opening and closing

    /// Accepts everybody who waits; `drop` closes a connection that makes room.
    func accept(makingRoom drop: (UInt64) -> Void) {
        while let socket = (try? acceptOne()) ?? nil {
            // Only the user the jobs belong to, and root.
            guard let peer = try? LocalSocket.peer(of: socket), peer.userID == geteuid() || peer.userID == 0
            else { continue }
            // A peer that connects and sends nothing does not keep others out.
            if connections.count >= Self.most, let oldest = oldestStranger { drop(oldest) }
            let id = (connections.keys.max() ?? 0) + 1
            connections[id] = Connection(socket: socket)
            if (try? watches.add(socket.raw, .link(id))) == nil { connections[id] = nil }
        }
    }

    private func acceptOne() throws(HostError) -> Descriptor? {
        try LocalSocket.accept(listener)
    }

    /// The first that connected of those that have not identified themselves.
    private var oldestStranger: UInt64? {
        connections.filter { !$0.value.hasHello && !$0.value.isTerminal }.keys.min()
    }

    /// Removes a connection; whether it was the daemon's.
    func remove(_ id: UInt64) -> (connection: Connection, wasDaemon: Bool)? {
        guard let connection = connections.removeValue(forKey: id) else { return nil }
        watches.remove(connection.socket.raw)
        for (token, attachment) in attachments where attachment.link == id { attachments[token] = nil }
        guard daemon == id else { return (connection, false) }
        daemon = nil
        awaySince = .sinceBoot
        return (connection, true)
    }

    // MARK: Receiving

    /// Receives once; false when the other side disconnected.
    func receive(_ id: UInt64) throws(WardenError) -> Bool {
        try connections[id]?.receive(&buffer.bytes) ?? false
    }

    /// The next whole command of a connection that is still open.
    func nextCommand(of id: UInt64) throws(WardenError) -> WardenCommand? {
        try connections[id]?.nextCommand()
    }

    // MARK: Sending

    /// Sends everything that has room, and waits for room where there is none.
    ///
    /// - Returns: the connections that turned out to be closed.
    func flush() -> [UInt64] {
        var closed: [UInt64] = []
        for id in Array(connections.keys) {
            let waited = connections[id]?.hasWaiting ?? false
            do throws(HostError) {
                try connections[id]?.flush()
            } catch {
                closed.append(id)
                continue
            }
            if let connection = connections[id], waited || connection.hasWaiting {
                watches.setInterest(
                    connection.socket.raw, connection.hasWaiting ? .readingAndWriting : .reading)
            }
        }
        return closed
    }

    /// Whether there is a daemon that reads what it is sent.
    var takesReports: Bool { daemon.map { connections[$0]?.isCrowded == false } ?? false }

    /// Sends to the daemon; what it must not miss is repeated when it comes back.
    func send(_ message: WardenMessage) {
        if daemon != nil { send(frame: message.frame) }
    }

    /// Sends to the daemon how an attempt ended, after what it reported before.
    func send(_ entry: inout Outcomes.Ended) {
        send(&entry.reports)
        send(.ended(entry.record))
    }

    /// Sends what a run reported to the daemon, unless there is none or too much waits.
    func sendReports(of run: Run) {
        if takesReports { send(&run.reports) }
    }

    private func send(_ reports: inout KeptReports) {
        guard let daemon, let version = connections[daemon]?.version else { return }
        for frame in reports.takeUnsent() { send(frame: frame) }
        if version < Self.acknowledgingVersion { reports.forgetSent() }
    }

    private static let acknowledgingVersion =
        WardenCommand.acknowledgeReports(RunKey(run: "", attempt: 0), through: 0).neededVersion

    /// Gives the daemon the run's notify socket; from now on the daemon reads it.
    func sendNotifySocket(_ socket: Descriptor, of run: Run) {
        // What was read while nobody listened comes first: the daemon's own reading is newer.
        send(&run.reports)
        send(frame: WardenMessage.notifySocket(run.key).frame, passing: socket)
    }

    private func send(frame: [UInt8], passing: Descriptor? = nil) {
        if let daemon { connections[daemon]?.send(frame, passing: passing) }
    }

    // MARK: The daemon

    /// The connection sent hello: it is the daemon's from here on.
    func welcome(_ id: UInt64) {
        daemon = id
        awaySince = nil
    }

    /// Answers the daemon's hello.
    func sendHello(runs: Int) {
        var hello = identity
        hello.runs = runs
        send(.hello(hello))
    }

    // MARK: Terminals

    /// Whether streams wait for their order.
    var hasAttachments: Bool { !attachments.isEmpty }
    /// How many descriptors those streams take up.
    var heldDescriptors: Int { 3 * attachments.count }

    /// Keeps the streams a connection offered until the order comes that names `token`; false when they are refused.
    func attach(_ id: UInt64, _ token: String) -> Bool {
        guard let connection = connections[id], attachments[token] == nil,
            let attachment = try? OfferedStreams(link: id, streams: connection.offered)
        else { return false }
        connections[id]?.offered = [:]
        attachments[token] = attachment
        connections[id]?.send(WardenMessage.attached(token: token).frame)
        return true
    }

    /// What was offered for the order; an order whose terminal disconnected is refused.
    func takeAttachment(_ order: ProcessOrder) throws(StartRefused) -> OfferedStreams? {
        guard let token = order.attachment else { return nil }
        guard let attachment = attachments.removeValue(forKey: token) else {
            throw StartRefused(.other, "the terminal it was meant for has closed its connection")
        }
        return attachment
    }

    /// The run was started: its terminal is notified, and its streams are those of the run.
    func join(_ attachment: OfferedStreams, to run: Run) {
        run.terminal = attachment.link
        connections[attachment.link]?.key = run.key
        connections[attachment.link]?.send(run.startedMessage.frame)
    }
}

/// One connection to the warden's socket.
///
/// The one that sent hello last is the daemon's; one that offered streams is a terminal's.
struct Connection {
    /// Above this many waiting bytes copies of output are omitted and reports are kept back.
    private static let crowded = 256 << 10

    let socket: Descriptor
    /// What its hello named; nil before that.
    private(set) var version: Int?
    var hasHello: Bool { version != nil }
    /// It offers streams, and never sends hello.
    private(set) var isTerminal = false
    /// The streams offered so far, by number.
    var offered: [Int: Descriptor] = [:]
    /// The attempt its streams belong to, once that was started.
    var key: RunKey?
    private var received: [Descriptor] = []
    private var incoming = FrameBuffer()
    private var outgoing = SendBuffer()

    init(socket: Descriptor) {
        self.socket = socket
    }

    /// Whether only what must arrive should be sent.
    var isCrowded: Bool { outgoing.count > Self.crowded }
    /// Whether bytes wait for the other side to read.
    var hasWaiting: Bool { outgoing.count > 0 }

    mutating func send(_ frame: [UInt8], passing: Descriptor? = nil) {
        outgoing.append(frame, passing: passing)
    }

    mutating func flush() throws(HostError) {
        try outgoing.flush(to: socket)
    }

    /// Receives once; false when the other side disconnected.
    ///
    /// Descriptors it sends are closed, but for the three of a terminal.
    mutating func receive(_ buffer: inout [UInt8]) throws(WardenError) -> Bool {
        let isOpen = try incoming.receive(from: socket, into: &buffer, received: &received)
        if hasHello || offered.count + received.count > 3 { received = [] }
        return isOpen
    }

    /// The next whole command of a kind this version knows.
    mutating func nextCommand() throws(WardenError) -> WardenCommand? {
        while let frame = try incoming.next() {
            guard let command = try WardenCommand(kind: frame.kind, frame.fields) else { continue }
            switch command {
            case .hello(let version):
                guard !hasHello, !isTerminal else { throw .outOfOrder }
                self.version = version
            case .offer(let stream):
                guard !hasHello, key == nil, !received.isEmpty else { throw .outOfOrder }
                isTerminal = true
                offered[stream] = received.removeFirst()
                continue
            case .attach:
                guard !hasHello, key == nil else { throw .outOfOrder }
                isTerminal = true
            default: guard hasHello || isTerminal else { throw .outOfOrder }
            }
            return command
        }
        return nil
    }
}

/// Streams that a terminal offered for one order, and where to report it.
struct OfferedStreams {
    /// The connection it was offered on.
    let link: UInt64
    /// Becomes the job's standard input; nil: nothing to read.
    var input: Descriptor?
    /// Where copies of standard output and standard error go; nil: nowhere.
    var output: OutputSink?
    var errors: OutputSink?

    /// Takes `streams` by number; two pipes that would block are refused.
    init(link: UInt64, streams: [Int: Descriptor]) throws(HostError) {
        self.link = link
        input = streams[0]
        output = try streams[1].map(Self.sink)
        errors = try streams[2].map(Self.sink)
    }

    private static func sink(_ descriptor: Descriptor) throws(HostError) -> OutputSink {
        // Sets the shared open file: the terminal's own end is another one.
        try descriptor.setNonblocking()
        return OutputSink(descriptor)
    }
}
