import Glibc
import Host
import Timeline

/// One connection to a warden: bytes in, bytes out, descriptors received.
struct ClientConnection {
    let socket: Descriptor
    var outgoing = SendBuffer()
    private var incoming = FrameBuffer()
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private var descriptors: [Descriptor] = []

    init(directory: String) throws(WardenError) {
        do throws(HostError) {
            socket = try LocalSocket.connect(directory + "/warden.sock")
        } catch {
            throw .noWarden(text: "\(error)")
        }
    }

    /// Says hello and waits for the answer, at most 5 s.
    mutating func shakeHands() throws(WardenError) -> WardenHello {
        do throws(HostError) {
            outgoing.append(WardenCommand.hello(version: WardenHello.currentVersion).frame)
            try outgoing.flush(to: socket)
        } catch {
            throw .hungUp
        }
        guard case .hello(let hello)? = try wait(until: { _ in true }) else { throw .outOfOrder }
        return hello
    }

    /// Asks a warden to leave its folder to a newer one, and waits for it, at most 5 s; false when it stays.
    mutating func retire() throws(WardenError) -> Bool {
        do throws(HostError) {
            outgoing.append(WardenCommand.retire.frame)
            try outgoing.flush(to: socket)
        } catch {
            throw .hungUp
        }
        do throws(WardenError) {
            return try wait { $0 == .retired } != nil
        } catch {
            return false
        }
    }

    /// The first message that `isLast` names; those before it are dropped.
    private mutating func wait(
        until isLast: (WardenMessage) -> Bool
    ) throws(WardenError) -> WardenMessage? {
        let deadline = Duration.sinceBoot + .seconds(5)
        while true {
            while let message = try nextMessage() { if isLast(message) { return message } }
            let left = deadline - .sinceBoot
            guard left > .zero else { throw .hungUp }
            var waiting = pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0)
            unsafe poll(&waiting, 1, Int32(left.milliseconds) + 1)
            guard try receive() else { throw .hungUp }
        }
    }

    /// Receives once; false when the other side hung up.
    mutating func receive() throws(WardenError) -> Bool {
        do throws(HostError) {
            let reading = try LocalSocket.receive(from: socket, into: &buffer, received: &descriptors)
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

    /// The next whole message of a kind we know.
    mutating func nextMessage() throws(WardenError) -> WardenMessage? {
        while let frame = try incoming.next() {
            if let message = try WardenMessage(kind: frame.kind, frame.fields) { return message }
        }
        return nil
    }

    /// The descriptor that came with the message just read.
    mutating func takeDescriptor() -> Descriptor? {
        descriptors.isEmpty ? nil : descriptors.removeFirst()
    }
}
