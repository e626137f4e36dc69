/// Asks for a run of a job now.
package struct RunRequest: Hashable, Sendable, Codable {
    /// Runs it although the job's overlap policy would refuse.
    package var force: Bool?
    /// Two requests of one key are one run.
    package var key: String?

    /// A request, polite and without a key unless given.
    package init(force: Bool? = nil, key: String? = nil) {
        self.force = force
        self.key = key
    }
}
