package import Ledger

/// One endpoint of the API: what is asked for, what goes along, and what comes back.
///
/// The server, the client and the OpenAPI document are made from these rows; see ``Endpoints``.
package struct Endpoint<Path: PathParameters, Query: QueryParameters, Body: Sendable, Answer: Sendable>:
    Sendable
{
    /// The row without its types.
    package let row: EndpointRow
    /// What an empty body stands for; nil where a body is required.
    package let absentBody: Body?

    private init(_ row: EndpointRow, absentBody: Body?) {
        self.row = row
        self.absentBody = absentBody
        precondition(row.path.names.count == Path.kinds.count, "\(row.name): the path and its type differ")
    }
}

extension Endpoint where Body: Codable {
    /// An endpoint that answers with a JSON value, or with nothing.
    ///
    /// - Parameters:
    ///   - name: Its name in ``Endpoints``, and its `operationId`.
    ///   - method: The HTTP method.
    ///   - template: The path, such as `/v1/jobs/{job}`.
    ///   - path: The type of the path's variable parts.
    ///   - query: The type of the query.
    ///   - takes: The body.
    ///   - answers: The type of the answer; ``Nothing``: status 204.
    ///   - creates: Whether it answers with status 201.
    ///   - needsJobs: Whether it waits until the jobs of the configuration are loaded.
    ///   - errors: The errors of its own; see ``EndpointRow/commonErrors`` for those of all.
    ///   - doc: What it does; a sentence.
    package init(
        _ name: String, _ method: EndpointRow.Method, _ template: PathTemplate,
        path: Path.Type = Nothing.self, query: Query.Type = Nothing.self,
        takes: RequestBody<Body> = RequestBody<Nothing>.none, answers: Answer.Type = Nothing.self,
        creates: Bool = false,
        needsJobs: Bool = false, errors: [ErrorCode] = [], _ doc: String
    ) where Answer: Codable {
        let form: EndpointRow.AnswerForm = Answer.self == Nothing.self ? .nothing : .json(Answer.self)
        self.init(
            EndpointRow(
                name: name, method: method, path: template, pathKinds: Path.kinds,
                query: Query.parameters.map(\.row), body: takes.form, answer: form,
                isCreating: creates, needsJobs: needsJobs, ownErrors: errors, doc: doc),
            absentBody: takes.absent)
    }

    /// An endpoint that answers with text, a stream or a document; the parameters are those of the other one.
    package init(
        _ name: String, _ method: EndpointRow.Method, _ template: PathTemplate,
        path: Path.Type = Nothing.self, query: Query.Type = Nothing.self,
        takes: RequestBody<Body> = RequestBody<Nothing>.none, answers: Answer.Type, needsJobs: Bool = false,
        errors: [ErrorCode] = [],
        _ doc: String
    ) where Answer: UntypedAnswer {
        self.init(
            EndpointRow(
                name: name, method: method, path: template, pathKinds: Path.kinds,
                query: Query.parameters.map(\.row), body: takes.form, answer: Answer.form,
                isCreating: false, needsJobs: needsJobs, ownErrors: errors, doc: doc),
            absentBody: takes.absent)
    }
}

/// What goes along with a request to an endpoint.
package struct RequestBody<Body: Sendable>: Sendable {
    let form: EndpointRow.BodyForm
    let absent: Body?
}

extension RequestBody where Body == Nothing {
    /// Nothing; a body is not read.
    package static var none: Self { Self(form: .none, absent: Nothing()) }
}

extension RequestBody where Body: Codable {
    /// A JSON value.
    package static func json(_ type: Body.Type) -> Self { Self(form: .required(type), absent: nil) }

    /// A JSON value; an empty body stands for `absent`.
    package static func optional(_ absent: Body) -> Self {
        Self(form: .optional(Body.self), absent: absent)
    }
}

/// A type of the wire.
package typealias WireType = any (Codable & Sendable).Type

