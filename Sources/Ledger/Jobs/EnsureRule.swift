import Timeline
import Tracking

/// What must be so when the work of a run has ended well: else the run has failed all the same.
package struct EnsureRule: Hashable, Sendable, Codable {
    /// The absolute path of a file that the run must have written: changed since its slot, or since it was started
    /// where it has none.
    package var file: String?
    /// What its output must hold; see ``TextRule``.
    package var output: String?
    /// What its bot's reply must hold.
    package var reply: String?
    /// A program with its arguments that must succeed.
    package var command: [String]?
    /// How long that program may take; nil: ``standardTimeout``.
    package var timeout: Duration?

    /// A rule that asks for nothing.
    package init() {}

    /// How long a program may take where nothing is said.
    package static let standardTimeout = Duration.seconds(60)

    /// What is wrong with a text to look for; nil: nothing.
    static func fault(inText written: String?) -> JobFault? {
        guard let written else { return nil }
        do throws(LinearPattern.Fault) {
            _ = try TextRule(written)
            return nil
        } catch {
            var fault = JobFault(
                "not a pattern: \(error.message)", hint: "without slashes the text is looked for as it is")
            fault.bytes = error.bytes
            return fault
        }
    }
}
