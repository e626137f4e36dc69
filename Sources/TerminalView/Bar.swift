/// A bar of whole cells, drawn to the eighth of a cell where the terminal can.
package enum Bar {
    private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// The filled and the empty part of a bar of `width` cells at `progress` (0...1).
    ///
    /// The filled part reaches the end only at 1.
    package static func parts(_ progress: Double, width: Int, glyphs: Bool) -> (full: String, rest: String) {
        let part = min(max(progress, 0), 1)
        guard glyphs else {
            let full = Int(part * Double(width))
            let head = full < width && part > 0
            return (
                String(repeating: "#", count: full) + (head ? ">" : ""),
                String(repeating: "-", count: width - full - (head ? 1 : 0))
            )
        }
        let eighth = part < 1 ? min(Int(part * Double(width * 8)), width * 8 - 1) : width * 8
        let tip = eighths[eighth % 8]
        return (
            String(repeating: "█", count: eighth / 8) + tip,
            String(repeating: "·", count: width - eighth / 8 - (tip.isEmpty ? 0 : 1))
        )
    }
}
