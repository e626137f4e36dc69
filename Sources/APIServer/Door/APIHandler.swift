package import API
import Host

/// Answers requests.
package protocol APIHandler: Sendable {
    /// Finds the endpoint of a request.
    var router: EndpointRouter { get }

    /// The answer to `request`. Called for many requests at once.
    func respond(to request: APIRequest) async -> APIResponse
}

/// A handler for each endpoint, typed by its row.
package struct HandlerTable: APIHandler {
    private struct Handler: Sendable {
        /// Whether it stays on the thread that serves every connection.
        var isBrief: Bool
        /// Whether it ends with the connection of who waits for it.
        var isAwaited = false
        var answer: @Sendable (APIRequest) async throws -> APIResponse
    }

    /// The longest body of a request that counts as brief.
    private static let briefBody = 65_536

    private var handlers: [String: Handler] = [:]
    private let waitForJobs: @Sendable () async throws -> Void

    /// Finds the row of a request.
    package let router: EndpointRouter

    /// A table for `rows`, without handlers.
    ///
    /// - Parameters:
    ///   - rows: The endpoints that requests may name.
    ///   - waitForJobs: Returns once the jobs of the configuration are loaded.
    package init(_ rows: [EndpointRow], waitForJobs: @escaping @Sendable () async throws -> Void = {}) {
        router = EndpointRouter(rows)
        self.waitForJobs = waitForJobs
    }

    /// The names of the endpoints that have a handler.
    package var handled: Set<String> { Set(handlers.keys) }

    /// The answer of the endpoint's handler.
    package func respond(to request: APIRequest) async -> APIResponse {
        guard let handler = handlers[request.row.name] else { return .failure(APIError(.noSuchPath)) }
        if handler.isAwaited {
            return .awaited {
                await withTaskExecutorPreference(WorkerPool.current) { await answer(request, by: handler) }
            }
        }
        if handler.isBrief, request.body.count <= Self.briefBody { return await answer(request, by: handler) }
        return await withTaskExecutorPreference(WorkerPool.current) { await answer(request, by: handler) }
    }

    private func answer(_ request: APIRequest, by handler: Handler) async -> APIResponse {
        do {
            if request.row.needsJobs { try await waitForJobs() }
            return try await handler.answer(request)
        } catch let error as APIError {
            assert(
                request.row.errors.contains(error.code),
                "the row \(request.row.name) does not list \(error.code): \(error.message)")
            return .failure(error)
        } catch {
            return .failure(APIError(error is CancellationError ? .stopping : .internalFault))
        }
    }

    private mutating func register(
        _ row: EndpointRow, isBrief: Bool = false, isAwaited: Bool = false,
        _ answer: @escaping @Sendable (APIRequest) async throws -> APIResponse
    ) {
        let handler = Handler(isBrief: isBrief, isAwaited: isAwaited, answer: answer)
        precondition(handlers.updateValue(handler, forKey: row.name) == nil, "two handlers for \(row.name)")
    }
}

extension HandlerTable {
    /// Answers with a JSON value.
    ///
    /// A brief one computes little and never blocks: it runs on the thread that serves every connection, so that no
    /// other thread is woken for it. One that is awaited may take hours, and is cancelled with its connection.
    package mutating func on<Path, Query, Body: Decodable, Answer: Encodable>(
        _ endpoint: Endpoint<Path, Query, Body, Answer>, isBrief: Bool = false, isAwaited: Bool = false,
        _ answer: @escaping @Sendable (Arguments<Path, Query, Body>) async throws -> Answer
    ) {
        register(endpoint.row, isBrief: isBrief, isAwaited: isAwaited) { request in
            .value(try await answer(endpoint.arguments(of: request)), status: request.row.status)
        }
    }

    /// Answers with nothing, once it is done.
    package mutating func on<Path, Query, Body: Decodable>(
        _ endpoint: Endpoint<Path, Query, Body, Nothing>,
        _ action: @escaping @Sendable (Arguments<Path, Query, Body>) async throws -> Void
    ) {
        register(endpoint.row) { request in
            try await action(endpoint.arguments(of: request))
            return .done
        }
    }

    /// Answers with a JSON array that is written as it is read.
    package mutating func on<Path, Query, Body: Decodable, Element: Encodable>(
        _ endpoint: Endpoint<Path, Query, Body, [Element]>,
        _ answer: @escaping @Sendable (Arguments<Path, Query, Body>) async throws -> Pages<Element>
    ) {
        register(endpoint.row) { request in
            try await answer(endpoint.arguments(of: request)).response
        }
    }

