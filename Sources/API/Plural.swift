/// Counts with their nouns.
package enum Plural {
    /// `1 job`, `2 jobs`: the noun with an s unless there is exactly one.
    package static func of(_ count: Int, _ noun: String) -> String {
        count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
    }
}
