/// Finds the line of a run's output that explains best why it failed.
///
/// A line that is recognisably an error comes first: the clearest kind, and of those the last. Else it is the last line
/// of standard error, else of the output; hints, stack frames and rulers are passed over where there is anything else.
package enum FailureLine {
    /// How much a line explains; the higher, the better.
    private enum Rank: Int, Comparable {
        /// A hint, a stack frame, a ruler, a warning.
        case aside
        /// Anything else.
        case plain
        /// An error that only repeats that there was one: `make: *** [all] Error 2`.
        case summary
        /// What usually is one: `cannot open /x`.
        case likely
        /// An error by its mark: `error:`, `fatal:`, `E:`.
        case marked
        /// The message of an exception, a panic, or a crash.
        case raised

        static func < (one: Rank, other: Rank) -> Bool { one.rawValue < other.rawValue }
    }

    /// The line.
    ///
    /// - Parameters:
    ///   - output: what was printed, standard error included where both go one way.
    ///   - errors: standard error, where it goes its own.
    /// - Returns: nil: nothing was printed.
    package static func find(in output: LastLines, errors: LastLines = LastLines([])) -> String? {
        let ranked = [errors, output].map { ranks(of: $0.lines) }
        for found in ranked {
            guard let best = found.map(\.rank).max(), best > .plain else { continue }
            return found.last { $0.rank == best }?.text
        }
        for least in [Rank.plain, .aside] {
            for found in ranked { if let last = found.last(where: { $0.rank == least }) { return last.text } }
        }
        return nil
    }

    private static func ranks(of lines: [LastLines.Line]) -> [(text: String, rank: Rank)] {
        // Whether an exception's message is still to come, and whether it is the very next line.
        var (awaitsMessage, isNext) = (false, false)
        return lines.map { line in
            let signs = Signs(line.text)
            var rank = rank(of: line, signs)
            if isNext || awaitsMessage && !line.isIndented && rank != .aside {
                (rank, awaitsMessage, isNext) = (.raised, false, false)
            } else if signs.beginsWith("traceback (most recent call last)") {
                (rank, awaitsMessage) = (.aside, true)
            } else if rank == .raised, signs.has(" panicked at "), line.text.utf8.last == 0x3A {
                // Rust prints the place, then the message.
                isNext = true
            }
            return (line.text, rank)
        }
    }

    private static func rank(of line: LastLines.Line, _ signs: Signs) -> Rank {
        if !signs.hasWords || signs.begins(with: asides) || line.isIndented && signs.begins(with: frames) {
            return .aside
        }
        if signs.has(any: denials) { return .plain }
        if signs.has(any: summaries)
            || signs.beginsWith("make") && (signs.has(": *** ") || signs.has(" *** ["))
        {
            return .summary
        }
        if signs.namesException || signs.begins(with: raises) || signs.has(any: crashes) { return .raised }
        if signs.begins(with: marks) || signs.has(any: marksInside) || line.text.hasErrorWord {
            return .marked
        }
        return signs.has(any: complaints) ? .likely : .plain
    }

    // All in lower case.

    private static let asides = [
        "note:", "hint:", "help:", "info:", "warning:", "warn:", "[info]", "[debug]", "[warn", "debug:",
        "during handling of the above", "the above exception was", "node.js v", "goroutine ",
        "usage:", "for more information", "a complete log of this run", "npm err! a complete log",
        "stack trace", "stack backtrace",
    ]
    private static let frames = ["at ", "file \"", "from ", "in ", "^", "|", "..."]
    private static let denials = [
        "no error", "without error", "0 error", "errors: 0", "errors=0", "0 failed", "0 failures",
        "no failures", "failed: 0", "failures: 0", "error: none", "error: null",
    ]
    private static let summaries = [
        "could not compile", "due to previous error", "see previous errors", "aborting due to",
        "returned a non-zero code", "exited with code", "exit status ", "exit code ",
        "exiting with failure status",
        "command failed with", "build failed", "rsync error:", "returned exit code", "npm err! code ",
        "npm err! errno", "script returned",
    ]
    private static let raises = [
        "panic:", "fatal error:", "exception in thread", "caused by:", "uncaught", "unhandled", "thread '",
        "assertion failed", "fatal python error",
    ]
    private static let crashes = [
        " panicked at ", "segmentation fault", "bus error", "core dumped", "stack overflow", "out of memory",
        "assertion `", "double free", "illegal instruction", "floating point exception",
    ]
    private static let marks = [
        "e:", "err:", "!!", "failed:", "failure:", "fail:", "critical:", "panic ", "abort:", "aborted:",
        "alert:",
        "emerg:", "not ok ",
    ]
    private static let marksInside = [
        "error:", "error[", "[error]", "error!", "fatal:", "[fatal]", "level=error", "level=fatal",
        "npm err!",
        "\"level\":\"error\"", "error response from", "errno ", "critical error", "fatal error",
        "exception:", "no such file or directory", "no space left on device", "permission denied",
        "command not found", "connection refused", "connection reset", "connection timed out",
        "no route to host", "name or service not known", "could not resolve", "read-only file system",
        "operation not permitted", "input/output error", "device or resource busy", "disk quota exceeded",
        "too many open files", "access denied", "cannot allocate memory", "broken pipe",
    ]
    private static let complaints = [
        "cannot ", "can't ", "could not ", "couldn't ", "unable to ", "failed", "failure", "not found",
        "denied",
        "refused", "timed out", "timeout", "invalid ", "missing ", "unknown ", "unexpected ",
        "does not exist",
        "doesn't exist", "not a directory", "is a directory", "already exists", "unrecognized ",
        "unrecognised ", "unreachable", "expired", "rejected", "corrupt", "mismatch", "terminated", "aborted",
    ]
}

