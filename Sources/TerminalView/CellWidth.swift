/// How many cells of a terminal a text takes.
///
/// Where terminals differ, the wider answer: a row that is a cell short looks a little odd, one that is a
/// cell too long breaks the frame.
/// - Source: Unicode Standard Annex 11; wcwidth as Markus Kuhn's and its Python port define it.
package enum CellWidth {
    /// The cells of a whole text; control characters count none and should not be there.
    package static func of(_ text: some StringProtocol) -> Int {
        var cells = 0
        for byte in text.utf8 {
            guard (0x20..<0x7F).contains(byte) else {
                return text.reduce(0) { $0 + of($1) }
            }
            cells += 1
        }
        return cells
    }

    /// The cells of what a person sees as one character.
    package static func of(_ character: Character) -> Int {
        var cells = 0
        var isJoined = false
        for scalar in character.unicodeScalars {
            switch scalar.value {
            case 0x200D: isJoined = true
            // The emoji form of what is else a narrow sign.
            case 0xFE0F: cells = max(cells, 2)
            // A skin tone colours the emoji before it.
            case 0x1F3FB...0x1F3FF where cells > 0: break
            default:
                if !isJoined { cells += of(scalar) }
                isJoined = false
            }
        }
        return cells
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        // Latin, and what bars are drawn with: most of what is not ASCII, without a look into the tables.
        // Soft hyphens are drawn.
        if (0x20..<0x7F).contains(value) || (0xA0..<0x300).contains(value) { return 1 }
        if (0x2500...0x25FC).contains(value) { return 1 }
        if isWide(value) || scalar.properties.isEmojiPresentation { return isRegional(value) ? 1 : 2 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control, .surrogate, .lineSeparator,
            .paragraphSeparator:
            return 0
        default: return isHangulTail(value) ? 0 : 1
        }
    }

    /// Half a flag; two of them make one of two cells.
    private static func isRegional(_ value: UInt32) -> Bool { (0x1F1E6...0x1F1FF).contains(value) }

    /// Vowels and final consonants that go into the cells of the consonant before them.
    private static func isHangulTail(_ value: UInt32) -> Bool {
        (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value)
    }

    private static func isWide(_ value: UInt32) -> Bool {
        guard value >= 0x1100 else { return false }
        var low = 0
        var high = wide.count
        while low < high {
            let middle = (low + high) / 2
            if wide[middle].upperBound < value { low = middle + 1 } else { high = middle }
        }
        return low < wide.count && wide[low].contains(value)
    }

    /// East Asian wide and fullwidth, without the emoji; ranges that are wide but for a few gaps are whole.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1D300...0x1D376, 0x1F200...0x1F2FF,
        0x20000...0x3FFFD,
    ]
}
