import NIOCore
import Synchronization

/// Counts the connections of a door, streams apart from the rest.
///
/// A connection is counted as one of a request from its start to its end, except while a stream is written to it.
final class ConnectionCount: Sendable {
    enum Place: Hashable, Sendable {
        /// It is served.
        case request
        /// There are too many: it is refused.
        case refusal
        /// There are too many that are refused, too: it is closed at once.
        case none
    }

    private struct State {
        var requests = 0
        var streams = 0
        var refusals = 0
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// Connections that are set up, and that no task serves yet.
        var unserved = 0
        /// Finished when there are none of these.
        var waiting: AsyncStream<Never>.Continuation?
    }

    private let limits: ConnectionLimits
    private let state = Mutex(State())

    init(_ limits: ConnectionLimits) {
        self.limits = limits
    }

    /// Counts a new connection.
    func open(_ channel: any Channel) -> Place {
        state.withLock { state in
            state.channels[ObjectIdentifier(channel)] = channel
            if state.requests < limits.requests {
                state.requests += 1
                return .request
            }
            guard state.refusals < limits.refusals else { return .none }
            state.refusals += 1
            return .refusal
        }
    }

    /// Counts the end of a connection.
    func close(_ place: Place, _ channel: any Channel) {
        state.withLock { state in
            state.channels[ObjectIdentifier(channel)] = nil
            switch place {
            case .request: state.requests -= 1
            case .refusal: state.refusals -= 1
            case .none: break
            }
        }
    }

    /// Closes every connection.
    func closeAll() {
        let channels = state.withLock { Array($0.channels.values) }
        for channel in channels { channel.close(promise: nil) }
    }

    /// A connection waits for a task that serves it.
    func setUp() {
        state.withLock { $0.unserved += 1 }
    }

    /// A task serves a connection that waited for it.
    func serve() {
        state.withLock { state in
            state.unserved -= 1
            if state.unserved == 0 { state.waiting?.finish() }
        }
    }

    /// Waits until every connection has its task.
    func allAreServed() async {
        let (end, ending) = AsyncStream.makeStream(of: Never.self)
        state.withLock { state in
            if state.unserved == 0 { ending.finish() } else { state.waiting = ending }
        }
        for await _ in end {}
    }

    /// Counts a connection as a stream until ``StreamPlace/end()``; nil: there are too many.
    func beginStream() -> StreamPlace? {
        state.withLock { state in
            guard state.streams < limits.streams else { return nil }
            state.streams += 1
            state.requests -= 1
            return StreamPlace(in: self)
        }
    }

    /// Counts a connection as one of a request again.
    fileprivate func endStream() {
        state.withLock { state in
            state.streams -= 1
            state.requests += 1
        }
    }
}

/// The place of one stream in the count of its door.
final class StreamPlace: Sendable {
    private let count: ConnectionCount
    private let isTaken = Mutex(true)

    fileprivate init(in count: ConnectionCount) {
        self.count = count
    }

    /// Gives the place back, once: at the end of the stream or of its connection.
    func end() {
        let isFirst = isTaken.withLock { isTaken in
            defer { isTaken = false }
            return isTaken
        }
        if isFirst { count.endStream() }
    }
}
