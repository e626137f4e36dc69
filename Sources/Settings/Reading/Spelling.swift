/// Finds the word that was probably meant.
enum Spelling {
    /// The word that is nearest to `word`, at most two edits away, of a short word one; nil: none is.
    static func nearest(to word: String, among words: [String]) -> String? {
        words.map { ($0, distance(Array(word), Array($0))) }
            .filter { $0.1 <= (word.count < 5 ? 1 : 2) && $0.1 < $0.0.count }
            .min { $0.1 < $1.1 }?.0
    }

    /// How many letters must be put in, taken out, changed or swapped with a neighbour.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var before: [Int] = []
        var above = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var line = [row + 1]
            for (column, other) in right.enumerated() {
                var least = min(
                    above[column + 1] + 1, line[column] + 1, above[column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    least = min(least, before[column - 1] + 1)
                }
                line.append(least)
            }
            (before, above) = (above, line)
        }
        return above[right.count]
    }
}
