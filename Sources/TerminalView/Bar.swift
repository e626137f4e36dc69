/// A bar of whole cells, drawn to the eighth of a cell where the terminal can.
package enum Bar {
    private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// The two parts of a bar.
    package struct Parts: Hashable, Sendable {
        /// What is done, to the eighth of a cell.
        package var full: String
        /// The cells of ``full``.
        package var fullCells: Int
        /// What is left.
        package var rest: String
    }

    /// A bar of `width` cells at `progress` (0...1); what is done reaches the end only at 1.
    package static func parts(_ progress: Double, width: Int, glyphs: Bool) -> Parts {
        let part = min(max(progress, 0), 1)
        guard glyphs else {
            let full = Int(part * Double(width))
            let head = full < width && part > 0 ? ">" : ""
            return parts(String(repeating: "#", count: full) + head, full + head.count, width, "-")
        }
        let eighth = part < 1 ? min(Int(part * Double(width * 8)), width * 8 - 1) : width * 8
        let tip = eighths[eighth % 8]
        let cells = eighth / 8 + (tip.isEmpty ? 0 : 1)
        return parts(String(repeating: "█", count: eighth / 8) + tip, cells, width, "·")
    }

    private static func parts(_ full: String, _ cells: Int, _ width: Int, _ empty: String) -> Parts {
        Parts(full: full, fullCells: cells, rest: String(repeating: empty, count: width - cells))
    }
}
