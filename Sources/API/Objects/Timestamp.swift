package import Timeline

/// A moment as the wire writes it: ISO 8601 text with an offset.
///
/// Written in UTC with `Z`; read with any offset.
package struct Timestamp: Hashable, Comparable, Sendable {
    /// The moment itself.
    package var moment: Moment

    /// `moment`, to be written as text.
    package init(_ moment: Moment) {
        self.moment = moment
    }

    /// `moment`, or nil where there is none.
    package init?(_ moment: Moment?) {
        guard let moment else { return nil }
        self.moment = moment
    }

    /// Earlier moments are smaller.
    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.moment < right.moment }
}

extension Timestamp: Codable {
    /// Reads ISO 8601 text; anything else is a `DecodingError`.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do {
            moment = try Moment(iso8601: text)
        } catch {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\"\(text)\" is not an ISO 8601 time with an offset")
        }
    }

    /// Writes ISO 8601 text in UTC.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(moment.iso8601)
    }
}
