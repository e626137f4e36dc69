package import API
import HTTPTypes
import Host
import HummingbirdCore
import NIOCore

import struct Delivery.RequestBudget

/// A request whose endpoint is known.
package struct APIRequest: Sendable {
    /// The row of its endpoint.
    package var row: EndpointRow
    /// The values of the path's variable parts.
    package var path: [String]
    /// The part of the target after `?`.
    package var query: Query
    /// The body, whole.
    package var body: [UInt8]
    /// Where a reader of an event stream resumes.
    package var lastEventID: String?

    /// A request without a body unless one is given.
    package init(
        row: EndpointRow, path: [String] = [], query: Query = Query(), body: [UInt8] = [],
        lastEventID: String? = nil
    ) {
        self.row = row
        self.path = path
        self.query = query
        self.body = body
        self.lastEventID = lastEventID
    }
}

/// The values of a request to an endpoint.
package struct Arguments<Path: Sendable, Query: Sendable, Body: Sendable>: Sendable {
    /// The variable parts of the path.
    package let path: Path
    /// The query.
    package let query: Query
    /// The body.
    package let body: Body
    /// Where a reader of an event stream resumes.
    package let lastEventID: String?
}

extension Endpoint where Body: Decodable {
    /// The values of `request`.
    ///
    /// - Throws: ``APIError`` for a value that is refused.
    func arguments(of request: APIRequest) throws(APIError) -> Arguments<Path, Query, Body> {
        guard let path = Path(segments: request.path) else { throw APIError(.noSuchPath) }
        return Arguments(
            path: path, query: try Query(request.query), body: try body(of: request),
            lastEventID: request.lastEventID)
    }

    private func body(of request: APIRequest) throws(APIError) -> Body {
        if let absentBody, request.body.isEmpty || Body.self == Nothing.self { return absentBody }
        return try WireCoding.decode(Body.self, from: request.body)
    }
}

/// What is answered.
package enum APIResponse: Sendable {
    /// A whole answer.
    case whole(status: Int, contentType: String, bytes: [UInt8], fields: [String: String] = [:])
    /// An answer that is written as it comes to be. `write` returns at its end; what it throws cuts the
    /// connection, so that the reader knows the answer is not complete.
    case stream(
        contentType: String, fields: [String: String] = [:],
        write: @concurrent @Sendable (inout any BodyWriter) async throws -> Void)
    /// An error of the table.
    case failure(APIError)
    /// An answer that may take hours: whoever waits for it counts as the reader of a stream, and the work for it is
    /// cancelled when the client closes the connection, or its half of it. It returns none of its own kind.
    case awaited(@Sendable () async -> APIResponse)

    /// A value as JSON.
    package static func value(_ value: some Encodable, status: Int = 200) -> APIResponse {
        do throws(APIError) {
            return .whole(
                status: status, contentType: "application/json", bytes: try WireCoding.encode(value))
        } catch {
            return .failure(error)
        }
    }

    /// The head of a whole answer, as for a request by HEAD; any other answer as it is.
    var withoutBody: APIResponse {
        guard case .whole(let status, let contentType, let bytes, var fields) = self else { return self }
        fields["content-type"] = contentType
        fields["content-length"] = String(bytes.count)
        return .whole(status: status, contentType: "", bytes: [], fields: fields)
    }

    /// Nothing but that it was done.
    package static let done = APIResponse.whole(status: 204, contentType: "", bytes: [])
}

/// A reader who left before the first byte.
private struct AbsentReader: BodyWriter {
    let closed = AsyncStream<Never> { $0.finish() }

    mutating func write(_ bytes: [UInt8]) throws { throw APIError(.stopping) }
}

/// Takes the parts of an answer.
package protocol BodyWriter {
    /// Ends when the connection does, or the reader closes its half of it, as one does that is killed: nobody reads what
    /// is written from then on.
    var closed: AsyncStream<Never> { get }

    /// Writes `bytes` and returns once the connection takes more; a slow reader makes this wait.
    @concurrent
    mutating func write(_ bytes: [UInt8]) async throws
}

