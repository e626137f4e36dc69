/// What runs of several jobs have in common, and how many of them may be under way at a time.
///
/// Where jobs name one key with different numbers, each waits for its own.
package struct ConcurrencyKey: Hashable, Sendable, Codable {
    /// 1 to ``longest`` bytes, any text.
    package var key: String
    /// 1 or more.
    package var max: Int

    /// How long a key may be, in bytes.
    package static let longest = 100

    /// The key; `max` is 1 unless it says otherwise.
    package init(key: String, max: Int = 1) {
        self.key = key
        self.max = max
    }
}
