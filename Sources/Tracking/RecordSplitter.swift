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