/// A row of the table of endpoints, without its types.
package struct EndpointRow: Sendable {
    /// An HTTP method.
    package enum Method: String, Hashable, Sendable {
        case get = "GET"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// What goes along with a request.
    package enum BodyForm: Sendable {
        /// A body is not read.
        case none
        /// A JSON value.
        case required(WireType)
        /// A JSON value, or an empty body.
        case optional(WireType)
    }

    /// What comes back when the request succeeds.
    package enum AnswerForm: Sendable {
        /// An empty body.
        case nothing
        /// A JSON value.
        case json(WireType)
        /// A JSON document that no type of ours describes.
        case document
        /// A line of text.
        case text
        /// Bytes as they come, with header fields of its own by name.
        case bytes(fields: [String: String])
        /// Server-sent events; a reader resumes with `Last-Event-ID`.
        case events([WireType])
    }

    /// Its name in ``Endpoints``, and its `operationId`.
    package let name: String
    /// The HTTP method.
    package let method: Method
    /// The path, such as `/v1/jobs/{job}`.
    package let path: PathTemplate
    /// What the variable parts of the path look like, in order.
    package let pathKinds: [PathKind]
    /// The parameters of the query.
    package let query: [QueryRow]
    /// What goes along.
    package let body: BodyForm
    /// What comes back.
    package let answer: AnswerForm
    /// Whether something is made: status 201.
    package let isCreating: Bool
    /// Whether it waits until the jobs of the configuration are loaded.
    package let needsJobs: Bool
    /// The errors of its own.
    package let ownErrors: [ErrorCode]
    /// What it does; a sentence.
    package let doc: String

    /// The status of a success.
    package var status: Int {
        if case .nothing = answer { return 204 }
        return isCreating ? 201 : 200
    }

    /// Errors that any endpoint may answer with.
    package static let commonErrors: [ErrorCode] = [
        .badRequest, .tooLarge, .ledgerRefused, .stopping, .starting, .tooBusy, .internalFault,
        .noToken, .wrongScope, .tooMany,
    ]

    /// Every error it may answer with, by number.
    package var errors: [ErrorCode] {
        var all = Set(Self.commonErrors + ownErrors)
        if !query.isEmpty { all.insert(.badValue) }
        if method != .get { all.insert(.changedMeanwhile) }
        switch body {
        case .required, .optional: all.formUnion([.badJSON, .badValue])
        case .none: break
        }
        return all.sorted { $0.rawValue < $1.rawValue }
    }
}

/// What stands where a request or an answer carries nothing.
package struct Nothing: Hashable, Sendable, Codable {
    /// Nothing.
    package init() {}
}

/// An answer that is no JSON value of ours.
package protocol UntypedAnswer: Sendable {
    /// What it is.
    static var form: EndpointRow.AnswerForm { get }
}

/// A line of text.
package enum TextDocument: UntypedAnswer {
    /// Text.
    package static var form: EndpointRow.AnswerForm { .text }
}

/// A JSON document that no type of ours describes.
package enum JSONDocument: UntypedAnswer {
    /// A document.
    package static var form: EndpointRow.AnswerForm { .document }
}

/// What a run prints, as it comes.
package enum OutputStream: UntypedAnswer {
    /// The field with the number of bytes printed before the answer's first one.
    package static let offsetField = "belfry-offset"
    /// The field with the attempt that the answer is of.
    package static let attemptField = "belfry-attempt"

    /// Bytes with both fields.
    package static var form: EndpointRow.AnswerForm {
        .bytes(fields: [
            offsetField: "How many bytes the attempt printed before the first byte of the answer.",
            attemptField: "The attempt that the answer is of.",
        ])
    }
}

/// Events as they happen.
package enum EventStream: UntypedAnswer {
    /// Events, and with `live` live states.
    package static var form: EndpointRow.AnswerForm { .events([WireEvent.self, WireLive.self]) }
}

/// A question, as it is and as it was closed.
package enum QuestionStream: UntypedAnswer {
    /// Events named `question`, each a question whole; the last one is closed.
    package static var form: EndpointRow.AnswerForm { .events([WireQuestion.self]) }
    /// The name of its events.
    package static let eventName = "question"
}

/// A request to an endpoint, ready to be sent.
package struct Call<Answer: Sendable>: Sendable {
    /// The endpoint.
    package let row: EndpointRow
    /// The path with its values, and the query.
    package let target: String
    /// The body; nil: none.
    package let body: (any Encodable & Sendable)?
}

extension Endpoint {
    private func call(_ path: Path, _ query: Query, _ body: (any Encodable & Sendable)?) -> Call<Answer> {
        Call(row: row, target: row.path.filled(with: path.segments) + query.suffix, body: body)
    }
}

extension Endpoint where Body: Encodable {
    /// The call with a body.
    package func callAsFunction(
        _ path: Path, query: Query = Query(), body: Body
    ) -> Call<Answer> {
        call(path, query, body)
    }
}

extension Endpoint where Path == Nothing, Body: Encodable {
    /// The call with a body.
    package func callAsFunction(query: Query = Query(), body: Body) -> Call<Answer> {
        call(Nothing(), query, body)
    }
}

extension Endpoint where Body == Nothing {
    /// The call.
    package func callAsFunction(_ path: Path, query: Query = Query()) -> Call<Answer> {
        call(path, query, nil)
    }
}

extension Endpoint where Path == Nothing, Body == Nothing {
    /// The call.
    package func callAsFunction(query: Query = Query()) -> Call<Answer> {
        call(Nothing(), query, nil)
    }
}

extension EndpointRow {
    /// What a token must allow for this endpoint; nil: no token is needed.
    ///
    /// On the control socket nobody is asked for one.
    package var scope: TokenScope? {
        switch name {
        case Endpoints.health.row.name: nil
        case Endpoints.notify.row.name: .publish
        case Endpoints.answerQuestion.row.name: .answer
        // The values of a job's environment, names of tokens, and addresses that whoever has them may report at.
        case Endpoints.jobText.row.name, Endpoints.tokens.row.name, Endpoints.expectations.row.name: .admin
        default: method == .get ? .read : .admin
        }
    }
}
