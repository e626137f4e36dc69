package import Host
import Synchronization

/// A connection between a daemon and an agent, served by a thread of its own: lines of frames, both ways.
package final class AgentLink: Sendable {
    private struct State {
        var outgoing: [UInt8] = []
        var isOver = false
    }

    /// Who is not read for so long has no reader.
    private static let mostOutgoing = 8 << 20

    private let socket: Descriptor
    private let wake: WakeUp
    private let state = Mutex(State())

    /// A link over a connected socket that does not block; nothing is read before ``start(named:_:ended:)``.
    package init(_ socket: Descriptor) throws(HostError) {
        self.socket = socket
        wake = try WakeUp()
    }

    /// Reads frames until one of both ends; `receive` returns whether the other side may go on, and `ended` comes once.
    package func start(
        named name: String, _ receive: @escaping @Sendable (AgentFrame) -> Bool,
        ended: @escaping @Sendable () -> Void
    ) throws(HostError) {
        try BackgroundThread.start(named: name) { [self] in
            try? serve(receive)
            state.withLock { $0.isOver = true }
            ended()
        }
    }

    /// Sends a frame after those before it; one that ended drops it.
    package func send(_ frame: AgentFrame) {
        let line = frame.line
        state.withLock { state in
            if state.outgoing.count + line.count > Self.mostOutgoing { state.isOver = true }
            if !state.isOver { state.outgoing += line }
        }
        wake.ring()
    }

    /// Ends it.
    package func close() {
        state.withLock { $0.isOver = true }
        wake.ring()
    }

    private func serve(_ receive: (AgentFrame) -> Bool) throws(HostError) {
        let poll = try EventPoll()
        try poll.add(socket.raw, 1)
        try poll.add(wake.raw, 2)
        var (buffer, lines) = ([UInt8](repeating: 0, count: 64 << 10), [UInt8]())
        while !state.withLock(\.isOver) {
            try write(poll)
            for ready in try poll.wait() where ready.token == 2 || ready.isReadable {
                if ready.token == 2 {
                    wake.clear()
                } else {
                    switch try socket.read(into: &buffer) {
                    case .end: return
                    case .wouldBlock: break
                    case .bytes(let count):
                        lines += buffer[..<count]
                        guard take(&lines, receive) else { return }
                    }
                }
            }
        }
    }

    /// Writes what fits, and waits for room for the rest.
    private func write(_ poll: EventPoll) throws(HostError) {
        let waiting = state.withLock { state in
            defer { state.outgoing = [] }
            return state.outgoing
        }
        var rest = waiting[...]
        while !rest.isEmpty {
            let count = try LocalSocket.send(rest, over: socket)
            if count == 0 { break }
            rest = rest.dropFirst(count)
        }
        if !rest.isEmpty { state.withLock { $0.outgoing = Array(rest) + $0.outgoing } }
        try poll.change(socket.raw, 1, rest.isEmpty ? .reading : .readingAndWriting)
    }

    /// Hands on the lines that are whole; false: the other side must not go on.
    private func take(_ lines: inout [UInt8], _ receive: (AgentFrame) -> Bool) -> Bool {
        while let end = lines.firstIndex(of: 0x0A) {
            // Nothing is received any more once this side has closed it: what is sent then is sent again.
            if state.withLock(\.isOver) { return false }
            // A frame of a later version is left alone.
            if let frame = AgentFrame(line: lines[..<end]), !receive(frame) { return false }
            lines.removeFirst(end + 1)
        }
        return lines.count <= AgentFrame.limit
    }
}
