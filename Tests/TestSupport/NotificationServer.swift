import Foundation

/// Our own notification server, a process of its own; see `Tests/Support/notification-server.py`.
package final class NotificationServer: Sendable {
    /// The process: SIGSTOP makes it hang, ``ChildProcess/end()`` makes it die.
    package let process: ChildProcess

    /// Starts a server on the bus at `address` and waits until it has the name.
    ///
    /// - Parameters:
    ///   - address: the bus.
    ///   - options: further words of its command line, as `--capabilities body`.
    /// - Returns: a server that answers; killed when let go.
    /// - Throws: ``NotStarted`` when it ends instead.
    package static func start(
        at address: String, _ options: [String]
    ) async throws -> NotificationServer {
        let process = try ChildProcess(
            PythonTools.interpreter(),
            [PythonTools.script("notification-server.py"), "--address", address] + options)
        guard await process.line(where: { $0 == "ready" }) != nil else {
            throw NotStarted(program: "notification-server.py")
        }
        return NotificationServer(process: process)
    }

    /// The same, with the options one by one.
    package static func start(at address: String, _ options: String...) async throws -> NotificationServer {
        try await start(at: address, options)
    }

    private init(process: ChildProcess) {
        self.process = process
    }

    /// The next call of `method` it gets; others before it are passed over.
    ///
    /// `nil` when it ends first.
    package func next(_ method: String = "Notify") async throws -> ServerCall? {
        while let line = await process.line(where: { $0.hasPrefix("{") }) {
            let call = try JSONDecoder().decode(ServerCall.self, from: Data(line.utf8))
            if call.method == method { return call }
        }
        return nil
    }

    /// Says that a notification was closed, with the specification's reason 1...4.
    package func close(_ id: UInt32, reason: Int) throws {
        try process.write("close \(id) \(reason)")
    }

    /// Presses a button.
    package func press(_ key: String, of id: UInt32) throws {
        try process.write("action \(id) \(key)")
    }

    /// Gives away what lets a window come to the front, before the button that is pressed next.
    package func activate(_ id: UInt32, token: String) throws {
        try process.write("token \(id) \(token)")
    }

    /// The titles and texts on its screen as `TITLE|TEXT`, the oldest first; of a server that is like another one.
    package func shown() async throws -> [String] {
        try process.write("shown")
        return try await next("shown")?.actions ?? []
    }

    /// Emits a signal of a job's view, as `cancelRequested`.
    package func signal(_ member: String, ofJob path: String) throws {
        try process.write("job \(path) \(member)")
    }

    /// Types a reply.
    package func reply(_ text: String, to id: UInt32) throws {
        try process.write("reply \(id) \(text)")
    }

    /// Keeps its answers to `Notify` back from now on, while it answers everything else.
    package func hold() async throws {
        try process.write("hold")
        _ = await process.line(where: { $0 == "ok" })
    }

    /// Gives the answers that it kept back, and keeps back no more.
    package func release() throws {
        try process.write("release")
    }

    /// Answers every `Notify` from now on with this error, or properly again with `nil`.
    package func refuse(_ error: String?) async throws {
        try process.write("refuse \(error ?? "-")")
        _ = await process.line(where: { $0 == "ok" })
    }
}
