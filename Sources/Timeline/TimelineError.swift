/// Why a text or a block of bytes is not a time, a duration or a zone.
///
/// The place is a range of bytes of what was read, so that a caller can draw a caret under it.
public struct TimelineError: Error, Hashable, Sendable {
    /// What was being read.
    public enum Problem: String, Hashable, Sendable {
        /// The text is not an ISO 8601 time.
        case notATime
        /// The text is not a duration such as `1h30m`.
        case notADuration
        /// The bytes are not a TZif file, or not one this decoder reads.
        case notZoneData
        /// The text is not a POSIX `TZ` rule.
        case notAZoneRule
        /// The value is too large for the type that holds it.
        case outOfRange
    }

    /// What kind of thing could not be read.
    public var problem: Problem

    /// The bytes at fault, as UTF-8 offsets; empty where something is missing.
    public var range: Range<Int>

    /// What is wrong, as one sentence without a full stop.
    public var message: String

    /// What to write instead, where that is known.
    public var fix: String?

    init(_ problem: Problem, at range: Range<Int>, _ message: String, fix: String? = nil) {
        self.problem = problem
        self.range = range
        self.message = message
        self.fix = fix
    }
}

extension TimelineError: CustomStringConvertible {
    /// The message, followed by the fix where there is one.
    public var description: String {
        fix.map { "\(message); \($0)" } ?? message
    }
}
