/// Where notices go, and whether they get there.
package struct WireChannel: Hashable, Sendable, Codable {
    /// Its name in the configuration.
    package var name: String
    /// `desktop` or `webhook`.
    package var kind: String
    /// `working`, `away` (nobody at the far end), `failing`, `disabled`, or `untried`.
    package var state: String
    /// Since when it is in that state.
    package var since: Timestamp?
    /// The last failure, one line without secrets.
    package var lastError: String?

    /// A channel in a state, nothing said about the past.
    package init(name: String, kind: String, state: String) {
        self.name = name
        self.kind = kind
        self.state = state
    }
}
