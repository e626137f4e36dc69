/// A crontab file as its lines say it: jobs with the environment that holds where they stand, and what could
/// not be read.
///
/// Reading a line follows Debian's cron: a line is a setting when it has the shape `name = value`, else a
/// job. Times are not checked here but in ``CrontabLine``, so that a line cron itself would refuse is shown
/// with its reason.
/// - Source: crontab(5) of Debian 12, load_env and load_entry of its cron.
public struct Crontab: Hashable, Sendable {
    /// Whose form the lines are in.
    public enum Form: String, Hashable, Sendable {
        /// A user's own, without a user column.
        case user
        /// `/etc/crontab` and `/etc/cron.d`: the word after the times names the user.
        case system
    }

    /// The longest text that is read, in bytes; cron itself stops far below.
    public static let limit = 1 << 20

    /// The last line that is read; Debian's cron stops after 1,000.
    static let lastLine = 10_000

    /// How many settings may hold at a line, for each job has its own copy of them.
    static let mostSettings = 100

    /// The form it was read in.
    public let form: Form

    /// The lines that are jobs, in order.
    public let lines: [CrontabLine]

    /// Reads `text`; one line that can't be read does not stop the others.
    ///
    /// A mark of the encoding at its beginning, as some editors write it, is no part of the first line.
    public init(_ text: String, form: Form) {
        self.form = form
        var environment: [String: String] = [:]
        var lines: [CrontabLine] = []
        var excess: String?
        for (place, line) in Self.split(text) {
            if place > Self.lastLine { excess = "a crontab has at most \(Self.lastLine) lines" }
            let rest = line.drop { $0 == 0x20 || $0 == 0x09 }
            guard let first = rest.first, first != UInt8(ascii: "#") else { continue }
            guard let setting = CrontabSetting(rest) else {
                lines.append(CrontabLine(rest, place, form, environment, problem: excess))
                continue
            }
            if environment.count < Self.mostSettings || environment[setting.name] != nil {
                if place <= Self.lastLine { environment[setting.name] = setting.value }
            } else {
                excess = excess ?? "there are more than \(Self.mostSettings) settings above it"
            }
        }
        self.lines = lines
    }

    /// The form that the columns show.
    ///
    /// The system's where the word after the times names a user in every job and a program's path follows,
    /// else the user's. `isUser` returns whether the machine has a user of that name.
    public static func form(of text: String, isUser: (String) -> Bool) -> Form {
        let read = Crontab(text, form: .system).lines
        let fits = read.allSatisfy { line in
            guard let user = line.user, isUser(user) else { return false }
            // `backup /home` is a command too, where `backup` is a user; root is never a command.
            let first = line.command.split(separator: " ").first ?? ""
            return user == "root" || first.hasPrefix("/") && first.dropFirst().contains("/")
                || ["cd", "test", "["].contains(first)
        }
        return !read.isEmpty && fits ? .system : .user
    }

    /// The lines of a text with their numbers from 1; a carriage return before a line's end is dropped.
    private static func split(_ text: String) -> [(Int, ArraySlice<UInt8>)] {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let rest = text.utf8.dropFirst(text.utf8.starts(with: mark) ? mark.count : 0)
        let parts = Array(rest).split(separator: 0x0A, omittingEmptySubsequences: false)
        return parts.enumerated().map { number, line in
            (number + 1, line.last == 0x0D ? line.dropLast() : line)
        }
    }
}

/// One job of a crontab.
public struct CrontabLine: Hashable, Sendable {
    /// Its line, from 1.
    public let number: Int

    /// The times as written, blanks made single: `30 2 * * 1-5`, `@daily`.
    public let times: String

    /// Who it runs as, in the system's form.
    public let user: String?

    /// What the shell gets, percent signs resolved.
    public let command: String

    /// What the command finds in its standard input: the text after the first `%`, later ones as line ends;
    /// `nil` when there is none.
    public let input: String?

    /// The settings above it, `MAILTO` and `CRON_TZ` among them.
    public let environment: [String: String]

    /// Why cron would refuse the line; `nil` when it is a good one.
    public let problem: String?

    /// Reads a line without the blanks in front of it; `problem` is what is wrong with it whatever it is.
    init(
        _ line: ArraySlice<UInt8>, _ number: Int, _ form: Crontab.Form, _ environment: [String: String],
        problem known: String?
    ) {
        self.number = number
        self.environment = environment
        var rest = line
        var words: [String] = []
        let count = line.first == UInt8(ascii: "@") ? 1 : 5
        while words.count < count, let word = Self.word(&rest) { words.append(word) }
        times = words.joined(separator: " ")
        user = form == .system ? Self.word(&rest) : nil
        let (command, input) = Self.split(rest)
        self.command = command
        self.input = input
        if let known {
            problem = known
        } else if line.contains(0)
            || environment.contains(where: { $0.key.utf8.contains(0) || $0.value.utf8.contains(0) })
        {
            problem = "it, or a setting above it, holds a zero byte"
        } else if words.count < count {
            problem = "expected 5 time fields, found \(words.count)"
        } else if form == .system, user == nil {
            problem = "the user is missing"
        } else if command.isEmpty {
            problem = "the command is missing"
        } else {
            problem = Self.fault(in: times)
        }
    }