extension String {
    /// Whether a word of it is the level of a log line: `ERROR`, `FATAL`, `CRITICAL`, `FAILED`; in capitals alone, since
    /// in small letters these are words like others.
    fileprivate var hasErrorWord: Bool {
        utf8.split { !(0x41...0x5A).contains($0) && $0 != 0x5F && !(0x61...0x7A).contains($0) }.contains {
            word in
            ["ERROR", "FATAL", "CRITICAL", "FAILED", "PANIC", "SEVERE"].contains {
                word.elementsEqual($0.utf8)
            }
        }
    }
}

/// A line in small letters, to look for signs in.
private struct Signs {
    private let bytes: [UInt8]
    private let original: String

    init(_ text: String) {
        original = text
        bytes = text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }

    /// Whether it holds a letter or a digit.
    var hasWords: Bool { original.contains { $0.isLetter || $0.isNumber } }

    /// Whether it begins with the name of an exception, as `ValueError: no such column`, `java.io.IOException: x`.
    var namesException: Bool {
        let name = original.utf8.prefix { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2E, 0x5F, 0x24: true
            default: false
            }
        }
        guard name.count == original.utf8.count || original.utf8.dropFirst(name.count).first == 0x3A else {
            return false
        }
        return ["Error", "Exception", "Interrupt", "SystemExit", "Failure"].contains { ending in
            name.count > ending.utf8.count && name.suffix(ending.utf8.count).elementsEqual(ending.utf8)
                || ending != "Failure" && ending != "Interrupt" && name.elementsEqual(ending.utf8)
        }
    }

    func beginsWith(_ sign: String) -> Bool { bytes.starts(with: sign.utf8) }

    func begins(with signs: [String]) -> Bool { signs.contains(where: beginsWith) }

    func has(any signs: [String]) -> Bool { signs.contains(where: has) }

    func has(_ sign: String) -> Bool {
        let sign = Array(sign.utf8)
        guard sign.count <= bytes.count else { return false }
        // `10 errors` does not hold `0 error`.
        let isNumber = (0x30...0x39).contains(sign[0])
        return (0...(bytes.count - sign.count)).contains { start in
            bytes[start] == sign[0] && bytes[start...].starts(with: sign)
                && !(isNumber && start > 0 && (0x30...0x39).contains(bytes[start - 1]))
        }
    }
}

/// That a program is in none of the folders it was looked for in: the sentence, and the part of it that fits a line.
package struct MissingProgram: Hashable, Sendable {
    /// `no program "foo"`.
    package let headline: String
    /// The folders, separated by colons.
    private let path: String

    /// The program of this name, which has no slash, was looked for in `path`.
    package init(_ name: String, in path: String) {
        headline = Self.start + name + "\""
        self.path = path
    }

    /// Reads ``sentence``; nil for any other text.
    package init?(_ sentence: String) {
        let rest = sentence.dropFirst(Self.start.count)
        guard sentence.hasPrefix(Self.start), let end = rest.firstRange(of: "\" in ") else { return nil }
        self.init(String(rest[..<end.lowerBound]), in: String(rest[end.upperBound...]))
    }

    /// `no program "foo" in /usr/bin:/bin`.
    package var sentence: String { "\(headline) in \(path)" }

    /// A sentence of this form without its folders; any other text as it is.
    package static func headline(of text: String) -> String { MissingProgram(text)?.headline ?? text }

    private static let start = "no program \""
}
