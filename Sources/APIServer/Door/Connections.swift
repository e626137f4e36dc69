import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
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

/// How many connections of each kind a door holds at once.
package struct ConnectionLimits: Hashable, Sendable {
    /// Connections whose next request is awaited, read or answered.
    package var requests = 256
    /// Connections whose answer is a stream, such as one that follows events.
    package var streams = 2048
    /// Connections that are refused, and are closed within a second.
    package var refusals = 64

    /// The usual limits.
    package init() {}

    /// As many as fit into `descriptors`, at most the usual ones.
    package init(within descriptors: Int) {
        requests = max(16, min(requests, descriptors / 2))
        refusals = min(refusals, requests / 4)
        streams = max(8, min(streams, descriptors - requests - refusals))
    }

    var all: Int { requests + streams + refusals }
}

/// How long a door waits for the other side.
package struct ConnectionPatience: Hashable, Sendable {
    /// For the whole head of a request, from the start of the connection or the end of the answer before.
    package var head: Duration = .seconds(10)
    /// For the rest of a request.
    package var body: Duration = .seconds(30)
    /// For a whole answer to be read; a stream may be read as slowly as its reader likes.
    package var answer: Duration = .seconds(60)
    /// For the end of a connection that is refused: who still writes a request then reads the refusal.
    package var refusal: Duration = .seconds(1)

    /// The usual times.
    package init() {}
}

/// A connection of a door: served over HTTP/1.1, or refused where there are too many.
struct CountedConnection: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let http: HTTP1Channel
    let count: ConnectionCount
    let patience: Duration
    /// The whole answer to a connection that is one too many.
    let refusal: [UInt8]
    /// What encrypts it; nil: nothing does.
    let tls: NIOSSLContext?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let place = count.open(channel)
        channel.closeFuture.whenComplete { [count] _ in count.close(place, channel) }
        do {
            // Before TLS: a client that was killed ends its input without a message of any protocol.
            try channel.pipeline.syncOperations.addHandler(InputEnd(of: channel))
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        if let tls {
            do {
                try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
        if place != .request {
            let handler = RefusingHandler(refusal, patience: place == .refusal ? patience : .zero)
            do {
                try channel.pipeline.syncOperations.addHandler(handler)
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
        return http.setup(channel: channel, logger: logger).map { [count] value in
            count.setUp()
            return value
        }
    }

    /// Serves the connection on the thread of its event loop: from the bytes of a request to those of the answer
    /// nobody else is woken, unless the answer needs it.
    func handle(value: Value, logger: Logger) async {
        count.serve()
        await withTaskExecutorPreference(LoopExecutor(value.channel.eventLoop)) {
            await http.handle(value: value, logger: logger)
        }
    }
}

/// Runs tasks on the thread of an event loop, as long as the loop runs.
private final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Notices that the other side has closed its half, though the connection is still open.
///
/// A client that is killed closes its half; whether it still reads shows over TCP only when something is written to it.
final class InputEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let end: EventLoopPromise<Void>

    init(of channel: any Channel) {
        end = channel.eventLoop.makePromise()
    }

    /// Completes when the other side of `channel` has sent its last byte, or the connection has ended.
    static func future(of channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.flatSubmit {
            let handler = try? channel.pipeline.syncOperations.handler(type: InputEnd.self)
            // It is removed from the pipeline when the connection ends.
            return handler?.end.futureResult ?? channel.eventLoop.makeSucceededVoidFuture()
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { end.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func handlerRemoved(context: ChannelHandlerContext) { end.succeed() }
}

/// Answers a connection at its start, whatever it is about to ask, and closes it.
///
/// It stays open until something was asked, or `patience` has passed: who writes to a connection that is closed already
/// may never read the answer.
private final class RefusingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: [UInt8]
    private let patience: Duration

    init(_ answer: [UInt8], patience: Duration) {
        self.answer = answer
        self.patience = patience
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer)), promise: nil)
        context.fireChannelActive()
        guard patience > .zero else { return context.close(promise: nil) }
        context.channel.close(after: patience)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.close(promise: nil)
    }
}

extension Channel {
    /// Closes the connection after `patience`, unless what is returned is cancelled before.
    @discardableResult
    func close(after patience: Duration) -> Scheduled<Void> {
        eventLoop.scheduleTask(in: TimeAmount(patience)) { self.close(promise: nil) }
    }
}

/// Closes connections whose clients are too slow.
///
/// All deadlines share one timer of the event loop, which is set again only for an earlier one: a request that is
/// answered in time wakes nobody for its deadlines.
final class Deadlines: Sendable {
    /// A deadline under way.
    struct Ticket: Sendable {
        fileprivate let number: UInt64
        fileprivate let owner: Deadlines

        /// It was met.
        func cancel() { owner.state.withLock { _ = $0.waiting.removeValue(forKey: number) } }
    }

    private struct State {
        var waiting: [UInt64: (due: NIODeadline, channel: any Channel)] = [:]
        var last: UInt64 = 0
        /// When the timer goes off; nil: there is none.
        var timer: NIODeadline?
    }

    private let state = Mutex(State())

    /// Closes `channel` after `patience`, unless the ticket is cancelled before.
    func close(_ channel: any Channel, after patience: Duration) -> Ticket {
        let due = NIODeadline.now() + TimeAmount(patience)
        let (number, isFirst) = state.withLock { state in
            state.last += 1
            state.waiting[state.last] = (due, channel)
            let isFirst = state.timer.map { due < $0 } ?? true
            if isFirst { state.timer = due }
            return (state.last, isFirst)
        }
        if isFirst { arm(channel.eventLoop, at: due) }
        return Ticket(number: number, owner: self)
    }

    private func arm(_ loop: any EventLoop, at due: NIODeadline) {
        loop.scheduleTask(deadline: due) { self.check(on: loop, at: due) }
    }

    /// Closes what is due, and continues with the next deadline, if there is one.
    private func check(on loop: any EventLoop, at due: NIODeadline) {
        let now = NIODeadline.now()
        let (late, next) = state.withLock { state -> ([any Channel], NIODeadline?) in
            // An earlier timer has taken over.
            guard state.timer == due else { return ([], nil) }
            let late = state.waiting.filter { $0.value.due <= now }
            for number in late.keys { state.waiting[number] = nil }
            state.timer = state.waiting.values.map(\.due).min()
            return (late.values.map(\.channel), state.timer)
        }
        for channel in late { channel.close(promise: nil) }
        if let next { arm(loop, at: next) }
    }
}
