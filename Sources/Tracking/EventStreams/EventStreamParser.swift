/// Reads a stream of server-sent events, however its bytes are cut.
///
/// Pure and bounded: a line and an event have a largest size, so that no server can make anyone hold more. An event
/// that the end of the stream cuts off is never reported.
///
/// - Source: WHATWG HTML, 9.2.6 "Interpreting an event stream".
package struct EventStreamParser: Sendable {
    /// One event.
    package struct Event: Hashable, Sendable {
        /// Its type; `message` where the stream names none.
        package var name: String
        /// Its data; several lines are joined by line feeds.
        package var data: [UInt8]
        /// The id it has itself; see ``EventStreamParser/lastEventID`` for the one that is valid.
        package var id: String?

        /// An event of the given parts.
        package init(name: String = "message", data: [UInt8], id: String? = nil) {
            self.name = name
            self.data = data
            self.id = id
        }
    }

    /// The other side sends what no honest server sends.
    package enum Failure: Error, Hashable, Sendable {
        /// A line is longer than this many bytes.
        case lineTooLong(limit: Int)
        /// The data of an event is longer than this many bytes.
        case eventTooLong(limit: Int)
    }

    /// The id with which a reader resumes; empty before the stream named one.
    package private(set) var lastEventID = ""
    /// How long the server asks to wait before another connection; `nil` when it did not.
    package private(set) var retry: Duration?

    private let eventLimit: Int
    private var lines: LineCutter
    private var isAtStart = true
    private var name: String?
    private var id: String?
    private var data: [UInt8] = []
    private var hasData = false

    /// A parser at the beginning of a stream; the limits are 4 MiB unless set otherwise.
    package init(lineLimit: Int = 4 << 20, eventLimit: Int = 4 << 20) {
        self.eventLimit = eventLimit
        lines = LineCutter(limit: lineLimit)
    }

    /// Reads the next bytes and calls `body` with each event that they complete, in order.
    ///
    /// - Throws: ``Failure``; the stream is of no use afterwards.
    package mutating func receive(
        _ piece: ArraySlice<UInt8>, _ body: (Event) -> Void
    ) throws(Failure) {
        var rest = piece
        while let line = try nextLine(in: &rest) {
            if let event = try endLine(line) { body(event) }
        }
    }

    private mutating func nextLine(in rest: inout ArraySlice<UInt8>) throws(Failure) -> ArraySlice<UInt8>? {
        do throws(LineCutter.TooLong) {
            return try lines.next(in: &rest)
        } catch {
            throw .lineTooLong(limit: error.limit)
        }
    }

    private mutating func endLine(_ whole: ArraySlice<UInt8>) throws(Failure) -> Event? {
        var line = whole
        if isAtStart {
            isAtStart = false
            // The byte order mark of a stream that an editor wrote.
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var start = min(colon + 1, line.endIndex)
        if start < line.endIndex, line[start] == UInt8(ascii: " ") { start += 1 }
        let value = line[start...]
        try apply(field: line[..<colon], value: value)
        return nil
    }

    /// Applies one field; a comment has no name, and unknown names are for later versions.
    private mutating func apply(
        field: ArraySlice<UInt8>, value: ArraySlice<UInt8>
    ) throws(Failure) {
        if Self.names(field, Self.dataField) {
            guard data.count + value.count < eventLimit else { throw .eventTooLong(limit: eventLimit) }
            if hasData { data.append(0x0A) }
            hasData = true
            data.append(contentsOf: value)
        } else if Self.names(field, Self.eventField) {
            name = String(decoding: value, as: UTF8.self)
        } else if Self.names(field, Self.idField) {
            if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        } else if Self.names(field, Self.retryField) {
            let isNumber = !value.isEmpty && value.allSatisfy { (0x30...0x39).contains($0) }
            if isNumber, let milliseconds = Int64(String(decoding: value, as: UTF8.self)) {
                retry = .milliseconds(milliseconds)
            }
        }
    }

    /// Whether the bytes are that name; many times as fast as comparing two sequences.
    private static func names(_ field: ArraySlice<UInt8>, _ name: [UInt8]) -> Bool {
        guard field.count == name.count else { return false }
        for index in name.indices where field[field.startIndex + index] != name[index] { return false }
        return true
    }

    private mutating func dispatch() -> Event? {
        defer {
            name = nil
            id = nil
            hasData = false
        }
        if let id { lastEventID = id }
        guard hasData else { return nil }
        let event = Event(
            name: name.flatMap { $0.isEmpty ? nil : $0 } ?? "message", data: data, id: id)
        data = []
        return event
    }

    private static let dataField = Array("data".utf8)
    private static let eventField = Array("event".utf8)
    private static let idField = Array("id".utf8)
    private static let retryField = Array("retry".utf8)
}
