import APIClient
import APIServer
import Host
import Logging
import ServiceLifecycle
import TestSupport

/// Runs `services` until `body` is done, and stops them.
func whileServing<Result: Sendable>(
    _ services: [any Service], ready: AsyncStream<Int>,
    _ body: @escaping @Sendable (Int) async throws -> Result
) async throws -> Result {
    let group = ServiceGroup(services: services, logger: Logger(label: "api"))
    return try await withThrowingTaskGroup(of: Result?.self) { tasks in
        tasks.addTask {
            try await group.run()
            return nil
        }
        var readiness = ready.makeAsyncIterator()
        guard let port = await readiness.next() else { throw CancellationError() }
        do {
            let result = try await body(port)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return result
        } catch {
            await group.triggerGracefulShutdown()
            throw error
        }
    }
}

/// Serves the API by `handler` on a fresh socket while `body` runs.
func whileServing<Result: Sendable>(
    _ handler: some APIHandler, limits: ConnectionLimits = ConnectionLimits(),
    waits: ConnectionPatience = ConnectionPatience(),
    _ body: @escaping @Sendable (DaemonClient) async throws -> Result
) async throws -> Result {
    let folder = try TemporaryFolder()
    let path = folder.file("belfry.sock")
    let (ready, opened) = AsyncStream.makeStream(of: Int.self)
    let listener = APIListener(
        path: path, access: .owner, limits: limits, waits: waits, handler: handler,
        logger: Logger(label: "api"),
        ready: { opened.yield(0) })
    return try await whileServing([listener], ready: ready) { _ in
        // A busy machine may need longer than the patience of a person at a terminal.
        try await body(DaemonClient(socket: path, timeout: .seconds(60), longest: .seconds(120)))
    }
}

/// Carries what belongs to one reader from the thread that read it to the next one.
struct Held<Value>: @unchecked Sendable {
    // SAFE: the threads use it one after the other; the test awaits each before it starts the next.
    let value: Value

    init(_ value: Value) { self.value = value }
}
