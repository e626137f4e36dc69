package import API

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
