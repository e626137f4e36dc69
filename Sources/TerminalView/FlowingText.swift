/// Text that comes in pieces, in rows of a terminal: each as soon as it is complete.
package struct FlowingText: Hashable, Sendable {
    /// The row that is not complete.
    package private(set) var tail = ""

    /// Nothing so far.
    package init() {}

    /// The rows that `text` completes, none wider than `columns` cells.
    package mutating func receive(_ text: String, columns: Int) -> [String] {
        var rows: [String] = []
        var isFirst = true
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if !isFirst {
                rows.append(tail)
                tail = ""
            }
            isFirst = false
            tail += line
            while let row = overflow(max(2, columns)) { rows.append(row) }
        }
        return rows
    }

    /// The last row; none where nothing is left.
    package mutating func finish() -> [String] {
        defer { tail = "" }
        return tail.isEmpty ? [] : [tail]
    }

    /// Takes the first row off a tail that is too wide: to its last space, or else as much as fits.
    private mutating func overflow(_ columns: Int) -> String? {
        var (cells, end, space) = (0, tail.startIndex, String.Index?.none)
        while end < tail.endIndex {
            let width = CellWidth.of(tail[end])
            if cells + width > columns, tail[end] != " " { break }
            if tail[end] == " ", cells > 0 { space = end }
            cells += width
            end = tail.index(after: end)
        }
        guard end < tail.endIndex else { return nil }
        guard let space else {
            let row = String(tail[..<end])
            tail = String(tail[end...])
            return row
        }
        let row = String(tail[..<space])
        tail = String(tail[space...].drop { $0 == " " })
        return row
    }
}
