import API
import Delivery
import Engine
import FoundationEssentials
import Host
import HummingbirdCore
package import Logging
import NIOCore
import NIOSSL
import ServiceLifecycle
import Timeline

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

/// Serves the API over TCP, wherever the active configuration says; nowhere where it names no address.
package struct DoorListener: Service {
    /// An address that can't be had is tried again after this.
    private static let pause = Duration.seconds(10)

    private let door: Door
    private let active: ActiveConfiguration
    private let limits: ConnectionLimits
    private let waits: ConnectionPatience
    private let logger: Logger
    private let ready: @Sendable (Int) async -> Void

    /// A listener that follows the active configuration.
    ///
    /// - Parameters:
    ///   - door: Decides about each request.
    ///   - limits: The most connections at once; more are refused.
    ///   - waits: How long clients are waited for.
    ///   - logger: Logs where it listens, and what goes wrong.
    ///   - ready: Called with the port, whenever requests are taken on another address.
    package init(
        _ door: Door, limits: ConnectionLimits = ConnectionLimits(),
        waits: ConnectionPatience = ConnectionPatience(), logger: Logger,
        ready: @escaping @Sendable (Int) async -> Void = { _ in }
    ) {
        (self.door, active) = (door, door.control.activeConfiguration)
        (self.limits, self.waits, self.logger, self.ready) = (limits, waits, logger, ready)
    }

    /// Serves until the service is asked to stop.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            var last: DoorSetting?
            var serving: Task<Void, Never>?
            for await _ in active.taps() {
                let setting = active.configuration.listen
                guard setting != last else { continue }
                last = setting
                serving?.cancel()
                await serving?.value
                active.doorFault = nil
                serving = setting.map { setting in Task { await serve(setting) } }
            }
            serving?.cancel()
            await serving?.value
        }
    }

    /// Serves on an address until the task is cancelled: a daemon whose port is taken still runs its jobs, and has the
    /// port once it is free.
    private func serve(_ setting: DoorSetting) async {
        var logged: String?
        while !Task.isCancelled {
            do {
                try await listen(on: setting)
                return
            } catch {
                guard !Task.isCancelled else { return }
                if logged != "\(error)" {
                    logger.error(
                        "the API is not served over TCP",
                        metadata: ["address": "\(setting.shown)", "reason": "\(error)"])
                }
                logged = "\(error)"
                active.doorFault = logged
            }
            do {
                try await door.control.clock.sleep(until: door.control.clock.now + Self.pause)
            } catch {
                return
            }
        }
    }

    private func listen(on setting: DoorSetting) async throws {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let count = ConnectionCount(limits)
        let server = RequestServer(count: count, waits: waits, cutsRefused: true) {
            [door] head throws(APIError) in try await door.admit(head)
        }
        let http = HTTPDoor(
            address: .hostname(setting.host, port: setting.port), limits: limits, count: count, waits: waits,
            refusal: (try? WireCoding.encode(RequestServer.tooBusy)) ?? [],
            tls: try setting.tls.map(Self.context), logger: quiet,
            opened: { channel in
                let port = channel.localAddress?.port ?? setting.port
                logger.notice(
                    "serving the API over TCP", metadata: ["address": "\(setting.shown)", "port": "\(port)"])
                active.doorFault = nil
                await ready(port)
            },
            respond: { request, writer, channel in try await server.answer(request, writer, channel) })
        do {
            try await http.run()
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw APIServerError.listening(on: setting.shown, error)
        }
    }

    /// Read whenever the door is opened: a renewed certificate is used from the next start on.
    private static func context(_ files: DoorSetting.TLS) throws(APIServerError) -> NIOSSLContext {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
            guard !chain.isEmpty else { throw APIServerError.certificate(path: files.certificate) }
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: files.key, format: .pem)))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            return try NIOSSLContext(configuration: configuration)
        } catch let error as APIServerError {
            throw error
        } catch {
            throw .certificate(path: "\(files.certificate) or \(files.key)")
        }
    }
}
