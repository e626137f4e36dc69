/// A script that is run before a job's prompt, and decides whether there is anything to ask.
package struct WakeRule: Hashable, Sendable, Codable {
    /// The program with its arguments.
    package var command: [String]?
    /// How long it may take; nil: ``standardTimeout``.
    package var timeout: Duration?

    /// A rule without a script.
    package init() {}

    /// How long a script may take where nothing is said.
    package static let standardTimeout = Duration.seconds(30)
}
