package import API
import Glibc
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

/// A connected stream socket in the file system, closed when it is dropped.
package final class UnixSocket {
    private let descriptor: Int32
    let path: String

    /// How waiting for bytes ended.
    package enum Arrival: Hashable, Sendable {
        /// This many bytes are in the buffer.
        case bytes(Int)
        /// The other side ended its half.
        case ended
        /// Nothing came in time, or a signal came.
        case nothing
    }

    /// Connects to the socket at `path`, which takes at most `timeout`, as does each later write (nil: for ever).
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/noDaemon`` when nobody listens there, or it is not for us; with
    ///   ``ErrorCode/noAnswer`` when somebody listens who does not accept connections.
    package init(path: String, timeout: Duration? = nil) throws(APIError) {
        self.path = path
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard !bytes.isEmpty, bytes.count < room, !bytes.contains(0) else {
            throw APIError(
                .noDaemon, "the path of a socket has 1 to \(room - 1) bytes, \"\(path)\" has \(bytes.count)",
                hint: "Choose a shorter one with --socket or BELFRY_SOCKET.")
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
            unsafe field.copyBytes(from: bytes)
        }
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Self.refusal(errno, path) }
        if let timeout {
            var time = timeval()
            time.tv_sec = Int(timeout.milliseconds / 1000)
            time.tv_usec = Int(timeout.milliseconds % 1000 * 1000)
            let size = socklen_t(MemoryLayout<timeval>.size)
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
        }
        let failure = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                let length = socklen_t(MemoryLayout<sockaddr_un>.size)
                return unsafe connect(descriptor, pointer, length) == 0 ? 0 : errno
            }
        }
        // The descriptor is closed by `deinit`, which also runs after this.
        guard failure == 0 else { throw Self.refusal(failure, path) }
    }

    deinit {
        close(descriptor)
    }

    /// Writes all of `bytes`; a reader that closed its end is an error, never a signal.
    package func write(_ bytes: [UInt8]) throws(APIError) {
        var start = 0
        while start < bytes.count {
            let written = unsafe bytes.withUnsafeBytes { buffer in
                unsafe send(
                    descriptor, buffer.baseAddress?.advanced(by: start), buffer.count - start,
                    Int32(MSG_NOSIGNAL))
            }
            guard written < 0 else {
                start += written
                continue
            }
            guard errno == EINTR else { throw errno == EAGAIN ? Self.silence(path) : lost() }
        }
    }

    /// What is said of a daemon that listens, and then does nothing.
    static func silence(_ path: String, for timeout: Duration? = nil) -> APIError {
        let time = timeout.map { " within \($0.text)" } ?? ""
        return APIError(
            .noAnswer, "the daemon on \(path) did not answer\(time)",
            hint: "It may be stopped or overloaded. See: belfry doctor")
    }

    /// Waits up to `timeout` (nil: for ever) for bytes and puts them at the front of `buffer`.
    ///
    /// Waits no longer than until `other`, where one is given, can be read.
    package func read(
        into buffer: inout [UInt8], timeout: Duration?, or other: Int32? = nil
    ) throws(APIError) -> Arrival {
        let event = Int16(POLLIN)
        // The kernel passes over a negative number.
        var waiting = [
            pollfd(fd: descriptor, events: event, revents: 0),
            pollfd(fd: other ?? -1, events: event, revents: 0),
        ]
        let milliseconds = timeout.map { Int32(clamping: max(0, $0.milliseconds)) } ?? -1
        let ready = unsafe poll(&waiting, 2, milliseconds)
        if ready > 0, waiting[0].revents == 0 { return .nothing }
        guard ready > 0 else {
            guard ready == 0 || errno == EINTR else { throw lost() }
            return .nothing
        }
        let count = unsafe buffer.withUnsafeMutableBytes { buffer in
            unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
        }
        if count > 0 { return .bytes(count) }
        if count == 0 { return .ended }
        guard errno == EINTR || errno == EAGAIN else { throw lost() }
        return .nothing
    }

    private func lost() -> APIError {
        APIError(.connectionLost, "the connection to \(path) broke (\(Self.text(of: errno)))")
    }

    private static func refusal(_ code: Int32, _ path: String) -> APIError {
        switch code {
        case ENOENT, ECONNREFUSED, ENOTDIR:
            APIError(.noDaemon, "no daemon answers on \(path)", hint: start(path))
        case EAGAIN:
            silence(path)
        case EACCES, EPERM:
            APIError(
                .noDaemon, "the daemon's socket \(path) is not open to you",
                hint: "A system daemon's is open to the group belfry.")
        default:
            APIError(
                .noDaemon, "no daemon answers on \(path) (\(text(of: code)))", hint: start(path))
        }
    }

    /// The hint where no daemon answers; the machine's daemon belongs to the service manager.
    private static func start(_ path: String) -> String {
        path == "/run/belfry/belfry.sock"
            ? "Start it with: systemctl start belfryd, or without systemd: belfryd --system"
            : "Start one with: belfryd"
    }

    private static func text(of code: Int32) -> String {
        unsafe String(cString: strerror(code))
    }
}

/// A descriptor belongs to the one who reads and writes it.
@available(*, unavailable) extension UnixSocket: Sendable {}
