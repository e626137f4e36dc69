package import Tracking

/// One frame that a gateway sends, read from hostile bytes.
///
/// - Source: openclaw/openclaw, gateway-protocol, versions 3 and 4; see openclaw.md 2.
package enum GatewayFrame: Hashable, Sendable {
    /// The answer to the request of this id; one request may have several.
    case response(id: String, Result<JSON, GatewayFault>)
    /// Something happened; `seq` counts what is sent to all, from an arbitrary number on.
    case event(name: String, payload: JSON, seq: Int?)
    /// A kind of frame that this version does not know: ignored.
    case other(String)

    /// The largest frame that is read.
    package static let limit = 26_214_400
    /// The largest frame before the handshake has ended.
    package static let limitBeforeHello = 65_536

    /// Reads a frame.
    ///
    /// - Throws: ``Malformed`` for what is none.
    package init(_ bytes: ArraySlice<UInt8>) throws(Malformed) {
        guard bytes.count <= Self.limit else { throw Malformed(problem: "it is larger than 25 MiB") }
        guard let json = JSON(parsing: bytes, repairing: true) else {
            throw Malformed(problem: "it is not JSON")
        }
        guard let type = json["type"]?.text else { throw Malformed(problem: "it has no type") }
        switch type {
        case "res":
            guard let id = json["id"]?.text, case .bool(let isGood)? = json["ok"] else {
                throw Malformed(problem: "it is an answer without an id or a result")
            }
            self = .response(
                id: id, isGood ? .success(json["payload"] ?? .null) : .failure(GatewayFault(json)))
        case "event":
            guard let name = json["event"]?.text else {
                throw Malformed(problem: "it is an event without a name")
            }
            self = .event(name: name, payload: json["payload"] ?? .null, seq: json["seq"]?.int)
        default: self = .other(CleanText.line(type, limit: 40))
        }
    }

    /// Bytes that are no frame.
    package struct Malformed: Error, Hashable, Sendable {
        /// What is wrong with them, as a sentence without a full stop.
        package let problem: String
    }
}

/// Why a gateway did not do what it was asked.
package struct GatewayFault: Error, Hashable, Sendable {
    /// The protocol's word: `UNAVAILABLE`, `INVALID_REQUEST` and others, also ones that this version does not know.
    package var code: String
    /// What the gateway says, as one clean line.
    package var message: String
    /// What it adds; null where it adds nothing.
    package var details: JSON
    /// Whether it says that the same request may succeed later.
    package var isRetryable: Bool
    /// How long to wait before that; nil: it does not say.
    package var retryAfter: Duration?

    /// The fault in an answer that reports one.
    init(_ answer: JSON) {
        let error = answer["error"]
        // The second answer to `agent` has what failed in its payload.
        let summary = answer["payload"]?["summary"]?.text
        code = CleanText.line(error?["code"]?.text ?? "UNKNOWN", limit: 40)
        // Cut only once what must be hidden is hidden: half of a token is still a part of it.
        message = CleanText.line(error?["message"]?.text ?? summary ?? "", limit: 8192)
        details = error?["details"] ?? .null
        isRetryable = error?["retryable"] == .bool(true)
        retryAfter = error?["retryAfterMs"]?.milliseconds
    }

    /// A fault that is made here.
    package init(_ code: String, _ message: String, details: JSON = .null) {
        (self.code, self.message, self.details) = (code, message, details)
        isRetryable = false
    }

    /// The same fault without what must not be shown, its message as a line of at most 300 characters.
    package func hiding(_ hidden: HiddenTexts) -> GatewayFault {
        var fault = self
        fault.code = hidden.clean(code)
        fault.message = CleanText.line(hidden.clean(message), limit: 300)
        fault.details = details.hiding(hidden)
        return fault
    }

    /// The word that the details add, such as `PAIRING_REQUIRED`.
    package var detailCode: String? { details["code"]?.text.map { CleanText.line($0, limit: 60) } }

    /// The scope that this connection lacks; nil: that is not the reason.
    package var missingScope: String? {
        if detailCode == "MISSING_SCOPE" || code == "FORBIDDEN" {
            if let scope = details["missingScope"]?.text { return CleanText.line(scope, limit: 60) }
        }
        let prefix = "missing scope: "
        return message.hasPrefix(prefix) ? String(message.dropFirst(prefix.count)) : nil
    }

    /// How long a request is refused because the gateway is starting or busy; nil: that is not the reason.
    package var pause: Duration? {
        guard code == "UNAVAILABLE", isRetryable || retryAfter != nil else { return nil }
        return min(max(retryAfter ?? .milliseconds(500), .milliseconds(50)), .seconds(30))
    }
}

extension JSON {
    /// The same value, with what must not be shown hidden in each of its texts.
    fileprivate func hiding(_ hidden: HiddenTexts) -> JSON {
        switch self {
        case .string(let text): .string(hidden.hide(in: text))
        case .array(let elements): .array(elements.map { $0.hiding(hidden) })
        case .members(let members): .members(members.map { .init($0.name, $0.value.hiding(hidden)) })
        case .null, .bool, .number: self
        }
    }

    /// A span in milliseconds, from nothing up to a year; nil where it is none.
    var milliseconds: Duration? {
        guard let count = double, count >= 0 else { return nil }
        return .milliseconds(Int64(min(count, 31_536_000_000)))
    }
}
