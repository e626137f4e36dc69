import API
import ArgumentParser
import Ledger
import Timeline

/// The flags of `job add` and `job edit`.
struct JobOptions: ParsableArguments {
    @OptionGroup var when: ScheduleFields
    @OptionGroup var fields: JobFieldOptions

    @Argument(parsing: .postTerminator, help: "The program and its arguments, after --.")
    var command: [String] = []

    func validate() throws {
        if fields.values["shell"] != nil && !command.isEmpty {
            throw ValidationError("--shell and a command after -- exclude each other")
        }
    }

    /// What the flags say, as a draft; the rest is for the daemon to fill in.
    func draft() throws(APIError) -> JobDraft {
        var draft = JobDraft()
        draft.fields = fields.values
        if !command.isEmpty { draft.fields["command"] = .texts(command) }
        draft.schedule = try when.schedule()
        return draft
    }
}

/// The options of the table of fields.
///
/// The parser finds the options of a type in its mirror, and their values by the names that they have there: both can
/// be made of a table.
struct JobFieldOptions: ParsableArguments, CustomReflectable {
    /// The rows; a test puts others in their place.
    @TaskLocal static var table = JobFields.standard

    /// What was given, by the names of a draft.
    private(set) var values = JobValue.map([:])

    init() {}

    init(from decoder: any Decoder) throws {
        let given = try decoder.container(keyedBy: OptionName.self)
        for (name, row) in Self.rows {
            if case .flag = row.form {
                let flag = try given.decode(Flag<Bool?>.self, forKey: name).wrappedValue
                if let flag, let draft = row.draft { values[draft] = .flag(flag) }
            } else if case .variables = row.form {
                let pairs = try given.decode(Option<[JobValue]>.self, forKey: name).wrappedValue
                if !pairs.isEmpty, let draft = row.draft { values[draft] = Self.merged(pairs) }
            } else if let value = try given.decode(Option<JobValue?>.self, forKey: name).wrappedValue {
                if case .map(let parts) = value {
                    for (draft, part) in parts { values[draft] = part }
                } else if let draft = row.draft {
                    values[draft] = value
                }
            }
        }
    }

    var customMirror: Mirror {
        Mirror(self, children: Self.rows.map { ($0.stringValue, Self.option($0.stringValue, $1)) })
    }

    private static var rows: [(OptionName, JobField)] {
        table.rows.compactMap { row in row.option.map { (OptionName(stringValue: $0), row) } }
    }

    /// The wrapper that a property would have.
    private static func option(_ name: String, _ row: JobField) -> Any {
        let name = NameSpecification.customLong(name)
        if case .flag = row.form {
            return Flag<Bool?>(name: name, inversion: .prefixedNo, help: ArgumentHelp(row.doc))
        }
        if case .variables = row.form {
            return Option<[JobValue]>(
                name: name, parsing: .singleValue, help: ArgumentHelp(row.doc, valueName: "name=value"),
                transform: readPair)
        }
        var (placeholder, completion) = ("text", CompletionKind?.none)
        switch row.form {
        case .choice(let words): (placeholder, completion) = ("policy", .list(words))
        case .number: placeholder = "n"
        case .duration: placeholder = "duration"
        case .botName: (placeholder, completion) = ("bot", Completions.bots)
        default: if row.key == "concurrency.key" { placeholder = "key[=max]" }
        }
        let standard = row.standard.map { "\(row.doc.dropLast()) (default: \(row.form.words($0)))." }
        return Option<JobValue?>(
            name: name, help: ArgumentHelp("\(standard ?? row.doc)", valueName: placeholder),
            completion: completion, transform: { try read($0, row) })
    }

