/// Asks that something be said to the person.
package struct NotifyRequest: Hashable, Sendable, Codable {
    /// What to say; not only blanks.
    package var text: String
    /// A line above it.
    package var title: String?
    /// Who says it; absent: `belfry`.
    package var bot: String?
    /// Absent: `main`.
    package var thread: String?
    /// `low`, `normal` or `critical`; absent: normal.
    package var urgency: String?
    /// An icon's name in the theme.
    package var icon: String?
    /// A sound's name in the theme, or `none`.
    package var sound: String?
    /// A notification category such as `im.received`.
    package var category: String?
    /// What was said under this key before is replaced.
    package var replace: String?
    /// Taken back after this long, milliseconds.
    package var expireMs: Int64?

    /// A request to say `text`, everything else as usual.
    package init(text: String) {
        self.text = text
    }
}
