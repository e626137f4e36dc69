import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

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
                http: http, count: count, patience: waits.refusal, refusal: refusalAnswer),
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

    @concurrent
    mutating func write(_ bytes: [UInt8]) async throws {
        guard !bytes.isEmpty else { return }
        try await writer.write(ByteBuffer(bytes: bytes))
    }
}
