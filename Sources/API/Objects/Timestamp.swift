package import Timeline

/// A moment as the wire writes it: ISO 8601 text with an offset.
///
/// Written in UTC with `Z`, or with the offset of a zone it belongs to; read with any offset, which is kept.
package struct Timestamp: Comparable, Sendable {
    /// The moment itself.
    package let moment: Moment
    /// How it is written where that is not in UTC.
    private let local: String?

    /// `moment`, to be written as text.
    package init(_ moment: Moment) {
        self.moment = moment
        local = nil
    }

    /// `moment`, to be written with its offset in `zone`; nil where there is none.
    package init?(_ moment: Moment?, in zone: ZoneRules) {
        guard let moment else { return nil }
        self.moment = moment
        local = zone.offsetSeconds(at: moment) == 0 ? nil : moment.iso8601(in: zone)
    }

    /// `moment`, or nil where there is none.
    package init?(_ moment: Moment?) {
        guard let moment else { return nil }
        self.init(moment)
    }

    /// Earlier moments are smaller.
    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.moment < right.moment }
}

extension Timestamp: Hashable {
    /// However they are written.
    package static func == (left: Timestamp, right: Timestamp) -> Bool { left.moment == right.moment }

    /// Of the moment alone.
    package func hash(into hasher: inout Hasher) { hasher.combine(moment) }
}

extension Timestamp: Codable {
    /// Reads ISO 8601 text; anything else is a `DecodingError`.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        local = text.hasSuffix("Z") ? nil : text
        do {
            moment = try Moment(iso8601: text)
        } catch {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\"\(text)\" is not an ISO 8601 time with an offset")
        }
    }

    /// Writes ISO 8601 text, in UTC unless it belongs to a zone.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(local ?? moment.iso8601)
    }
}
