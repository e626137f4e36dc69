/// A warning or a fault of an expression, with its place.
package struct WireRemark: Hashable, Sendable, Codable {
    /// What is wrong, as programs compare it.
    package var kind: String
    /// The field it is in; absent when it concerns the whole text.
    package var field: String?
    /// The first byte at fault.
    package var start: Int
    /// The byte behind the last one at fault.
    package var end: Int
    /// One sentence without a full stop.
    package var message: String
    /// What to write instead, where that is known.
    package var fix: String?

    /// A remark on the bytes `range`.
    package init(
        kind: String, field: String? = nil, range: Range<Int>, message: String, fix: String? = nil
    ) {
        self.kind = kind
        self.field = field
        self.start = range.lowerBound
        self.end = range.upperBound
        self.message = message
        self.fix = fix
    }
}
