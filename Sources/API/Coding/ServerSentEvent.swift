import Tracking

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
