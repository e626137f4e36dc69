import Host
import Performing
import WardenProtocol

/// One connection to the warden's socket.
///
/// The one that said hello last is the daemon's; one that offered streams is a terminal's.
struct DaemonLink {
    /// Above this many waiting bytes copies of output are left out and reports are kept back.
    private static let crowded = 256 << 10

    let socket: Descriptor
    var hasHello = false
    /// It offers streams, and never says hello.
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

    /// Receives once; false when the other side hung up.
    ///
    /// Descriptors it sends are closed, but for the three of a terminal.
    mutating func receive(_ buffer: inout [UInt8]) throws(WardenError) -> Bool {
        do throws(HostError) {
            let reading = try LocalSocket.receive(from: socket, into: &buffer, received: &received)
            if hasHello || offered.count + received.count > 3 { received = [] }
            switch reading {
            case .bytes(let count): incoming.append(buffer[..<count])
            case .wouldBlock: break
            case .end: return false
            }
            return true
        } catch {
            throw .host(error)
        }
    }

    /// The next whole command of a kind this version knows.
    mutating func nextCommand() throws(WardenError) -> WardenCommand? {
        while let frame = try incoming.next() {
            guard let command = try WardenCommand(kind: frame.kind, frame.fields) else { continue }
            switch command {
            case .hello:
                guard !hasHello, !isTerminal else { throw .outOfOrder }
                hasHello = true
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
