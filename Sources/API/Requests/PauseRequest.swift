/// Asks that a job be held still.
package struct PauseRequest: Hashable, Sendable, Codable {
    /// Why, for people.
    package var note: String?

    /// A request with a note, where there is one.
    package init(note: String? = nil) {
        self.note = note
    }
}
