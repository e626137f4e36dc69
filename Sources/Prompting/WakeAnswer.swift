import Tracking

/// What the script before a prompt printed, read: whether its bot is to be asked, and with what.
///
/// The last line that is not blank may be an object, `{"wakeAgent": true, "data": ...}`: only it counts then. Else all that
/// was printed is the data, and nothing printed is nothing to do.
/// - Source: nanoclaw 1.2.52, container/agent-runner; see agents.md 1.3. A script that fails is a failure here, not
///   silence.
package enum WakeAnswer: Hashable, Sendable {
    /// The bot is asked, with this text of the script; nil: with none.
    case wake(data: String?)
    /// There is nothing to do, for the script's own reason; nil: it gave none.
    case sleep(reason: String?)
    /// The last line is no answer, as the sentence says.
    case unreadable(String)

    /// The longest reason, in characters.
    private static let reasonLimit = 200

    /// Reads what was printed.
    package init(_ output: some Sequence<UInt8>) {
        let text = String(decoding: Array(output), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let last = lines.last(where: { !$0.allSatisfy(\.isWhitespace) }) else {
            self = .sleep(reason: nil)
            return
        }
        guard let json = JSON(parsing: Array(last.utf8)[...], repairing: true),
            let answer = json["wakeAgent"]
        else {
            self = .wake(data: Self.trimmed(text))
            return
        }
        switch answer {
        case .bool(true): self = .wake(data: json["data"].flatMap(Self.data))
        case .bool(false):
            let reason = json["reason"]?.text.map { CleanText.line($0, limit: Self.reasonLimit) }
            self = .sleep(reason: reason?.isEmpty == true ? nil : reason)
        default: self = .unreadable("its last line must have \"wakeAgent\": true or false")
        }
    }

    /// What a bot is asked: the data, and what to do with them.
    package static func prompt(_ instructions: String, data: String?) -> String {
        guard let data else { return instructions }
        return "Script output:\n\(data)\n\nInstructions:\n\(instructions)"
    }

    /// A text as it is, anything else as indented JSON; nil for null.
    private static func data(_ json: JSON) -> String? {
        switch json {
        case .null: nil
        case .string(let text): text
        default: json.indented
        }
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop { $0.isWhitespace }
        return String(start.reversed().drop { $0.isWhitespace }.reversed())
    }
}

extension JSON {
    /// The value as `JSON.stringify(value, null, 2)` writes it.
    fileprivate var indented: String { indented(by: "") }

    private func indented(by margin: String) -> String {
        let inner = margin + "  "
        switch self {
        case .array(let values) where !values.isEmpty:
            let lines = values.map { inner + $0.indented(by: inner) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(margin)]"
        case .members(let members) where !members.isEmpty:
            let lines = members.map { member in
                inner + String(decoding: JSON.string(member.name).bytes, as: UTF8.self) + ": "
                    + member.value.indented(by: inner)
            }
            return "{\n\(lines.joined(separator: ",\n"))\n\(margin)}"
        default: return String(decoding: bytes, as: UTF8.self)
        }
    }
}
