import Host
import WardenProtocol

/// One connection to the warden's socket.
///
/// The one that said hello last is the daemon's.
struct DaemonLink {
    /// Above this many waiting bytes copies of output are left out and reports are kept back.
    private static let crowded = 256 << 10

    let socket: Descriptor
    var hasHello = false
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
    /// Descriptors it sends are closed.
    mutating func receive(_ buffer: inout [UInt8]) throws(WardenError) -> Bool {
        var unwanted: [Descriptor] = []
        do throws(HostError) {
            let reading = try LocalSocket.receive(from: socket, into: &buffer, received: &unwanted)
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
            if case .hello = command {
                guard !hasHello else { throw .outOfOrder }
                hasHello = true
            }
            guard hasHello else { throw .outOfOrder }
            return command
        }
        return nil
    }
}