    /// Answers with text; a brief one as above.
    package mutating func on<Path, Query, Body: Decodable>(
        _ endpoint: Endpoint<Path, Query, Body, TextDocument>, isBrief: Bool = false,
        _ answer: @escaping @Sendable (Arguments<Path, Query, Body>) async throws -> String
    ) {
        register(endpoint.row, isBrief: isBrief) { request in
            let text = try await answer(endpoint.arguments(of: request))
            return .whole(status: 200, contentType: "text/plain", bytes: Array(text.utf8))
        }
    }

    /// Answers with a JSON document.
    package mutating func on<Path, Query, Body: Decodable>(
        _ endpoint: Endpoint<Path, Query, Body, JSONDocument>,
        _ answer: @escaping @Sendable (Arguments<Path, Query, Body>) async throws -> [UInt8]
    ) {
        register(endpoint.row) { request in
            let bytes = try await answer(endpoint.arguments(of: request))
            return .whole(status: 200, contentType: "application/json", bytes: bytes)
        }
    }

    /// Answers with what a run prints.
    package mutating func on<Path, Query, Body: Decodable>(
        _ endpoint: Endpoint<Path, Query, Body, OutputStream>,
        _ answer: @escaping @Sendable (Arguments<Path, Query, Body>) async throws -> StreamAnswer
    ) {
        register(endpoint.row) { request in
            let stream = try await answer(endpoint.arguments(of: request))
            return .stream(
                contentType: "application/octet-stream", fields: stream.fields, write: stream.write)
        }
    }

    /// Answers with a question until it is closed.
    package mutating func on<Path, Query, Body: Decodable>(
        _ endpoint: Endpoint<Path, Query, Body, QuestionStream>,
        _ answer: @escaping @Sendable (Arguments<Path, Query, Body>) async throws -> StreamAnswer
    ) {
        register(endpoint.row) { request in
            let stream = try await answer(endpoint.arguments(of: request))
            return .stream(contentType: "text/event-stream", fields: stream.fields, write: stream.write)
        }
    }

    /// Answers with events.
    package mutating func on<Path, Query, Body: Decodable>(
        _ endpoint: Endpoint<Path, Query, Body, EventStream>,
        _ answer: @escaping @Sendable (Arguments<Path, Query, Body>) async throws -> StreamAnswer
    ) {
        register(endpoint.row) { request in
            let stream = try await answer(endpoint.arguments(of: request))
            return .stream(contentType: "text/event-stream", fields: stream.fields, write: stream.write)
        }
    }
}

/// An answer that is written as it comes to be.
package struct StreamAnswer: Sendable {
    /// Header fields of its own.
    package var fields: [String: String] = [:]
    /// Writes it; see ``APIResponse/stream(contentType:fields:write:)``.
    package var write: @concurrent @Sendable (inout any BodyWriter) async throws -> Void

    /// An answer that `write` writes.
    package init(
        fields: [String: String] = [:],
        write: @escaping @concurrent @Sendable (inout any BodyWriter) async throws -> Void
    ) {
        self.fields = fields
        self.write = write
    }
}

/// A JSON array of which only a page is held at a time.
package struct Pages<Element: Encodable & Sendable>: Sendable {
    private let first: [Element]
    private let next: @Sendable (Element) async throws -> [Element]

    /// An array that begins with `first`; `next` returns the page after an element, empty at the end.
    package init(
        _ first: [Element], next: @escaping @Sendable (Element) async throws -> [Element]
    ) {
        self.first = first
        self.next = next
    }

    /// An array of one page.
    package init(_ whole: [Element]) {
        self.init(whole) { _ in [] }
        isWhole = true
    }

    private var isWhole = false

    var response: APIResponse {
        guard !isWhole else { return .value(first) }
        return .stream(contentType: "application/json") { [first, next] writer in
            var page = first
            var mark = UInt8(ascii: "[")
            repeat {
                try await writer.write([mark] + WireCoding.encode(page).dropFirst().dropLast())
                mark = UInt8(ascii: ",")
                page = if let last = page.last { try await next(last) } else { [] }
            } while !page.isEmpty
            try await writer.write(Array("]".utf8))
        }
    }
}
