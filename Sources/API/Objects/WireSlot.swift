/// A slot to come, or a local time that has none because the clock skips it.
package struct WireSlot: Hashable, Sendable, Codable {
    /// The slot; for skipped times the moment at which the clock jumps.
    package var at: Timestamp
    /// Whether nothing runs there.
    package var isSkipped: Bool
    /// What a change of the clock does at this line; absent on ordinary days.
    package var note: String?

    /// A line of a preview.
    package init(at: Timestamp, isSkipped: Bool = false, note: String? = nil) {
        self.at = at
        self.isSkipped = isSkipped
        self.note = note
    }
}