/// The head of a request: all that is known before its body is read.
package struct RequestHead: Sendable {
    /// `POST` and so on.
    package let method: String
    /// The part of the target before `?`, as it was sent.
    package let path: String
    /// The part after it.
    package let query: Query
    /// The address of who sent it; empty on a socket file.
    package let remote: String
    let fields: HTTPFields

    /// The value of a header field, by its name in lower case.
    package subscript(name: String) -> String? {
        HTTPField.Name(name).flatMap { fields[$0] }
    }

    /// Whether a body follows.
    var hasBody: Bool { fields[.transferEncoding] != nil || (fields[.contentLength] ?? "0") != "0" }

    /// A head with these header fields, by names in lower case.
    init(
        method: String, path: String, query: Query = Query(), remote: String = "", fields: [(String, String)]
    ) {
        (self.method, self.path, self.query, self.remote) = (method, path, query, remote)
        var all = HTTPFields()
        for (name, value) in fields { if let name = HTTPField.Name(name) { all[name] = value } }
        self.fields = all
    }

    init(_ request: Request, from remote: String) {
        let parts = (request.head.path ?? "").split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        method = request.method.rawValue
        path = parts.first.map(String.init) ?? ""
        query = Query(parts.count > 1 ? parts[1] : "")
        fields = request.headers
        self.remote = remote
    }
}

/// What is done with a request that is let in.
package struct Admission: Sendable {
    /// The largest body that is read, in bytes.
    var bodyLimit: Int
    /// The answer to the body.
    var answer: @Sendable ([UInt8]) async -> APIResponse
}

/// Reads requests, lets them in or refuses them by their heads, and writes answers.
struct RequestServer: Sendable {
    let count: ConnectionCount
    let waits: ConnectionPatience
    private let deadlines = Deadlines()
    /// Whether a request whose body nobody will read ends its connection.
    let cutsRefused: Bool
    /// Decides by the head of a request.
    let admit: @Sendable (RequestHead) async throws(APIError) -> Admission

    init(
        count: ConnectionCount, waits: ConnectionPatience, cutsRefused: Bool = false,
        admit: @escaping @Sendable (RequestHead) async throws(APIError) -> Admission
    ) {
        (self.count, self.waits, self.cutsRefused, self.admit) = (count, waits, cutsRefused, admit)
    }

    /// What a connection is refused with when there are too many.
    static let tooBusy = APIError(
        .tooBusy, hint: "Try again in a moment, or end programs that hold connections to it.")

    @concurrent
    func answer(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        let head = RequestHead(request, from: channel.remoteAddress?.ipAddress ?? "")
        var response: APIResponse
        do throws(APIError) {
            let deadline = deadlines.close(channel, after: waits.body)
            defer { deadline.cancel() }
            let admission = try await admit(head)
            let body = try await read(request, upTo: admission.bodyLimit)
            deadline.cancel()
            response = await admission.answer(body)
        } catch {
            response = .failure(error)
            // The rest of a body that nobody wants is not waited for.
            if cutsRefused, head.hasBody { channel.close(after: waits.refusal) }
        }
        if case .awaited(let work) = response {
            guard let place = count.beginStream() else {
                return try await write(.failure(Self.tooBusy), writer, on: channel, to: head)
            }
            channel.closeFuture.whenComplete { _ in place.end() }
            response = await AwaitedAnswer(work: work).value(untilEndOf: channel)
            place.end()
        }
        guard case .stream(_, _, let stream) = response else {
            return try await write(response, writer, on: channel, to: head)
        }
        guard let place = count.beginStream() else {
            await abandon(stream)
            return try await write(.failure(Self.tooBusy), writer, on: channel, to: head)
        }
        defer { place.end() }
        // A stream with nothing to write would not notice that nobody reads it.
        let (closed, closing) = AsyncStream.makeStream(of: Never.self)
        channel.closeFuture.whenComplete { _ in
            place.end()
            closing.finish()
        }
        InputEnd.future(of: channel).whenComplete { _ in closing.finish() }
        try await write(response, writer, closed: closed)
    }

    /// Writes a whole answer, which is read in time or not at all; to a request by HEAD no body, also of an error: whoever
    /// asked would take it for the next answer.
    @concurrent
    private func write(
        _ response: APIResponse, _ writer: consuming ResponseWriter, on channel: any Channel,
        to head: RequestHead
    ) async throws {
        let deadline = deadlines.close(channel, after: waits.answer)
        defer { deadline.cancel() }
        try await write(response, writer, isBare: head.method == "HEAD")
    }

    @concurrent
    private func read(_ request: Request, upTo limit: Int) async throws(APIError) -> [UInt8] {
        do {
            return Array(try await request.body.collect(upTo: limit).readableBytesView)
        } catch is NIOTooManyBytesError {
            let size = limit < 1 << 20 ? "\(limit / 1024) KiB" : "\(limit / 1024 / 1024) MiB"
            throw APIError(.tooLarge, "the body is larger than \(size)")
        } catch {
            throw APIError(.badRequest, "the body is incomplete")
        }
    }

