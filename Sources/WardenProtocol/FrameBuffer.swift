/// Cuts a stream of bytes into frames.
package struct FrameBuffer: Sendable {
    /// The longest frame, without its length.
    package static let limit = 4 << 20

    private var bytes: [UInt8] = []
    private var start = 0

    /// Nothing received yet.
    package init() {}

    /// Adds what was received.
    package mutating func append(_ received: ArraySlice<UInt8>) {
        if start > 0, start == bytes.count || start > 1 << 16 {
            bytes.removeSubrange(..<start)
            start = 0
        }
        bytes.append(contentsOf: received)
    }

    /// The next whole frame: its kind and its fields; nil when more bytes are needed.
    ///
    /// - Throws: ``WardenError/badFrameLength(_:)``; nothing after it can be read.
    package mutating func next() throws(WardenError) -> (kind: UInt8, fields: ArraySlice<UInt8>)? {
        guard bytes.count - start >= 4 else { return nil }
        var length = 0
        for index in 0..<4 { length |= Int(bytes[start + index]) << (8 * index) }
        guard (1...Self.limit).contains(length) else { throw .badFrameLength(length) }
        guard bytes.count - start >= 4 + length else { return nil }
        let frame = bytes[(start + 4)..<(start + 4 + length)]
        start += 4 + length
        return (frame[frame.startIndex], frame.dropFirst())
    }
}
