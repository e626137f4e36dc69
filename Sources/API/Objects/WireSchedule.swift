/// When a job runs.
package struct WireSchedule: Hashable, Sendable, Codable {
    /// `cron`, `calendar`, `every`, `after`, `at`, `startup` or `manual`; in a draft also `words`, whose text is a
    /// phrase.
    package var kind: String
    /// The schedule as it was written: an expression, `2w fri 17:00 from 2026-11-27`, a duration, a time; empty for
    /// `manual` and `startup`.
    package var text: String
    /// The name of the zone its wall time is read in; absent where wall time plays no part.
    package var zone: String?
    /// Where the grid of an `every` begins; in a draft absent: now.
    package var from: Timestamp?
    /// The schedule in words; absent where nothing better than the text can be said.
    package var words: String?
    /// The phrase that it was read from; absent where it was not.
    package var phrase: String?
    /// How the limits of the phrase are understood, such as `17:00 is not included`; absent where it has none.
    package var note: String?

    /// A schedule of a kind.
    package init(kind: String, text: String, zone: String? = nil, words: String? = nil) {
        self.kind = kind
        self.text = text
        self.zone = zone
        self.words = words
    }
}
