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
    /// else the user's. `isUser` says whether the machine has a user of that name.
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
        let parts = Array(text.utf8).split(separator: 0x0A, omittingEmptySubsequences: false)
        return parts.enumerated().map { number, line in
            (number + 1, line.last == 0x0D ? line.dropLast() : line)
        }
    }
}
