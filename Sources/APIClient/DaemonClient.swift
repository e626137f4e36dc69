package import API

/// Speaks with the daemon behind one socket; every call is a connection of its own and blocks.
package struct DaemonClient: Sendable {
    /// The daemon's control socket.
    package let socket: String
    /// How long to wait for a sign of life.
    private let timeout: Duration
    /// How long to wait for an answer's head while the daemon shows signs of life, and for silence within a body.
    private let longest: Duration

    /// The most bytes of an answer that is read as one value.
    package static let answerLimit = 256 * 1024 * 1024

    /// A client for the socket at `socket`; connects when something is asked.
    ///
    /// - Parameters:
    ///   - socket: The daemon's control socket.
    ///   - timeout: After this time without a sign of life the daemon counts as dead.
    ///   - longest: So long it may work on one answer; a reload waits for jobs, a test for a receiver.
    package init(
        socket: String, timeout: Duration = .seconds(5), longest: Duration = .seconds(30)
    ) {
        self.socket = socket
        self.timeout = timeout
        self.longest = longest
    }

    /// A client for the first of `sockets` that somebody answers on.
    ///
    /// - Parameters:
    ///   - sockets: The control sockets, in the order in which they are tried.
    ///   - timeout: After this time without a sign of life the daemon counts as dead.
    /// - Returns: A client for that socket.
    /// - Throws: What the first one said, with ``ErrorCode/noDaemon``, when nobody answers on any.
    package static func first(of sockets: [String], timeout: Duration) throws(APIError) -> DaemonClient {
        var failure: APIError?
        for path in sockets {
            do {
                _ = try UnixSocket(path: path, timeout: timeout)
                return DaemonClient(socket: path, timeout: timeout, longest: max(.seconds(30), timeout))
            } catch {
                failure = failure ?? error
            }
        }
        throw failure ?? APIError(.noDaemon)
    }

    /// Asks for a value.
    ///
    /// - Throws: The daemon's own ``APIError``, or one of the client's.
    package func ask<Answer: Decodable>(_ call: Call<Answer>) throws(APIError) -> Answer {
        try read(Answer.self, try bytes(call))
    }

    /// Sends a request whose answer has no body.
    package func ask(_ call: Call<Nothing>) throws(APIError) {
        _ = try bytes(call)
    }

    /// The bytes of an answer, as they are.
    package func bytes<Answer>(_ call: Call<Answer>) throws(APIError) -> [UInt8] {
        let stream = try open(call)
        return try stream.body(limit: Self.answerLimit, timeout: longest)
    }

    /// An answer to be read as it arrives.
    ///
    /// - Throws: The daemon's error when its status is not 2xx.
    package func open<Answer>(
        _ call: Call<Answer>, fields: [(name: String, value: String)] = []
    ) throws(APIError) -> AnswerStream {
        var body: [UInt8]?
        if let value = call.body { body = try WireCoding.encode(value) }
        var head =
            "\(call.row.method.rawValue) \(call.target) HTTP/1.1\r\nhost: belfry\r\nconnection: close\r\n"
        if let body { head += "content-type: application/json\r\ncontent-length: \(body.count)\r\n" }
        for field in fields { head += "\(field.name): \(field.value)\r\n" }
        let stream = try AnswerStream(
            Array((head + "\r\n").utf8) + (body ?? []),
            over: try UnixSocket(path: socket, timeout: timeout), timeout: timeout, longest: longest,
            isAlive: isAlive)
        guard (200...299).contains(stream.head.status) else { throw refusal(stream) }
        return stream
    }

    /// Whether the daemon answers anything at all within `timeout`.
    private func isAlive(within timeout: Duration) -> Bool {
        let client = DaemonClient(socket: socket, timeout: timeout, longest: timeout)
        return (try? client.bytes(Endpoints.health())) != nil
    }

    private func refusal(_ stream: AnswerStream) -> APIError {
        do throws(APIError) {
            let body = try stream.body(limit: 1024 * 1024, timeout: longest)
            return try WireCoding.decode(APIError.self, from: body)
        } catch {
            return APIError(.notBelfry, "the daemon answered with status \(stream.head.status) and no reason")
        }
    }

    private func read<Answer: Decodable>(
        _ type: Answer.Type, _ bytes: [UInt8]
    ) throws(APIError) -> Answer {
        do {
            return try WireCoding.decode(type, from: bytes)
        } catch {
            throw APIError(.notBelfry, "the daemon's answer is not understood: \(error.message)")
        }
    }
}

/// The daemon's events as they come, taken up again after a break where they were left.
package final class EventFeed {
    private let client: DaemonClient
    private let query: EventsQuery
    private let silence: Duration
    private var stream: AnswerStream?
    private var parser = ServerSentEventParser()
    private var waiting: [ServerSentEvent] = []
    private var lastEventID: String?
    private let clock = ContinuousClock()
    private var lastSign: ContinuousClock.Instant

    /// What came next.
    package enum Arrival: Hashable, Sendable {
        /// An event.
        case event(ServerSentEvent)
        /// Nothing came in time, a signal came, or what else was waited for.
        case nothing
        /// The daemon closed the connection; call again to reconnect.
        case broken
    }

    /// Opens the feed.
    ///
    /// - Parameters:
    ///   - client: Whom to ask.
    ///   - query: Where to begin, and whether live states are wanted.
    ///   - silence: A daemon that sends not even a heartbeat for so long counts as lost.
    /// - Throws: What the daemon or the client has against it.
    package init(
        of client: DaemonClient, query: EventsQuery, silence: Duration = .seconds(45)
    ) throws(APIError) {
        self.client = client
        self.query = query
        self.silence = silence
        lastSign = clock.now
        try connect()
    }

    /// The number after which the feed would be taken up again.
    package var position: String? { lastEventID }

    /// The next event, waiting up to `timeout` for it, and no longer than until `other`, where one is given, can
    /// be read.
    ///
    /// - Throws: Only what waiting does not fix; a daemon that closed the connection is ``Arrival/broken``.
    package func next(timeout: Duration, or other: Int32? = nil) throws(APIError) -> Arrival {
        if !waiting.isEmpty { return .event(waiting.removeFirst()) }
        guard let stream else {
            do throws(APIError) {
                try connect()
                return .nothing
            } catch {
                guard
                    error.code.row.exitCode == 3 || error.code == .timedOut || error.code == .tooBusy
                else { throw error }
                return .broken
            }
        }
        do throws(APIError) {
            switch try stream.next(timeout: timeout, or: other) {
            case .bytes(let bytes):
                lastSign = clock.now
                waiting = try parser.receive(bytes)
                lastEventID = parser.lastEventID ?? lastEventID
                return waiting.isEmpty ? .nothing : .event(waiting.removeFirst())
            case .ended: return breakOff()
            case .nothing: return clock.now - lastSign > silence ? breakOff() : .nothing
            }
        } catch {
            guard error.code == .connectionLost else { throw error }
            return breakOff()
        }
    }

    private func breakOff() -> Arrival {
        stream = nil
        return .broken
    }

    private func connect() throws(APIError) {
        let fields = lastEventID.map { [(name: "last-event-id", value: $0)] } ?? []
        let stream = try client.open(Endpoints.events(query: query), fields: fields)
        guard stream.head["content-type"]?.hasPrefix("text/event-stream") == true else {
            throw APIError(.notBelfry)
        }
        self.stream = stream
        parser = ServerSentEventParser()
        lastSign = clock.now
    }
}

/// Bound to its connection, which belongs to one reader.
@available(*, unavailable) extension EventFeed: Sendable {}
