import API
import Delivery
import Engine
import HummingbirdCore
package import Logging
import NIOCore
import NIOSSL
import ServiceLifecycle
import Timeline

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
