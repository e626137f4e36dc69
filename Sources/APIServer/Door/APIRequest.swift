package import API

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
    /// cancelled when its connection ends. It returns none of its own kind.
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

    /// Nothing but that it was done.
    package static let done = APIResponse.whole(status: 204, contentType: "", bytes: [])
}

/// Takes the parts of an answer.
package protocol BodyWriter {
    /// Ends when the connection does: nobody reads what is written from then on.
    var closed: AsyncStream<Never> { get }

    /// Writes `bytes` and returns once the connection takes more; a slow reader makes this wait.
    @concurrent
    mutating func write(_ bytes: [UInt8]) async throws
}
