import Timeline

/// Cuts a stream of bytes that comes in pieces into its lines, of bounded length.
///
/// A line ends at a line feed, a carriage return, or both together. Empty lines are lines. What stands after the last
/// line end is kept until more comes; see ``rest``.
package struct LineCutter: Sendable {
    /// The most bytes of one line.
    package let limit: Int
    private var pending: [UInt8] = []
    private var isPendingUsed = false
    private var endedByReturn = false

    /// A line is longer than the limit.
    package struct TooLong: Error, Hashable, Sendable {
        /// The limit, in bytes.
        package let limit: Int
    }

    /// A cutter at the beginning of a stream.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Removes the next whole line from the front of `piece`; `nil` when none is left, and `piece` is empty then.
    ///
    /// - Returns: the line without its end.
    /// - Complexity: O(bytes); a line that lies within one piece is not copied.
    package mutating func next(in piece: inout ArraySlice<UInt8>) throws(TooLong) -> ArraySlice<UInt8>? {
        if isPendingUsed {
            pending.removeAll(keepingCapacity: true)
            isPendingUsed = false
        }
        if endedByReturn, let first = piece.first {
            endedByReturn = false
            if first == 0x0A { piece.removeFirst() }
        }
        let start = piece.startIndex
        let end = start + Self.lengthOfLine(piece.span)
        guard pending.count + (end - start) <= limit else { throw TooLong(limit: limit) }
        guard end < piece.endIndex else {
            pending.append(contentsOf: piece)
            piece = []
            return nil
        }
        endedByReturn = piece[end] == 0x0D
        let line = piece[start..<end]
        piece = piece[(end + 1)...]
        guard !pending.isEmpty else { return line }
        pending.append(contentsOf: line)
        isPendingUsed = true
        return pending[...]
    }

    /// How many bytes stand before the first line end.
    private static func lengthOfLine(_ bytes: Span<UInt8>) -> Int {
        var length = 0
        // One comparison a byte: hardly a byte of a text is below the carriage return.
        while length < bytes.count {
            let byte = bytes[length]
            if byte <= 0x0D, byte == 0x0A || byte == 0x0D { break }
            length += 1
        }
        return length
    }

    /// What stands after the last line end.
    package var rest: ArraySlice<UInt8> { isPendingUsed ? [] : pending[...] }
}

/// Cuts a stream of bytes that comes in pieces into records.
///
/// A record ends at a line feed or a carriage return; empty ones are dropped. A record longer than
/// ``limit`` bytes is cut there, and the rest of it is dropped, so that a job can't make anyone hold more.
public struct RecordSplitter: Sendable {
    /// The most bytes of a record that are kept.
    public static let limit = 8192

    private var pending: [UInt8] = []

    /// A splitter that has seen nothing.
    public init() {}

    /// Takes the next piece and calls `body` with each record that it completes, in order.
    public mutating func split(_ piece: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>) -> Void) {
        var start = piece.startIndex
        for index in piece.indices where piece[index] == 0x0A || piece[index] == 0x0D {
            let record = piece[start..<index]
            start = index + 1
            if pending.isEmpty {
                if !record.isEmpty { body(record.prefix(Self.limit)) }
            } else {
                keep(record)
                body(pending[...])
                pending.removeAll(keepingCapacity: true)
            }
        }
        keep(piece[start...])
    }

    /// Ends the stream: hands over a last record that no separator ended.
    public mutating func finish(_ body: (ArraySlice<UInt8>) -> Void) {
        if !pending.isEmpty { body(pending[...]) }
        pending = []
    }

    private mutating func keep(_ bytes: ArraySlice<UInt8>) {
        pending.append(contentsOf: bytes.prefix(Self.limit - pending.count))
    }
}

/// Lets through at most 50 records a second; of those it holds back, it remembers the newest.
///
/// A job that prints a million lines costs no more than one that prints fifty, and its last line, which is
/// often the one that shows 100 %, is still read.
struct RecordLimiter: Sendable {
    /// The most records in any one second.
    static let perSecond = 50

    private var windowStart: Moment = .distantPast
    private var used = 0
    private var held: [UInt8]?

    /// Whether a record may be read at `now`.
    ///
    /// If not, it is held until ``takeHeld()``.
    mutating func admit(_ record: ArraySlice<UInt8>, at now: Moment) -> Bool {
        // A clock that was set back opens a new window too; else it would stay shut until it caught up.
        if now < windowStart || now - windowStart >= .seconds(1) {
            windowStart = now
            used = 0
        }
        guard used < Self.perSecond else {
            held = Array(record)
            return false
        }
        used += 1
        held = nil
        return true
    }

    /// When the record that is held may be read; `nil` when none is.
    var heldUntil: Moment? { held.map { _ in windowStart + .seconds(1) } }

    /// The newest record that was held back, if no later one was let through.
    mutating func takeHeld() -> [UInt8]? {
        defer { held = nil }
        return held
    }

    /// The record that is held, once its second has passed.
    mutating func takeHeld(at now: Moment) -> [UInt8]? {
        guard let heldUntil, now >= heldUntil || now < windowStart, let record = takeHeld() else {
            return nil
        }
        return admit(record[...], at: now) ? record : nil
    }
}

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
