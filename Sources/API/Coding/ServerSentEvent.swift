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
        String(text.unicodeScalars.filter { $0 != "\n" && $0 != "\r" && $0 != "\0" }.map(Character.init))
    }
}

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
            apply(field: String(decoding: line, as: UTF8.self), value: "")
            return nil
        }
        var value = line[line.index(after: colon)...]
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        apply(
            field: String(decoding: line[..<colon], as: UTF8.self),
            value: String(decoding: value, as: UTF8.self))
        return nil
    }

    private mutating func apply(field: String, value: String) {
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
