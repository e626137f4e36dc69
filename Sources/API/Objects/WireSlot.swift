/// A slot to come, or a local time that has none because the clock skips it.
package struct WireSlot: Hashable, Sendable, Codable {
    /// The slot; for skipped times the moment at which the clock jumps.
    package var at: Timestamp
    /// Whether nothing runs there.
    package var isSkipped: Bool
    /// What a change of the clock does at this line; absent on ordinary days.
    package var note: String?

    /// A line of a preview.
    package init(at: Timestamp, isSkipped: Bool = false, note: String? = nil) {
        self.at = at
        self.isSkipped = isSkipped
        self.note = note
    }
}

/// The next slots of a job: times, or with `notes` objects.
package enum WireNextSlots: Hashable, Sendable {
    /// The slots alone.
    case times([Timestamp])
    /// The slots and skipped times, each with what a change of the clock does to it.
    case slots([WireSlot])
}

extension WireNextSlots: Codable {
    /// Reads either array; an empty one is ``times(_:)``.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let times = try? container.decode([Timestamp].self) {
            self = .times(times)
        } else {
            self = .slots(try container.decode([WireSlot].self))
        }
    }

    /// Writes the array.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .times(let times): try container.encode(times)
        case .slots(let slots): try container.encode(slots)
        }
    }
}
