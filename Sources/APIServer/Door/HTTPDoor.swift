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
    /// More connections wait in the backlog until others end.
    var connections: Int
    /// A connection that sends nothing for so long, and is owed nothing, is closed.
    var idleTimeout: Duration = .seconds(30)
    /// Answers still being written when the server stops are cut after this.
    var patience: Duration = .milliseconds(600)
    var logger: Logger
    /// Called once somebody may connect; what it throws stops the server.
    var opened: @Sendable (any Channel) async throws -> Void
    var respond: HTTPChannelHandler.Responder

    /// Serves until the service is told to stop, or the task is cancelled.
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
            childChannelSetup: HTTP1Channel(
                responder: respond,
                configuration: .init(
                    idleTimeout: .nanoseconds(idleTimeout.nanoseconds),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 16 * 1024, maxHeaderListSize: 64 * 1024,
                        maxHeaderFieldCount: 100))),
            configuration: ServerConfiguration(
                address: address,
                availableConnectionsDelegate: MaximumAvailableConnections(connections, logger: logger)),
            onServerRunning: { opening.yield($0) }, eventLoopGroup: group, logger: logger)
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

extension Duration {
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
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
