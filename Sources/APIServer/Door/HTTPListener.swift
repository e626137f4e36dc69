import HTTPTypes
import HummingbirdCore
package import Logging
import NIOCore
import ServiceLifecycle

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

    /// The largest body; a longer one is answered with 413.
    package static let bodyLimit = 4 * 1024 * 1024

    private let port: Int
    private let logger: Logger
    private let ready: @Sendable (Int) async -> Void
    private let receive: @Sendable (Received) async -> Int

    /// A listener on 127.0.0.1.
    ///
    /// - Parameters:
    ///   - port: 0 takes any free one.
    ///   - logger: Logs what goes wrong.
    ///   - ready: Called once with the port, when requests are taken.
    ///   - receive: Returns the status to answer with, 200...599.
    package init(
        port: Int, logger: Logger, ready: @escaping @Sendable (Int) async -> Void = { _ in },
        receive: @escaping @Sendable (Received) async -> Int
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
        let status: Int
        do {
            let body = try await request.body.collect(upTo: Self.bodyLimit)
            status = await receive(
                Received(
                    method: request.method.rawValue, target: request.head.path ?? "",
                    fields: request.headers.map { Field(name: $0.name.canonicalName, value: $0.value) },
                    body: Array(body.readableBytesView)))
        } catch is NIOTooManyBytesError {
            status = 413
        }
        var fields = HTTPFields()
        if status != 204 { fields[.contentLength] = "0" }
        try await writer.writeResponse(HTTPResponse(status: .init(code: status), headerFields: fields))
    }
}
