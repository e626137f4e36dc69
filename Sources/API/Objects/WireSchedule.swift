/// When a job runs.
package struct WireSchedule: Hashable, Sendable, Codable {
    /// `cron`, `every`, `after`, `at`, `startup` or `manual`.
    package var kind: String
    /// The schedule as it was written: an expression, a duration, a time; empty for `manual` and `startup`.
    package var text: String
    /// The name of the zone its wall time is read in; absent where wall time plays no part.
    package var zone: String?
    /// The schedule in words; absent where nothing better than the text can be said.
    package var words: String?

    /// A schedule of a kind.
    package init(kind: String, text: String, zone: String? = nil, words: String? = nil) {
        self.kind = kind
        self.text = text
        self.zone = zone
        self.words = words
    }
}
