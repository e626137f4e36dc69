import API
import FoundationEssentials
import Host
import HummingbirdCore
package import Logging
import NIOCore
import ServiceLifecycle

/// Serves the API on the control socket.
///
/// A socket file that is left over is replaced: hold a `SocketClaim` on the path while this runs. Keep the
/// process's umask at 077 until it runs, so that nobody connects before the socket's mode is set.
package struct APIListener: Service {
    /// Who may connect.
    package enum Access: Hashable, Sendable {
        /// The daemon's user, mode 0600.
        case owner
        /// The daemon's user and a group, mode 0660.
        case group(UInt32)
    }

    /// The largest body of a request.
    ///
    /// A file of 5 MiB in base64 fits.
    package static let bodyLimit = 8 * 1024 * 1024

    private let path: String
    private let access: Access
    private let limits: ConnectionLimits
    private let waits: ConnectionPatience
    private let count: ConnectionCount
    private let handler: any APIHandler
    private let logger: Logger
    private let ready: @Sendable () async -> Void

    /// A listener on `path` that answers by `handler`.
    ///
    /// - Parameters:
    ///   - path: The socket's file; its folder exists.
    ///   - access: Who may connect.
    ///   - limits: The most connections at once; more are refused.
    ///   - waits: How long clients are waited for.
    ///   - handler: Answers.
    ///   - logger: Logs what connections do, at trace, and what goes wrong.
    ///   - ready: Called once, when requests are taken.
    package init(
        path: String, access: Access, limits: ConnectionLimits = ConnectionLimits(),
        waits: ConnectionPatience = ConnectionPatience(), handler: any APIHandler, logger: Logger,
        ready: @escaping @Sendable () async -> Void = {}
    ) {
        self.path = path
        self.access = access
        self.limits = limits
        self.waits = waits
        count = ConnectionCount(limits)
        self.handler = handler
        self.logger = logger
        self.ready = ready
    }

    /// Serves until the service is asked to stop; then answers end within a second and the file is removed,
    /// unless it is another's meanwhile.
    ///
    /// - Throws: ``APIServerError`` when the socket can't be opened.
    package func run() async throws {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let server = RequestServer(count: count, waits: waits) { [handler] head throws(APIError) in
            try Self.admit(head, to: handler)
        }
        let (files, file) = AsyncStream.makeStream(of: FileIdentity.self)
        let door = HTTPDoor(
            address: .unixDomainSocket(path: path), limits: limits, count: count, waits: waits,
            refusal: (try? WireCoding.encode(RequestServer.tooBusy)) ?? [], logger: quiet,
            opened: { _ in
                try admit()
                if let made = try? FileIdentity(at: path) { file.yield(made) }
                await ready()
            },
            respond: { request, writer, channel in try await server.answer(request, writer, channel) })
        do {
            try await door.run()
        } catch let error as APIServerError {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw APIServerError.listening(on: path, error)
        }
        file.finish()
        for await made in files { made.remove(path) }
    }

    private func admit() throws(APIServerError) {
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        if case .group(let group) = access {
            attributes = [.posixPermissions: 0o660, .groupOwnerAccountID: Int(group)]
        }
        do {
            try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
        } catch {
            throw .access(path: path, detail: "\(error)")
        }
    }

    /// A request of an endpoint is let in, whoever sends it: the file's mode decides who may connect.
    private static func admit(
        _ head: RequestHead, to handler: any APIHandler
    ) throws(APIError) -> Admission {
        let match = try handler.router.match(method: head.method, path: head.path[...])
        return Admission(bodyLimit: bodyLimit) { body in
            await handler.respond(
                to: APIRequest(
                    row: match.row, path: match.path, query: head.query, body: body,
                    lastEventID: head["last-event-id"]))
        }
    }
}

/// Why the door could not be opened.
package enum APIServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The address could not be listened on.
    case listen(address: String, detail: String)
    /// The socket's mode or group could not be set.
    case access(path: String, detail: String)
    /// The certificate or its key can't be used.
    case certificate(path: String)

    /// One sentence for people.
    package var description: String {
        switch self {
        case .listen(let address, let detail): "can't listen on \(address) (\(detail))"
        case .certificate(let path): "\(path) holds no certificate, or no key, that can be used"
        case .access(let path, let detail): "can't set who may use \(path) (\(detail))"
        }
    }
}

extension APIServerError {
    /// Why the address can't be had, in the system's words where it is the system that refused.
    static func listening(on address: String, _ error: any Error) -> APIServerError {
        let code = (error as? IOError)?.errnoCode
        return .listen(address: address, detail: code.map(errorText) ?? "\(error)")
    }
}
