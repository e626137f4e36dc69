import Tracking

/// What a provider says went wrong, in any of the shapes that are in use.
///
/// Anthropic: `{"type":"error","error":{"type","message","details"}}`; OpenAI: `{"error":{"message","type","code"}}`;
/// Ollama: `{"error":"..."}`; others: `{"detail":"..."}` and `{"message":"..."}`.
package struct ProviderError: Hashable, Sendable {
    /// Its type, an open set; empty where there is none.
    package var type = ""
    /// Its code, an open set; empty where there is none.
    package var code = ""
    /// The parameter of the request that it is about; empty where it names none.
    package var parameter = ""
    /// Its message as one clean line; may quote the prompt, or a part of the key.
    package var message = ""

    /// The longest message that is kept, in characters.
    static let messageLimit = 200

    /// Reads the value of an `error` member; nil when it is neither an object nor a text.
    init?(_ json: JSON?) {
        switch json {
        case .string(let text): message = Self.line(text)
        case .members:
            type = json?["type"]?.text ?? ""
            code = Self.word(json?["code"]) ?? Self.word(json?["details"]?["error_code"]) ?? ""
            parameter = json?["param"]?.text ?? ""
            message = Self.line(json?["message"]?.text ?? "")
        default: return nil
        }
    }

    /// Reads the body of an answer; nil when it holds no error in a known shape.
    package init?(body: [UInt8]) {
        guard let json = JSON(parsing: body[...], repairing: true) else { return nil }
        if let error = ProviderError(json["error"]) {
            self = error
        } else if let text = json["detail"]?.text ?? json["message"]?.text {
            message = Self.line(text)
        } else {
            return nil
        }
    }

    private static func word(_ json: JSON?) -> String? { json?.text ?? json?.int.map(String.init) }

    private static func line(_ text: String) -> String { CleanText.line(text, limit: messageLimit) }
}

/// What a provider answers with a status, before or in place of a stream.
package struct ProviderAnswer: Hashable, Sendable {
    /// The HTTP status.
    package var status: Int
    /// The beginning of the body.
    package var body: [UInt8]
    /// How long the provider asks to wait; nil where it does not.
    package var retryAfter: Duration?
    /// The header `x-should-retry`; nil where there is none.
    package var retryAdvice: Bool?

    /// An answer of this status.
    package init(status: Int, body: [UInt8], retryAfter: Duration? = nil, retryAdvice: Bool? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
        self.retryAdvice = retryAdvice
    }

    /// What the answer means for a prompt to `model`.
    package func failure(model: String) -> ReplyFailure {
        let error = ProviderError(body: body)
        var kind = Self.kind(status: status, retryAfter: retryAfter)
        if let error { kind = error.kind(model: model, retryAfter: retryAfter, else: kind) }
        var detail = error?.message ?? ""
        if error == nil {
            detail = shownBody
            // A page for people in place of the API's answer: the address leads somewhere else.
            if isPage, kind == .badRequest { kind = .address }
        }
        if (300...399).contains(status) { detail = "it redirects to another address" }
        var failure = ReplyFailure(kind, status: status, detail: detail, retryAdvice: retryAdvice)
        if let error, error.code == "unsupported_parameter", !error.parameter.isEmpty {
            failure.refusedParameter = error.parameter
        }
        return failure
    }

    private var isPage: Bool {
        let start = body.drop { $0 <= 0x20 || $0 == 0xEF || $0 == 0xBB || $0 == 0xBF }
        return start.first == UInt8(ascii: "<")
    }

    /// A body that is no error in a known shape, as one line.
    private var shownBody: String {
        if isPage { return "an HTML page" }
        return CleanText.line(
            String(decoding: body.prefix(4096), as: UTF8.self), limit: ProviderError.messageLimit)
    }

    private static func kind(status: Int, retryAfter: Duration?) -> ReplyFailure.Kind {
        switch status {
        case 401, 403: .auth
        case 402: .budget
        case 404: .address
        case 408, 409, 425: .server
        case 413: .promptTooLong
        case 429: .rateLimited(after: retryAfter)
        case 503, 529: .overloaded(after: retryAfter)
        case 500...: .server
        case 400...499: .badRequest
        default: .malformed
        }
    }
}

extension ProviderError {
    /// What kind of failure the error is, where its type or code says more than `other`.
    ///
    /// - Source: the errors of Anthropic's and OpenAI's APIs; types and codes are open sets, so unknown ones change
    ///   nothing.
    func kind(
        model: String, retryAfter: Duration? = nil, else other: ReplyFailure.Kind
    ) -> ReplyFailure.Kind {
        switch code {
        case "insufficient_quota", "enforced_spend_limit_reached", "billing_hard_limit_reached":
            return .budget
        case "model_not_found": return .model(model, known: [])
        case "context_length_exceeded": return .promptTooLong
        case "invalid_api_key", "401", "403": return .auth
        case "402": return .budget
        case "429", "rate_limit_exceeded": return .rateLimited(after: retryAfter)
        case "503", "529": return .overloaded(after: retryAfter)
        case "500", "502", "504": return .server
        default: break
        }
        switch type {
        case "authentication_error", "permission_error": return .auth
        case "billing_error", "insufficient_quota": return .budget
        case "not_found_error": return namesModel ? .model(model, known: []) : .address
        case "request_too_large": return .promptTooLong
        case "rate_limit_error": return .rateLimited(after: retryAfter)
        case "overloaded_error": return .overloaded(after: retryAfter)
        case "api_error", "timeout_error", "server_error": return other == .auth ? other : .server
        case "invalid_request_error" where other == .server: return .badRequest
        default:
            let isModel = other == .address && namesModel || other == .badRequest && refusesModel
            return isModel ? .model(model, known: []) : other
        }
    }

    /// Whether it is about the model's name, as servers say that have no code for it.
    ///
    /// - Source: the messages of LiteLLM, Mistral, OpenRouter and vLLM.
    private var refusesModel: Bool {
        let words = message.lowercased()
        let known = [
            "invalid model", "not a valid model", "unknown model", "model not found", "no such model",
        ]
        return known.contains { words.contains($0) } || namesModel && words.contains("does not exist")
    }

    private var namesModel: Bool { message.lowercased().contains("model") }
}
