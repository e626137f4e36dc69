/// A fact, numbered in the order it became true.
package struct WireEvent: Hashable, Sendable, Codable {
    /// Rises with every event; what `--since` and `Last-Event-ID` name.
    package var seq: Int64
    /// `run.started`, `message.group` and so on.
    package var type: String
    /// When it became true.
    package var at: Timestamp
    /// Why, in one word.
    package var reason: String?
    /// The job it is about.
    package var job: String?
    /// The id of the run it is about.
    package var run: String?
    /// That run's name, `JOB#N`, as long as it is kept.
    package var name: String?
    /// The bot it is about.
    package var bot: String?
    /// The message or item it is about.
    package var subject: String?
    /// The channel it is about.
    package var channel: String?
    /// What else there is to know: an object whose members the type decides.
    package var data: WireValue?

    /// An event that is about nothing yet.
    package init(seq: Int64, type: String, at: Timestamp) {
        self.seq = seq
        self.type = type
        self.at = at
    }
}

/// Any JSON.
package indirect enum WireValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([WireValue])
    case object([String: WireValue])

    /// The JSON of a value.
    package init(_ value: some Encodable) throws(APIError) {
        self = try WireCoding.decode(WireValue.self, from: WireCoding.encode(value))
    }

    /// The member of that name; `nil` also where this is no object.
    package subscript(name: String) -> WireValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }
}

extension WireValue: Codable {
    /// Reads whatever stands there.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([WireValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: WireValue].self))
        }
    }

    /// Writes what it is.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }
}
