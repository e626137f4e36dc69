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

    /// Sends a request over `socket` and waits for the answer's head: up to `timeout`, and while the daemon is at
    /// work on it up to `longest` in all.
    ///
    /// - Parameters:
    ///   - request: The whole request.
    ///   - socket: A connection to the daemon.
    ///   - timeout: How long to wait for a sign of life.
    ///   - longest: How long to wait while there are signs of life.
    ///   - isAlive: Asks the daemon for a sign of life; called once, shortly before `timeout` ends.
    /// - Throws: ``APIError`` with ``ErrorCode/noAnswer``, ``ErrorCode/timedOut`` or ``ErrorCode/connectionLost``.
    init(
        _ request: [UInt8], over socket: UnixSocket, timeout: Duration, longest: Duration,
        isAlive: (Duration) -> Bool
    ) throws(APIError) {
        // One that refuses a connection answers without reading what it is asked.
        var failure: APIError?
        do throws(APIError) { try socket.write(request) } catch { failure = error }
        var parser = HTTPAnswerParser()
        var parts: [HTTPAnswerParser.Part] = []
        var wait = AnswerWait(timeout: timeout, longest: longest)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while parts.isEmpty {
            do throws(APIError) {
                switch try socket.read(into: &buffer, timeout: wait.left(isAlive)) {
                case .bytes(let count): parts = try parser.receive(buffer[..<count])
                case .ended: parts = try parser.finish()
                case .nothing: try wait.check(socket)
                }
            } catch {
                throw failure ?? error
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

/// How long the head of an answer is waited for.
private struct AnswerWait {
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private let timeout: Duration
    private let longest: Duration
    /// Whether a sign of life was asked for, or none is of use.
    private var isAsked: Bool
    private var isAlive = false

    init(timeout: Duration, longest: Duration) {
        start = clock.now
        self.timeout = timeout
        self.longest = longest
        isAsked = longest <= timeout
    }

    /// The time until something must be done about the silence; asks for a sign of life after half of it.
    mutating func left(_ ask: (Duration) -> Bool) -> Duration {
        let passed = clock.now - start
        guard !isAsked else { return max(.zero, limit - passed) }
        guard passed >= timeout / 2 else { return timeout / 2 - passed }
        isAsked = true
        isAlive = ask(max(.milliseconds(1), timeout - passed))
        return max(.zero, limit - (clock.now - start))
    }

    /// Throws when the time has passed.
    func check(_ socket: UnixSocket) throws(APIError) {
        guard isAsked, clock.now - start >= limit else { return }
        guard isAlive else { throw UnixSocket.silence(socket.path, for: timeout) }
        throw APIError(
            .timedOut, "the daemon is running, but did not answer this request within \(longest.text)")
    }

    private var limit: Duration { isAlive ? longest : timeout }
}

/// Bound to its socket, which belongs to one reader.
@available(*, unavailable) extension AnswerStream: Sendable {}
