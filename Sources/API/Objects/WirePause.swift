/// Whether a job is paused: `null`, or since when and why.
package enum WirePause: Hashable, Sendable {
    /// Its slots run.
    case no
    /// Somebody holds it still.
    case since(Timestamp, note: String?)

    /// Whether somebody holds it still.
    package var isPaused: Bool { self != .no }
}

extension WirePause: Codable {
    private enum Key: String, CodingKey { case since, note }

    /// Reads `null` or an object.
    package init(from decoder: any Decoder) throws {
        if try decoder.singleValueContainer().decodeNil() {
            self = .no
            return
        }
        let container = try decoder.container(keyedBy: Key.self)
        self = .since(
            try container.decode(Timestamp.self, forKey: .since),
            note: try container.decodeIfPresent(String.self, forKey: .note))
    }

    /// Writes `null` or an object.
    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .no:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .since(let since, let note):
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(since, forKey: .since)
            try container.encodeIfPresent(note, forKey: .note)
        }
    }
}
