import API
import FoundationEssentials
import HTTPTypes
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
    private let deadlines = Deadlines()
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
        let (files, file) = AsyncStream.makeStream(of: FileIdentity.self)
        let door = HTTPDoor(
            address: .unixDomainSocket(path: path), limits: limits, count: count, waits: waits,
            refusal: (try? WireCoding.encode(Self.tooBusy)) ?? [], logger: quiet,
            opened: { _ in
                try admit()
                if let made = try? FileIdentity(at: path) { file.yield(made) }
                await ready()
            },
            respond: { request, writer, channel in try await answer(request, writer, channel) })
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

    /// What a connection is refused with when there are too many.
    private static let tooBusy = APIError(
        .tooBusy, hint: "Try again in a moment, or end programs that hold connections to it.")

    @concurrent
    private func answer(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        var response: APIResponse
        do throws(APIError) {
            let deadline = deadlines.close(channel, after: waits.body)
            defer { deadline.cancel() }
            let request = try await read(request)
            deadline.cancel()
            response = await handler.respond(to: request)
        } catch {
            response = .failure(error)
        }
        guard case .stream = response else { return try await write(response, writer, on: channel) }
        guard let place = count.beginStream() else {
            return try await write(.failure(Self.tooBusy), writer, on: channel)
        }
        defer { place.end() }
        // A stream with nothing to write would not notice that nobody reads it.
        let (closed, closing) = AsyncStream.makeStream(of: Never.self)
        channel.closeFuture.whenComplete { _ in
            place.end()
            closing.finish()
        }
        try await write(response, writer, closed: closed)
    }

    /// Writes a whole answer, which is read in time or not at all.
    @concurrent
    private func write(
        _ response: APIResponse, _ writer: consuming ResponseWriter, on channel: any Channel
    ) async throws {
        let deadline = deadlines.close(channel, after: waits.answer)
        defer { deadline.cancel() }
        try await write(response, writer)
    }

    @concurrent
    private func read(_ request: Request) async throws(APIError) -> APIRequest {
        let parts = (request.head.path ?? "").split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let match = try handler.router.match(method: request.method.rawValue, path: parts.first ?? "")
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: Self.bodyLimit)
        } catch is NIOTooManyBytesError {
            throw APIError(.tooLarge, "the body is larger than \(Self.bodyLimit / 1024 / 1024) MiB")
        } catch {
            throw APIError(.badRequest, "the body did not arrive whole")
        }
        return APIRequest(
            row: match.row, path: match.path, query: Query(parts.count > 1 ? parts[1] : ""),
            body: Array(body.readableBytesView),
            lastEventID: Self.lastEventID.flatMap { request.headers[$0] })
    }

    private static let lastEventID = HTTPField.Name("last-event-id")

    @concurrent
    private func write(
        _ response: APIResponse, _ writer: consuming ResponseWriter,
        closed: AsyncStream<Never>? = nil
    ) async throws {
        switch response {
        case .whole(let status, let contentType, let bytes):
            try await writeWhole(status, contentType, bytes, writer)
        case .failure(let error):
            let bytes = (try? WireCoding.encode(error)) ?? []
            try await writeWhole(error.code.row.status, "application/json", bytes, writer)
        case .stream(let contentType, let extra, let write):
            var fields = HTTPFields()
            for (name, value) in extra {
                if let name = HTTPField.Name(name) { fields[name] = value }
            }
            fields[.contentType] = contentType
            fields[.cacheControl] = "no-store"
            let body = try await writer.writeHead(HTTPResponse(status: .ok, headerFields: fields))
            var sink: any BodyWriter = ConnectionWriter(
                writer: body, closed: closed ?? AsyncStream { $0.finish() })
            // It may read files and compute: other connections share the loop's thread.
            try await withTaskExecutorPreference(WorkerPool.current) { try await write(&sink) }
            try await body.finish(nil)
        }
    }

    @concurrent
    private func writeWhole(
        _ status: Int, _ contentType: String, _ bytes: [UInt8], _ writer: consuming ResponseWriter
    ) async throws {
        var fields = HTTPFields()
        if !contentType.isEmpty {
            fields[.contentType] = contentType
            fields[.contentLength] = String(bytes.count)
        }
        let head = HTTPResponse(status: .init(code: status), headerFields: fields)
        if bytes.isEmpty {
            try await writer.writeResponse(head)
        } else {
            try await writer.write(response: head, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        }
    }
}

/// Why the door could not be opened.
package enum APIServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The address could not be listened on.
    case listen(address: String, detail: String)
    /// The socket's mode or group could not be set.
    case access(path: String, detail: String)

    /// One sentence for people.
    package var description: String {
        switch self {
        case .listen(let address, let detail): "can't listen on \(address) (\(detail))"
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
