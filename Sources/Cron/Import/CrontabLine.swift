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

    /// Reads a line without the blanks in front of it; `problem` says what is wrong with it whatever it is.
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
        } else if words.count < count {
            problem = "there are \(words.count) of 5 times"
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
