import API
import Tracking

/// What an MCP client sends and is answered, line by line: both eras of the protocol.
///
/// A client of the older revisions begins with `initialize`; one of 2026-07-28 sends with each request which revision it
/// speaks, and there is no beginning. The first request decides for the whole connection.
///
/// - Source: modelcontextprotocol.io, specification of 2025-11-25 and 2026-07-28, "Base protocol".
struct MCPConversation {
    /// What a line asks for.
    enum Step: Hashable {
        /// Nothing.
        case ignore
        /// This answer.
        case answer(JSON)
        /// A list of the tools.
        case list(Request)
        /// A call of a tool.
        case call(Request, tool: String, arguments: JSON)
        /// The result of the request of this id is no longer wanted.
        case cancel(JSON)
    }

    /// A request that somebody else must answer.
    struct Request: Hashable {
        let id: JSON
        let isModern: Bool
        /// Under which its progress is reported; nil: nobody wants to know.
        var progress: JSON?
    }

    /// The revisions that begin with `initialize`, newest first.
    static let revisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
    /// The revision of requests that stand alone.
    static let modern = "2026-07-28"
    /// The longest line.
    static let lineLimit = 4 << 20

    private static let version = "io.modelcontextprotocol/protocolVersion"
    private static let capabilities = "io.modelcontextprotocol/clientCapabilities"
    private static let server = "io.modelcontextprotocol/serverInfo"

    private enum Code: Int {
        case parse = -32700, invalidRequest = -32600, noMethod = -32601, invalidParameters = -32602
        case revision = -32022
    }

    /// Whether the connection is of the newer revision; nil: nothing was asked yet.
    private var isModern: Bool?
    private let instructions: String

    /// A conversation with nobody yet; the `instructions` are for the model.
    init(instructions: String) { self.instructions = instructions }

    // MARK: Lines

    /// What the next line asks for.
    mutating func receive(_ line: some Sequence<UInt8>) -> Step {
        guard let json = JSON(parsing: Array(line)[...]) else {
            return .answer(Self.error(.null, .parse, "the line is not JSON"))
        }
        guard case .members = json, json["jsonrpc"]?.text == "2.0" else {
            return .answer(Self.error(.null, .invalidRequest, "the line is not a request of JSON-RPC 2.0"))
        }
        guard let method = json["method"]?.text else {
            // The answer to a question that nobody asked.
            if json["result"] != nil || json["error"] != nil { return .ignore }
            return .answer(Self.error(.null, .invalidRequest, "the request has no method"))
        }
        let parameters = json["params"]
        guard let id = json["id"] else {
            guard method == "notifications/cancelled", let id = parameters?["requestId"] else {
                return .ignore
            }
            return .cancel(id)
        }
        guard id.text != nil || id.int != nil else {
            return .answer(Self.error(.null, .invalidRequest, "the id is neither a text nor a whole number"))
        }
        return method == "initialize" ? begin(id, parameters) : serve(method, id, parameters)
    }

    private mutating func begin(_ id: JSON, _ parameters: JSON?) -> Step {
        let asked = parameters?["protocolVersion"]?.text ?? ""
        guard isModern != true else { return .answer(refusal(of: asked, id)) }
        isModern = false
        return .answer(
            Self.result(
                id,
                [
                    "protocolVersion": .string(Self.revisions.contains(asked) ? asked : Self.revisions[0]),
                    "capabilities": .object(["tools": .members([])]), "serverInfo": Self.identity,
                    "instructions": .string(instructions),
                ]))
    }

    private mutating func serve(_ method: String, _ id: JSON, _ parameters: JSON?) -> Step {
        let meta = parameters?["_meta"]
        if let asked = meta?[Self.version], isModern != false {
            guard let revision = asked.text, meta?[Self.capabilities] != nil else {
                return .answer(
                    Self.error(id, .invalidParameters, "_meta needs \(Self.version) and \(Self.capabilities)")
                )
            }
            guard revision == Self.modern else { return .answer(refusal(of: revision, id)) }
            isModern = true
        }
        guard let isModern else {
            return .answer(Self.error(id, .invalidRequest, "the first request is initialize"))
        }
        let request = Request(id: id, isModern: isModern, progress: meta?["progressToken"])
        switch method {
        case "ping": return .answer(Self.result(id, [:]))
        case "server/discover" where isModern: return .answer(discovery(id))
        case "tools/list": return .list(request)
        case "tools/call":
            guard let tool = parameters?["name"]?.text else {
                return .answer(Self.error(id, .invalidParameters, "params.name is missing"))
            }
            let arguments = parameters?["arguments"] ?? .members([])
            return .call(request, tool: tool, arguments: arguments == .null ? .members([]) : arguments)
        default:
            return .answer(
                Self.error(id, .noMethod, "there is no method \(CleanText.line(method, limit: 60))"))
        }
    }

    // MARK: Answers

    private func discovery(_ id: JSON) -> JSON {
        Self.result(
            id,
            [
                "resultType": .string("complete"), "supportedVersions": .array([.string(Self.modern)]),
                "capabilities": .object(["tools": .members([])]), "instructions": .string(instructions),
                "cacheScope": .string("private"), "ttlMs": .int(0),
                "_meta": .members([.init(Self.server, Self.identity)]),
            ])
    }

    private func refusal(of revision: String, _ id: JSON) -> JSON {
        Self.error(
            id, .revision, "this connection is of the revision \(Self.modern)",
            data: .object([
                "supported": .array([.string(Self.modern)]),
                "requested": .string(CleanText.line(revision, limit: 60)),
            ]))
    }

    /// The answer to a request for the tools.
    static func list(_ tools: [JSON], to request: Request) -> JSON {
        result(
            request.id,
            [
                "tools": .array(tools), "resultType": request.isModern ? .string("complete") : nil,
                // What a bot may call can change at any time.
                "cacheScope": request.isModern ? .string("private") : nil,
                "ttlMs": request.isModern ? .int(0) : nil,
            ])
    }

    /// The answer to a call: what the tool returned.
    static func answer(_ text: String, isError: Bool, to request: Request) -> JSON {
        result(
            request.id,
            [
                "content": .array([.object(["type": .string("text"), "text": .string(text)])]),
                "isError": .bool(isError), "resultType": request.isModern ? .string("complete") : nil,
            ])
    }

    /// How far a call is, 0 to 1; nil: nobody wants to know.
    static func progress(_ done: Double, _ message: String, of request: Request) -> JSON? {
        request.progress.map { token in
            .object([
                "jsonrpc": .string("2.0"), "method": .string("notifications/progress"),
                "params": .object([
                    "progressToken": token,
                    "progress": done == 0 || done == 1 ? .int(Int(done)) : .double(done), "total": .int(1),
                    "message": .string(message),
                ]),
            ])
        }
    }

    private static let identity = JSON.object([
        "name": .string("belfry"), "title": .string("Belfry"), "version": .string(Version.text),
    ])

    private static func result(_ id: JSON, _ members: KeyValuePairs<String, JSON?>) -> JSON {
        .object(["jsonrpc": .string("2.0"), "id": id, "result": .object(members)])
    }

    private static func error(_ id: JSON, _ code: Code, _ message: String, data: JSON? = nil) -> JSON {
        .object([
            "jsonrpc": .string("2.0"), "id": id,
            "error": .object([
                "code": .int(code.rawValue), "message": .string(message), "data": data,
            ]),
        ])
    }
}