    /// One of several pairs; an empty text is none, so that all can be removed.
    @Sendable private static func readPair(_ text: String) throws -> JobValue {
        guard !text.isEmpty else { return .map([:]) }
        guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
            throw ValidationError("write it as name=value")
        }
        return .map([String(text[..<sign]): .text(String(text[sign...].dropFirst()))])
    }

    private static func merged(_ pairs: [JobValue]) -> JobValue {
        var members: [String: JobValue] = [:]
        for case .map(let pair) in pairs { members.merge(pair) { $1 } }
        return .map(members)
    }

    private static func read(_ text: String, _ row: JobField) throws -> JobValue {
        // A key may have the sign as well: only a number behind it is a max.
        if row.key == "concurrency.key", let sign = text.lastIndex(of: "="),
            text[sign...].dropFirst().allSatisfy(\.isNumber),
            let max = table.rows.first(where: { $0.key == "concurrency.max" })
        {
            guard sign > text.startIndex else { throw ValidationError("there is no key before the =") }
            let key = try readWhole(String(text[..<sign]), row)
            return .map([row.key: key, max.key: try readWhole(String(text[sign...].dropFirst()), max)])
        }
        return try readWhole(text, row)
    }

    private static func readWhole(_ text: String, _ row: JobField) throws -> JobValue {
        if row.isRemovable, text.isEmpty { return row.form.isDuration ? .number(0) : .text("") }
        if row.form.isDuration {
            let duration = try DurationArgument.read(text).duration
            if row.isRemovable, duration == .zero { return .number(0) }
        }
        do throws(JobFault) {
            return try row.form.read(text)
        } catch {
            throw ValidationError(error.message + ((error.advice ?? error.hint).map { "; \($0)" } ?? ""))
        }
    }
}

private struct OptionName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// The flags of `job add` and `job edit` that say when it runs.
struct ScheduleFields: ParsableArguments {
    @Option(help: ArgumentHelp("Run at the times of this cron expression.", valueName: "expr"))
    var cron: String?

    @Option(
        help: ArgumentHelp(
            "The time zone of the expression, time or words, such as Europe/Berlin.", valueName: "zone"))
    var zone: String?

    @Option(
        help: ArgumentHelp("Run at a fixed interval, starting now (for example 15m).", valueName: "duration"),
        transform: DurationArgument.read)
    var every: DurationArgument?

    @Option(
        help: ArgumentHelp("When the first interval of --every starts, instead of now.", valueName: "iso"))
    var from: String?

    @Option(
        help: ArgumentHelp("Run this long after the previous run ended.", valueName: "duration"),
        transform: DurationArgument.read)
    var after: DurationArgument?

    @Option(help: ArgumentHelp("Run once, at this time.", valueName: "iso"))
    var at: String?

    @Option(
        help: ArgumentHelp(
            "Run at the times of a phrase such as \"every weekday at 9:30\".", valueName: "phrase"))
    var words: String?

    @Flag(help: "Run once after each boot of the machine.")
    var startup = false

    func validate() throws {
        let named = [
            ("--cron", cron != nil), ("--every", every != nil), ("--after", after != nil),
            ("--at", at != nil),
            ("--words", words != nil), ("--startup", startup),
        ].filter(\.1).map(\.0)
        if named.count > 1 {
            throw ValidationError("\(named.joined(separator: " and ")) exclude each other")
        }
        if from != nil, every == nil { throw ValidationError("--from needs --every") }
        if zone != nil, ["--every", "--after", "--startup"].contains(named.first) {
            throw ValidationError("--zone has no meaning beside \(named[0])")
        }
    }

    /// The schedule the flags say; nil: none does.
    func schedule() throws(APIError) -> WireSchedule? {
        if let cron { return WireSchedule(kind: "cron", text: cron, zone: zone) }
        if let every {
            var schedule = WireSchedule(kind: "every", text: every.duration.text)
            if let from { schedule.from = Timestamp(try Zones.moment(from, of: "--from")) }
            return schedule
        }
        if let after { return WireSchedule(kind: "after", text: after.duration.text) }
        if let at { return WireSchedule(kind: "at", text: at, zone: zone) }
        if let words { return WireSchedule(kind: "words", text: words, zone: zone) }
        return startup ? WireSchedule(kind: "startup", text: "") : nil
    }
}
