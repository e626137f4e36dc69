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