    /// Why cron refuses these times.
    private static func fault(in times: String) -> String? {
        if times == "@reboot" { return nil }
        do throws(CronError) {
            _ = try CronExpression(times)
            return nil
        } catch {
            return error.description
        }
    }

    private static func word(_ rest: inout ArraySlice<UInt8>) -> String? {
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        let word = rest.prefix { $0 != 0x20 && $0 != 0x09 }
        rest = rest[word.endIndex...].drop { $0 == 0x20 || $0 == 0x09 }
        return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
    }

    /// The command and its input: `\%` is a percent sign, the first bare one ends the command.
    private static func split(_ text: ArraySlice<UInt8>) -> (command: String, input: String?) {
        var command: [UInt8] = []
        var input: [UInt8] = []
        var hasInput = false
        var isEscaped = false
        func add(_ byte: UInt8) {
            if hasInput { input.append(byte) } else { command.append(byte) }
        }
        for byte in text {
            switch byte {
            case UInt8(ascii: "%") where isEscaped:
                // The backslash was kept in case it was meant for the shell.
                if hasInput { input.removeLast() } else { command.removeLast() }
                add(byte)
            case UInt8(ascii: "%"):
                if hasInput { add(0x0A) }
                hasInput = true
            default: add(byte)
            }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return (
            String(decoding: command, as: UTF8.self), hasInput ? String(decoding: input, as: UTF8.self) : nil
        )
    }
}

extension CrontabLine {
    /// The text for the shell, the command's input as a here-document.
    ///
    /// `nil` where that can't be known: the shell is not one that knows here-documents, the command has one
    /// already, or ends in a backslash.
    public var shellText: String? {
        guard let input else { return command }
        let shell = environment["SHELL"] ?? "/bin/sh"
        let name = shell.split(separator: "/").last.map(String.init) ?? shell
        guard ["sh", "dash", "bash", "ksh", "mksh", "zsh", "busybox"].contains(name),
            !command.contains("<<"), !command.hasSuffix("\\")
        else { return nil }
        // Bytes: to a Character, a carriage return and a line end are one.
        var end = "END_OF_INPUT"
        let lines = Set(
            input.utf8.split(separator: 0x0A).filter { $0.starts(with: end.utf8) }.map { Array($0) })
        while lines.contains(Array(end.utf8)) { end += "_" }
        // cron ends the input with a line end where it has none.
        let body = input.utf8.last == 0x0A ? input : input + "\n"
        return "{\n\(command)\n} <<'\(end)'\n\(body)\(end)"
    }
}

/// A line `NAME = VALUE` of a crontab.
///
/// - Source: load_env of Debian's cron: name and value may stand in quotes, blanks at the end of a value
///   without quotes are dropped, nothing is expanded.
struct CrontabSetting: Hashable {
    let name: String
    let value: String

    /// The setting that `line` is; `nil` when it has not that shape.
    init?(_ line: ArraySlice<UInt8>) {
        var rest = line
        guard let name = Self.word(&rest, until: { $0 == 0x3D || $0 == 0x20 || $0 == 0x09 }), !name.isEmpty
        else { return nil }
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        guard rest.popFirst() == UInt8(ascii: "=") else { return nil }
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        let isQuoted = rest.first == 0x22 || rest.first == 0x27
        guard var value = Self.word(&rest, until: { _ in false }) else { return nil }
        if isQuoted {
            guard rest.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { return nil }
        } else {
            while value.last == 0x20 || value.last == 0x09 { value.removeLast() }
        }
        self.name = String(decoding: name, as: UTF8.self)
        self.value = String(decoding: value, as: UTF8.self)
    }

    /// A word in quotes, or up to where `isEnd` is true; `nil` when a quote is not closed.
    private static func word(
        _ rest: inout ArraySlice<UInt8>, until isEnd: (UInt8) -> Bool
    ) -> ArraySlice<UInt8>? {
        guard let quote = rest.first, quote == 0x22 || quote == 0x27 else {
            let word = rest.prefix { !isEnd($0) }
            rest = rest[word.endIndex...]
            return word
        }
        rest.removeFirst()
        guard let end = rest.firstIndex(of: quote) else { return nil }
        defer { rest = rest[(end + 1)...] }
        return rest[..<end]
    }
}
