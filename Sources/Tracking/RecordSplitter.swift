import Timeline

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
