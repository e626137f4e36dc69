import HTTPTypes
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
package import Tracking

/// Takes requests on a loopback port and hands each to a closure; for trying out webhooks.
package struct HTTPListener: Service {
    /// A request as it arrived.
    package struct Received: Hashable, Sendable {
        /// `POST` and so on.
        package var method: String
        /// The path with its query.
        package var target: String
        /// The header fields, names in lower case, in order.
        package var fields: [Field]
        /// The body, whole.
        package var body: [UInt8]

        /// The first value of a field, by its name in lower case.
        package subscript(name: String) -> String? {
            fields.first { $0.name == name }?.value
        }
    }

    /// A header field.
    package struct Field: Hashable, Sendable {
        /// In lower case.
        package var name: String
        /// As it was sent.
        package var value: String
    }

    /// What a request is answered with.
    package struct Answer: Hashable, Sendable {
        /// 200...599.
        package var status: Int
        /// The type of the body; empty where there is none.
        package var contentType = ""
        /// The body.
        package var body: [UInt8] = []
        /// When to come back, in seconds.
        package var retryAfterSeconds: Int?

        /// A status and no body.
        package init(_ status: Int) { self.status = status }

        /// A text.
        package static func text(_ text: String, status: Int = 200) -> Answer {
            var answer = Answer(status)
            (answer.contentType, answer.body) = ("text/plain; charset=utf-8", Array(text.utf8))
            return answer
        }

        /// JSON.
        package static func json(_ json: JSON, status: Int = 200) -> Answer {
            var answer = Answer(status)
            (answer.contentType, answer.body) = ("application/json", json.bytes)
            return answer
        }
    }

    /// The largest body; a longer one is answered with 413.
    package static let bodyLimit = 4 * 1024 * 1024

    private let port: Int
    private let logger: Logger
    private let ready: @Sendable (Int) async -> Void
    private let receive: @Sendable (Received) async -> Answer

    /// A listener on 127.0.0.1.
    ///
    /// - Parameters:
    ///   - port: 0 takes any free one.
    ///   - logger: Logs what goes wrong.
    ///   - ready: Called once with the port, when requests are taken.
    ///   - receive: Returns the answer, whose body is left out where the request is a HEAD.
    package init(
        port: Int, logger: Logger, ready: @escaping @Sendable (Int) async -> Void = { _ in },
        receive: @escaping @Sendable (Received) async -> Answer
    ) {
        self.port = port
        self.logger = logger
        self.ready = ready
        self.receive = receive
    }

    /// Serves until the service is asked to stop.
    ///
    /// - Throws: ``APIServerError`` when the port can't be had.
    package func run() async throws {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let door = HTTPDoor(
            address: .hostname("127.0.0.1", port: port), count: ConnectionCount(ConnectionLimits()),
            logger: quiet,
            opened: { await ready($0.localAddress?.port ?? port) },
            respond: { request, writer, _ in try await answer(request, writer) })
        do {
            try await door.run()
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw APIServerError.listening(on: "127.0.0.1:\(port)", error)
        }
    }

    @concurrent
    private func answer(_ request: Request, _ writer: consuming ResponseWriter) async throws {
        var answer: Answer
        do {
            let body = try await request.body.collect(upTo: Self.bodyLimit)
            answer = await receive(
                Received(
                    method: request.method.rawValue, target: request.head.path ?? "",
                    fields: request.headers.map { Field(name: $0.name.canonicalName, value: $0.value) },
                    body: Array(body.readableBytesView)))
        } catch is NIOTooManyBytesError {
            answer = Answer(413)
        }
        var fields = HTTPFields()
        if answer.status != 204 { fields[.contentLength] = String(answer.body.count) }
        if !answer.contentType.isEmpty { fields[.contentType] = answer.contentType }
        if let seconds = answer.retryAfterSeconds { fields[.retryAfter] = String(seconds) }
        let head = HTTPResponse(status: .init(code: answer.status), headerFields: fields)
        if answer.body.isEmpty || request.method == .head || answer.status == 204 {
            try await writer.writeResponse(head)
        } else {
            try await writer.write(
                response: head, body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
        }
    }
}

/// An HTTP/1.1 server on one address, with one thread, that stops within a second.
struct HTTPDoor: Sendable {
    /// Where it listens.
    var address: BindAddress
    /// More connections than these are refused.
    var limits = ConnectionLimits()
    var count: ConnectionCount
    var waits = ConnectionPatience()
    /// The error that a connection is refused with, as JSON.
    var refusal: [UInt8] = []
    /// Answers still being written when the server stops are cut after this.
    var patience: Duration = .milliseconds(600)
    /// What encrypts connections; nil: nothing does.
    var tls: NIOSSLContext?
    var logger: Logger
    /// Called once somebody may connect; what it throws stops the server.
    var opened: @Sendable (any Channel) async throws -> Void
    var respond: HTTPChannelHandler.Responder

    /// Serves until the service is asked to stop, or the task is cancelled.
    func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            try await serve(on: group)
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        try await group.shutdownGracefully()
    }

    private func serve(on group: MultiThreadedEventLoopGroup) async throws {
        let (openings, opening) = AsyncStream.makeStream(of: (any Channel).self)
        let (stop, stopping) = AsyncStream.makeStream(of: Never.self)
        let server = Server(
            childChannelSetup: CountedConnection(
                http: http, count: count, patience: waits.refusal, refusal: refusalAnswer, tls: tls),
            configuration: ServerConfiguration(
                address: address,
                // Never reached, unless connections arrive in one burst: descriptors are left for the rest.
                availableConnectionsDelegate: MaximumAvailableConnections(limits.all, logger: logger)),
            onServerRunning: { opening.yield($0) }, eventLoopGroup: group, logger: logger)
        do {
            try await serve(server, openings, opening, stop, stopping)
        } catch {
            try? await server.shutdownGracefully()
            throw error
        }
        // On a busy machine the server's own answer to the stop may come later than this: when its loop has ended.
        try? await server.shutdownGracefully()
    }

    private func serve(
        _ server: Server<CountedConnection>, _ openings: AsyncStream<any Channel>,
        _ opening: AsyncStream<any Channel>.Continuation, _ stop: AsyncStream<Never>,
        _ stopping: AsyncStream<Never>.Continuation
    ) async throws {
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Bool.self) { tasks in
                tasks.addTask {
                    defer { opening.finish() }
                    try await server.run()
                    return true
                }
                tasks.addTask {
                    for await channel in openings { try await opened(channel) }
                    return false
                }
                tasks.addTask {
                    for await _ in stop {}
                    try await Task.sleep(for: patience)
                    // A connection that nobody has begun to serve must not be dropped, so that none comes from now on.
                    count.closeAll()
                    try? await server.shutdownGracefully()
                    await count.allAreServed()
                    return true
                }
                defer { tasks.cancelAll() }
                while let isOver = try await tasks.next(), !isOver {}
            }
        } onGracefulShutdown: {
            stopping.finish()
        }
    }
}

extension HTTPDoor {
    /// The protocol of a connection; one that does not send a head in time, first or next, is closed.
    private var http: HTTP1Channel {
        HTTP1Channel(
            responder: respond,
            configuration: .init(
                idleTimeout: TimeAmount(waits.head),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 16 * 1024, maxHeaderListSize: 64 * 1024, maxHeaderFieldCount: 100)))
    }

    /// What a connection is refused with.
    private var refusalAnswer: [UInt8] {
        let head =
            "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
            + "content-length: \(refusal.count)\r\nconnection: close\r\n\r\n"
        return Array(head.utf8) + refusal
    }
}

/// Writes parts of an answer to a connection.
struct ConnectionWriter: BodyWriter {
    var writer: any ResponseBodyWriter
    let closed: AsyncStream<Never>

    @concurrent
    mutating func write(_ bytes: [UInt8]) async throws {
        guard !bytes.isEmpty else { return }
        try await writer.write(ByteBuffer(bytes: bytes))
    }
}
