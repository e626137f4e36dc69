package import API
import Timeline

/// An answer that is being received.
package final class AnswerStream {
    /// What stands before the body.
    package let head: HTTPAnswerHead
    private let socket: UnixSocket
    private var parser: HTTPAnswerParser
    private var waiting: [HTTPAnswerParser.Part]
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)

    /// What came next.
    package enum Arrival: Hashable, Sendable {
        /// A part of the body, never empty.
        case bytes([UInt8])
        /// The body is complete.
        case ended
        /// Nothing came in time, or a signal came; the stream goes on.
        case nothing
    }

    /// Sends a request over `socket` and waits up to `timeout` for the answer's head.
    init(
        _ request: [UInt8], over socket: UnixSocket, timeout: Duration
    ) throws(APIError) {
        try socket.write(request)
        var parser = HTTPAnswerParser()
        var parts: [HTTPAnswerParser.Part] = []
        let clock = ContinuousClock()
        let deadline = clock.now + timeout
        var buffer = [UInt8](repeating: 0, count: 4096)
        while parts.isEmpty {
            guard clock.now < deadline else {
                throw APIError(.timedOut, "the daemon did not answer within \(timeout.milliseconds / 1000) s")
            }
            switch try socket.read(into: &buffer, timeout: deadline - clock.now) {
            case .bytes(let count): parts = try parser.receive(buffer[..<count])
            case .ended: parts = try parser.finish()
            case .nothing: break
            }
        }
        guard case .head(let head) = parts.removeFirst() else { throw APIError(.notBelfry) }
        self.head = head
        self.socket = socket
        self.parser = parser
        self.waiting = parts
    }

    /// The next part of the body, waiting up to `timeout` (nil: for ever), and no longer than until `other`, where
    /// one is given, can be read.
    package func next(timeout: Duration?, or other: Int32? = nil) throws(APIError) -> Arrival {
        while true {
            while !waiting.isEmpty {
                switch waiting.removeFirst() {
                case .body(let bytes): return .bytes(bytes)
                case .end: return .ended
                case .head: throw APIError(.notBelfry)
                }
            }
            switch try socket.read(into: &buffer, timeout: timeout, or: other) {
            case .bytes(let count): waiting = try parser.receive(buffer[..<count])
            case .ended:
                waiting = try parser.finish()
                if waiting.isEmpty { return .ended }
            case .nothing: return .nothing
            }
        }
    }

    /// The whole body, at most `limit` bytes, with at most `timeout` of silence.
    package func body(limit: Int, timeout: Duration) throws(APIError) -> [UInt8] {
        var body: [UInt8] = []
        while true {
            switch try next(timeout: timeout) {
            case .bytes(let bytes): body += bytes
            case .ended: return body
            case .nothing: throw APIError(.timedOut, "the daemon stopped in the middle of its answer")
            }
            guard body.count <= limit else { throw APIError(.notBelfry, "the daemon's answer is too large") }
        }
    }
}

/// Bound to its socket, which belongs to one reader.
@available(*, unavailable) extension AnswerStream: Sendable {}
