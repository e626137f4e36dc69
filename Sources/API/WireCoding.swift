package import Timeline
import Tracking

/// Turns wire values into JSON and back.
package enum WireCoding {
    /// The JSON of `value`: UTF-8, one line, keys in order of the alphabet, absent parts left out.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/internalFault`` for a value JSON can't say, such as a number
    ///   that is not one.
    package static func encode(_ value: some Encodable) throws(APIError) -> [UInt8] {
        do {
            return try JSON.encode(value, sorted: true)
        } catch {
            throw APIError(.internalFault, "a value could not be written as JSON")
        }
    }

    /// The JSON of `value` as text; see ``encode(_:)``.
    package static func text(_ value: some Encodable) throws(APIError) -> String {
        String(decoding: try encode(value), as: UTF8.self)
    }

    /// The value that `bytes` hold as JSON; unknown keys are ignored, for the contract may grow.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/badJSON`` that names the place at fault.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: some Sequence<UInt8>
    ) throws(APIError) -> Value {
        do {
            return try JSON.decode(type, from: bytes)
        } catch let error as DecodingError {
            throw APIError(.badJSON, "the JSON is refused: \(explain(error))")
        } catch {
            throw APIError(.badJSON)
        }
    }

    private static func explain(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, let context):
            "\"\(path(context.codingPath + [key]))\" is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            context.codingPath.isEmpty
                ? context.debugDescription : "\"\(path(context.codingPath))\" has the wrong type"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty
                ? context.debugDescription : "\"\(path(context.codingPath))\": \(context.debugDescription)"
        @unknown default:
            "it does not fit"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }
}

/// A moment as the wire writes it: ISO 8601 text with an offset.
///
/// Written in UTC with `Z`, or with the offset of a zone it belongs to; read with any offset, which is kept.
package struct Timestamp: Comparable, Sendable {
    /// The moment itself.
    package let moment: Moment
    /// How it is written where that is not in UTC.
    private let local: String?

    /// ISO 8601 text, in UTC unless it belongs to a zone.
    var text: String { local ?? moment.iso8601 }

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
        try container.encode(text)
    }
}

/// The part of a request's target after `?`.
package struct Query: Hashable, Sendable {
    /// Names and values, decoded, in order.
    package private(set) var pairs: [Pair]

    /// A name with its value.
    package struct Pair: Hashable, Sendable {
        /// Decoded.
        package var name: String
        /// Decoded; empty when there is no `=`.
        package var value: String
    }

    /// An empty query.
    package init() {
        pairs = []
    }

    /// Reads `a=1&b=2`; a pair that can't be decoded is left out.
    package init(_ text: some StringProtocol) {
        pairs = text.split(separator: "&").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentCoding.decode(parts[0]),
                let value = parts.count > 1 ? PercentCoding.decode(parts[1]) : ""
            else { return nil }
            return Pair(name: name, value: value)
        }
    }

    /// The first value of `name`; setting nil removes it.
    package subscript(name: String) -> String? {
        get { pairs.first { $0.name == name }?.value }
        set {
            pairs.removeAll { $0.name == name }
            if let newValue { pairs.append(Pair(name: name, value: newValue)) }
        }
    }

    /// `?a=1&b=2`, or nothing when there is nothing in it.
    package var suffix: String {
        guard !pairs.isEmpty else { return "" }
        return "?"
            + pairs.map { PercentCoding.encode($0.name) + "=" + PercentCoding.encode($0.value) }
            .joined(separator: "&")
    }
}

/// Escapes text for a path segment or a query.
///
/// - Source: RFC 3986, 2.1 and 2.3.
package enum PercentCoding {
    /// `text` with every byte but letters, digits and `-._~` escaped.
    package static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text that `text` stands for; nil when an escape is broken or the bytes are no UTF-8.
    package static func decode(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(value), let low = rest.next().flatMap(value) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}

/// One event of an event stream.
///
/// - Source: WHATWG HTML, 9.2 "Server-sent events".
package struct ServerSentEvent: Hashable, Sendable {
    /// Where a reader resumes; absent for what is never sent again, such as live states.
    package var id: String?
    /// The event's name; absent: `message`.
    package var name: String?
    /// The lines of its data, joined by line feeds.
    package var data: String

    /// An event of the given parts; a line end in `id` or `name` is dropped.
    package init(id: String? = nil, name: String? = nil, data: String) {
        self.id = id
        self.name = name
        self.data = data
    }

    /// The bytes of it in a stream, with the empty line that ends it.
    package var bytes: [UInt8] {
        var text = ""
        if let id { text += "id: \(Self.oneLine(id))\n" }
        if let name { text += "event: \(Self.oneLine(name))\n" }
        // By bytes: to a string, "\r\n" is one character and no line feed.
        for line in data.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            text += "data: \(Self.oneLine(String(Substring(line))))\n"
        }
        return Array((text + "\n").utf8)
    }

    /// The bytes of a comment: keeps a stream alive, means nothing.
    package static let heartbeat: [UInt8] = Array(": \n\n".utf8)

    private static func oneLine(_ text: String) -> String {
        // Of JSON, nothing has to be left out.
        guard text.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D || $0 == 0 }) else { return text }
        return String(
            text.unicodeScalars.filter { $0 != "\n" && $0 != "\r" && $0 != "\0" }.map(Character.init))
    }
}

/// Takes an event stream apart, however its bytes are cut.
///
/// - Source: WHATWG HTML, 9.2.6 "Interpreting an event stream".
package struct ServerSentEventParser: Sendable {
    /// Longer lines or events are an error of the other side.
    package static let limit = 4 * 1024 * 1024

    /// The id of the last event that had one; goes into `Last-Event-ID` of the next connection.
    package var lastEventID: String? { parser.lastEventID.isEmpty ? nil : parser.lastEventID }

    private var parser = EventStreamParser(lineLimit: limit, eventLimit: limit)

    /// A parser at the beginning of a stream.
    package init() {}

    /// The events that `bytes` complete.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/notBelfry`` when a line or an event exceeds ``limit``.
    package mutating func receive(_ bytes: some Sequence<UInt8>) throws(APIError) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        do throws(EventStreamParser.Failure) {
            try parser.receive(Array(bytes)[...]) { events.append(ServerSentEvent($0)) }
        } catch {
            throw APIError(.notBelfry, "an event of the stream is larger than 4 MiB")
        }
        return events
    }
}

extension ServerSentEvent {
    fileprivate init(_ event: EventStreamParser.Event) {
        self.init(
            id: event.id, name: event.name == "message" ? nil : event.name,
            data: String(decoding: event.data, as: UTF8.self))
    }
}