    @concurrent
    private func write(
        _ response: APIResponse, _ writer: consuming ResponseWriter, isBare: Bool = false,
        closed: AsyncStream<Never>? = nil
    ) async throws {
        switch response {
        case .whole(let status, let contentType, let bytes, let fields):
            try await writeWhole(status, contentType, bytes, Self.fields(fields), writer, isBare)
        case .failure(let error):
            let bytes = (try? WireCoding.encode(error)) ?? []
            try await writeWhole(
                error.code.row.status, "application/json", bytes, Self.fields(of: error), writer, isBare)
        case .awaited(let work): try await self.write(await work(), writer, isBare: isBare)
        case .stream(let contentType, let extra, let write):
            var fields = Self.fields(extra)
            fields[.contentType] = contentType
            fields[.cacheControl] = "no-store"
            let body: any ResponseBodyWriter
            do {
                body = try await writer.writeHead(HTTPResponse(status: .ok, headerFields: fields))
            } catch {
                await abandon(write)
                throw error
            }
            var sink: any BodyWriter = ConnectionWriter(
                writer: body, closed: closed ?? AsyncStream { $0.finish() })
            // It may read files and compute: other connections share the loop's thread.
            try await withTaskExecutorPreference(WorkerPool.current) { try await write(&sink) }
            try await body.finish(nil)
        }
    }

    /// Has a stream end whose reader left before its first byte: what was begun for the reader is undone by it.
    @concurrent
    private func abandon(_ write: @concurrent @Sendable (inout any BodyWriter) async throws -> Void) async {
        var sink: any BodyWriter = AbsentReader()
        // It can only fail as it does for any reader who left.
        await withTaskExecutorPreference(WorkerPool.current) { try? await write(&sink) }
    }

    private static func fields(_ extra: [String: String]) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in extra {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        return fields
    }

    /// What goes with an error for clients that know only HTTP.
    private static func fields(of error: APIError) -> HTTPFields {
        switch error.code {
        case .noToken: [.wwwAuthenticate: "Bearer realm=\"belfry\", Basic realm=\"belfry\""]
        case .tooMany: [.retryAfter: String(RequestBudget.secondsForOne)]
        default: [:]
        }
    }

    @concurrent
    private func writeWhole(
        _ status: Int, _ contentType: String, _ bytes: [UInt8], _ extra: HTTPFields,
        _ writer: consuming ResponseWriter, _ isBare: Bool
    ) async throws {
        var fields = extra
        if !contentType.isEmpty {
            fields[.contentType] = contentType
            fields[.contentLength] = String(bytes.count)
        }
        let head = HTTPResponse(status: .init(code: status), headerFields: fields)
        if isBare || bytes.isEmpty {
            try await writer.writeResponse(head)
        } else {
            try await writer.write(response: head, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
        }
    }
}

/// An answer that may take hours, as that of a tool that asks a person: nobody works on it once nobody waits for it.
struct AwaitedAnswer {
    /// Makes the answer.
    let work: @Sendable () async -> APIResponse

    /// The answer; the work is cancelled when the other side closes the connection before it, or only its half of it.
    @concurrent
    func value(untilEndOf channel: any Channel) async -> APIResponse {
        let (closed, closing) = AsyncStream.makeStream(of: Never.self)
        InputEnd.future(of: channel).whenComplete { _ in closing.finish() }
        return await withTaskGroup(of: APIResponse?.self) { [work] group in
            group.addTask { await work() }
            group.addTask {
                for await _ in closed {}
                return nil
            }
            var answer: APIResponse?
            for await next in group {
                answer = answer ?? next
                // Work that is cancelled ends by itself, with what it began.
                if next == nil { group.cancelAll() } else { closing.finish() }
            }
            return answer ?? .failure(APIError(.stopping))
        }
    }
}

/// Who makes the request that is answered by this task.
///
/// On the control socket nobody is asked who they are; over TCP it is the token.
enum Caller {
    /// The token's name; nil: there is none, or the request came over the control socket.
    @TaskLocal static var token: String?

    /// How an answer, or a reading, of this caller is signed: a token never speaks in another's name.
    static func place(named claimed: String?, else usual: String) -> String {
        token.map { "token \($0)" } ?? claimed ?? usual
    }
}
