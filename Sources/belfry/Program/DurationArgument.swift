import ArgumentParser
import Timeline

/// A duration such as `90s`, `15m` or `1h30m`.
struct DurationArgument: Hashable, Sendable {
    let duration: Duration

    /// The duration that `text` names.
    ///
    /// - Throws: what is wrong with it, as the parser shows it behind the name of the option.
    @Sendable static func read(_ text: String) throws -> DurationArgument {
        do throws(TimelineError) {
            return DurationArgument(duration: try Duration(text: text))
        } catch {
            guard error.problem == .outOfRange else {
                throw ValidationError("it is not a duration; write one such as 90s, 15m, 2h or 7d")
            }
            throw ValidationError("\(error)")
        }
    }

    var milliseconds: Int64 { duration.milliseconds }
}
