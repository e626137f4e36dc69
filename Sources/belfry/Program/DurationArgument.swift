import ArgumentParser
import Timeline

/// A duration such as `90s`, `15m` or `1h30m`.
struct DurationArgument: Hashable, Sendable {
    let duration: Duration

    /// The duration that `text` names.
    ///
    /// - Throws: what to write instead, as the parser shows it behind the name of the option.
    @Sendable static func read(_ text: String) throws -> DurationArgument {
        try read(text, unit: "m")
    }

    /// The same for an option whose values are mostly seconds.
    @Sendable static func readSeconds(_ text: String) throws -> DurationArgument {
        try read(text, unit: "s")
    }

    private static func read(_ text: String, unit: String) throws -> DurationArgument {
        do throws(TimelineError) {
            return DurationArgument(duration: try Duration(text: text))
        } catch {
            guard error.problem == .outOfRange else {
                throw ValidationError(
                    meant(by: text, unit: unit).map { "write \($0)" }
                        ?? "write one such as 90s, 15m, 2h or 7d")
            }
            throw ValidationError("\(error)")
        }
    }

    var milliseconds: Int64 { duration.milliseconds }

    /// What was probably meant: `5m` by `5`, `10s` by `10 sec`, `1h30m` by `1.5 hours`.
    ///
    /// - Parameters:
    ///   - text: anything but a duration.
    ///   - unit: the unit of a bare number.
    /// - Returns: a duration as it is to be written; nil where nobody knows.
    static func meant(by text: String, unit: String) -> String? {
        let text = text.lowercased().filter { !$0.isWhitespace }
        guard text.utf8.count <= 20 else { return nil }
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let word = String(text[number.endIndex...])
        let size = units.first { word.isEmpty ? $0.names[0] == unit : $0.names.contains(word) }
        guard let count = Double(number), let size, count > 0, count * size.seconds < 100 * 365 * 86_400
        else {
            return nil
        }
        return Duration.milliseconds(Int64((count * size.seconds * 1000).rounded())).text
    }

    private static let units: [(names: [String], seconds: Double)] = [
        (["s", "sec", "secs", "second", "seconds"], 1), (["m", "min", "mins", "minute", "minutes"], 60),
        (["h", "hr", "hrs", "hour", "hours"], 3600), (["d", "day", "days"], 86_400),
        (["w", "week", "weeks"], 604_800), (["ms", "msec", "millisecond", "milliseconds"], 0.001),
    ]
}
