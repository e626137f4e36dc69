/// Breaks text for people into lines that fit.
package enum LineBreaker {
    /// `text` in lines of at most `columns` cells, broken at spaces; a word that is longer stands alone.
    package static func lines(_ text: String, columns: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, CellWidth.of(last) + 1 + CellWidth.of(word) <= columns {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
