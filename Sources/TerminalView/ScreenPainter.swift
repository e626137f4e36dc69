/// Turns frames into the bytes that fill a screen of its own, without scrollback, and no more bytes than that takes.
///
/// For a view that a person stays in. Terminals rewrap what is above the cursor of their normal screen, and push what no
/// longer fits into a history that nobody can change; on the alternate screen they do neither, and give back what was
/// there before when it is left.
///
/// - Source: xterm's control sequences, `?1049`; a terminal that does not know it shows the frames on its only screen.
package struct ScreenPainter: Sendable {
    /// The bytes that show the alternate screen.
    package static let enter = Array("\u{1B}[?1049h".utf8)
    /// The bytes that show the normal one again, with the cursor where it was.
    package static let leave = Array("\u{1B}[?1049l".utf8)
    private static let clear = Array("\u{1B}[H\u{1B}[J".utf8)

    private var shown: [FrameLine] = []
    /// Nil: nobody knows what is on the screen.
    private var size: TerminalSize?

    /// A painter of a screen whose content nobody knows.
    package init() {}

    /// Draws everything again with the next frame, as after a change of the size: what was cut off may be needed again.
    package mutating func forget() { size = nil }

    /// Makes the screen show `frame` from its first row on.
    ///
    /// The cursor waits behind the last line, hidden only within the buffer: no kill can leave it hidden.
    ///
    /// - Parameters:
    ///   - frame: what to show, made for `size`; lines that do not fit are left out.
    ///   - size: the terminal as it is now.
    /// - Returns: the bytes to write at once; none when the frame is shown already.
    package mutating func paint(_ frame: Frame, size: TerminalSize) -> [UInt8] {
        let lines = Array(frame.lines.prefix(size.rows))
        let isKnown = size == self.size
        if !isKnown { shown = [] }
        defer { (shown, self.size) = (lines, size) }
        let changed = lines.indices.filter { $0 >= shown.count || lines[$0] != shown[$0] }
        guard !isKnown || !changed.isEmpty || lines.count < shown.count else { return [] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(changed.reduce(64) { $0 + lines[$1].bytes.count + 16 })
        bytes += TerminalPainter.begin
        if !isKnown { bytes += Self.clear }
        for index in changed {
            Self.move(row: index, column: 0, &bytes)
            bytes += lines[index].bytes
            if isKnown { bytes += TerminalPainter.clearRest }
        }
        if lines.count < shown.count {
            Self.move(row: lines.count, column: 0, &bytes)
            bytes += TerminalPainter.clearBelow
        }
        let last = max(0, lines.count - 1)
        Self.move(row: last, column: min(lines.last?.cells ?? 0, size.columns - 1), &bytes)
        return bytes + TerminalPainter.end
    }

    private static func move(row: Int, column: Int, _ bytes: inout [UInt8]) {
        bytes += Array("\u{1B}[\(row + 1);\(column + 1)H".utf8)
    }
}
