/// A text that is not a schedule, with everything that is wrong in it.
public struct CronError: Error, Hashable, Sendable {
    /// The text that was read.
    public var text: String

    /// All faults, in order of their place; never empty.
    public var faults: [CronFault]

    init(text: String, faults: [CronFault]) {
        self.text = text
        self.faults = faults
    }

    init(text: String, _ fault: CronFault) {
        self.init(text: text, faults: [fault])
    }

    /// The text with a line of carets and words under it for each fault.
    ///
    /// ```
    /// 0 25 * * *
    ///   ^^ hour: 25 is outside 0-23 (columns 3-4)
    /// ```
    public var drawing: String {
        ([Self.shown(text)] + faults.map { Self.draw($0.range, Self.say($0), under: text) })
            .joined(separator: "\n")
    }

    /// How many characters of a text are shown; anything may have been given.
    private static let shownCharacters = 256

    /// The beginning of `text`, all of it where it is not far too long.
    static func shown(_ text: String) -> String {
        let start = text.prefix(shownCharacters)
        return start.endIndex == text.endIndex ? text : start + "…"
    }

    /// One line of carets under `range` of `text`, followed by `words` and the columns.
    ///
    /// An empty range is shown as one caret where something is missing. Columns count characters from 1.
    static func draw(_ range: Range<Int>, _ words: String, under text: String) -> String {
        let bytes = Array(text.utf8)
        func column(_ offset: Int) -> Int {
            String(decoding: bytes[..<min(offset, bytes.count)], as: UTF8.self).count
        }
        let start = column(range.lowerBound)
        let width = max(1, column(range.upperBound) - start)
        let carets = max(1, min(width, shownCharacters + 1 - start))
        let place = width == 1 ? "column \(start + 1)" : "columns \(start + 1)-\(start + width)"
        return String(repeating: " ", count: min(start, shownCharacters))
            + String(repeating: "^", count: carets)
            + " \(words) (\(place))"
    }

    private static func say(_ fault: CronFault) -> String {
        let place = fault.field.map { "\($0.title): " } ?? ""
        return place + fault.message + (fault.fix.map { "; \($0)" } ?? "")
    }
}

extension CronError: CustomStringConvertible {
    /// The faults as one line, without the drawing.
    public var description: String { faults.map(Self.say).joined(separator: "; ") }
}
