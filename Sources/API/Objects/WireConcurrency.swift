/// What runs of several jobs have in common, and how many of them may be under way at a time.
package struct WireConcurrency: Hashable, Sendable, Codable {
    /// In a request an empty one takes the key away.
    package var key: String
    /// 1 or more.
    package var max: Int

    /// At most `max` runs of the key.
    package init(key: String, max: Int) {
        self.key = key
        self.max = max
    }
}
