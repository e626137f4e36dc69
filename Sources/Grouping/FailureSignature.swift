public import Tracking

/// What makes two failures of a job the same one for a person.
///
/// Two failures are the same when they ended in the same way and said the same, numbers aside: a
/// time, a line number, a process id or a hexadecimal id in the text makes no difference.
public struct FailureSignature: Hashable, Codable, Sendable {
    /// How the run ended.
    public var state: RunState
    /// Why.
    public var reason: RunReason?
    /// The exit code, after an exit.
    public var exitCode: Int?
    /// The signal, after a signal.
    public var signal: Int?
    /// What it said, each word with a digit in it written `#`.
    public var words: String

    /// The signature of a failure.
    public init(_ fact: JobFact) {
        state = fact.state
        reason = fact.reason
        exitCode = fact.exitCode
        signal = fact.signal
        words = Self.withoutNumbers(Preview.cut(fact.text ?? "", to: 200))
    }

    /// Words hold letters, digits, and what joins the parts of times, ids and addresses.
    private static func withoutNumbers(_ line: String) -> String {
        var result = ""
        var word = ""
        func end() {
            result += word.contains(where: \.isNumber) ? "#" : word
            word = ""
        }
        for character in line {
            if character.isLetter || character.isNumber || "-_.:+".contains(character) {
                word.append(character)
            } else {
                end()
                result.append(character)
            }
        }
        end()
        return result
    }
}
