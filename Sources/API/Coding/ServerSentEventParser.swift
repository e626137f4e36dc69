/// Takes an event stream apart, however its bytes are cut.
///
/// - Source: WHATWG HTML, 9.2.6 "Interpreting an event stream".
package struct ServerSentEventParser: Sendable {
    /// Longer lines or events are an error of the other side.
    package static let limit = 4 * 1024 * 1024

    /// The id of the last event that had one; goes into `Last-Event-ID` of the next connection.
    package private(set) var lastEventID: String?

    private var line: [UInt8] = []
    private var endedByReturn = false
    private var atStart = true
    private var id: String?
    private var name: String?
    private var data: [String] = []
    private var size = 0

    /// A parser at the beginning of a stream.
    package init() {}

    /// The events that `bytes` complete.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/notBelfry`` when a line or an event exceeds ``limit``.
    package mutating func receive(_ bytes: some Sequence<UInt8>) throws(APIError) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            let followsReturn = endedByReturn
            endedByReturn = byte == 0x0D
            switch byte {
            case 0x0A where followsReturn: continue
            case 0x0A, 0x0D:
                if let event = endLine() { events.append(event) }
            default:
                line.append(byte)
                size += 1
                guard size <= Self.limit else {
                    throw APIError(.notBelfry, "an event of the stream is larger than 4 MiB")
                }
            }
        }
        return events
    }

    private mutating func endLine() -> ServerSentEvent? {
        defer {
            line.removeAll(keepingCapacity: true)
            atStart = false
        }
        if atStart, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        guard !line.isEmpty else { return dispatch() }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            take(field: String(decoding: line, as: UTF8.self), value: "")
            return nil
        }
        var value = line[line.index(after: colon)...]
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        take(
            field: String(decoding: line[..<colon], as: UTF8.self),
            value: String(decoding: value, as: UTF8.self))
        return nil
    }

    private mutating func take(field: String, value: String) {
        switch field {
        case "data": data.append(value)
        case "event": name = value
        case "id" where !value.unicodeScalars.contains("\0"): id = value
        default: break  // A comment, `retry`, or a field of a later version.
        }
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer {
            name = nil
            data = []
            id = nil
            size = 0
        }
        if let id { lastEventID = id }
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(id: id, name: name, data: data.joined(separator: "\n"))
    }
}
