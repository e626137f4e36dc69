import API
import ArgumentParser
import Cron
import Host
import Ledger
import Timeline
import Tracking

/// The flags of `job add` and `job edit`.
struct JobOptions: ParsableArguments {
    @OptionGroup(title: "Schedule") var when: ScheduleFields
    @OptionGroup var fields: JobFieldOptions

    @Argument(parsing: .postTerminator, help: "The program and its arguments, after --.")
    var command: [String] = []

    func validate() throws {
        let actions = JobFields.actions.filter { fields.values[$0] != nil }
        if let first = actions.first, actions.count > 1 || !command.isEmpty {
            let second = actions.count > 1 ? "--\(actions[1])" : "a command after --"
            throw ValidationError("--\(first) and \(second) exclude each other")
        }
    }

    /// What the flags say, as a draft; the rest is for the daemon to fill in.
    func draft() throws(APIError) -> JobDraft {
        var draft = JobDraft()
        draft.fields = fields.values
        if !command.isEmpty { draft.fields["command"] = command.json }
        // A dash stands for what is piped in.
        if draft.fields[path: "stdin.text"] == .string("-") {
            draft.fields[path: "stdin.text"] = .string(try StandardInput.text(limit: 1 << 20, keepsEnd: true))
        }
        draft.schedule = try when.schedule()
        return draft
    }
}

/// The options of the table of fields, in the groups of help.
struct JobFieldOptions: ParsableArguments {
    /// The rows; a test puts others in their place.
    @TaskLocal static var table = JobFields.standard

    @OptionGroup(title: JobFieldGroup.action.rawValue) private var action: JobGroupOptions<ActionGroup>
    @OptionGroup(title: JobFieldGroup.slots.rawValue) private var slots: JobGroupOptions<SlotsGroup>
    @OptionGroup(title: JobFieldGroup.turns.rawValue) private var turns: JobGroupOptions<TurnsGroup>
    @OptionGroup(title: JobFieldGroup.notices.rawValue) private var notices: JobGroupOptions<NoticesGroup>
    @OptionGroup(title: JobFieldGroup.process.rawValue) private var process: JobGroupOptions<ProcessGroup>

    /// What was given, by the names of a draft.
    var values: JSON {
        let groups = [action.values, slots.values, turns.values, notices.values, process.values]
        return groups.reduce(into: .members([])) { values, group in
            guard case .members(let members) = group else { return }
            for member in members { values[member.name] = member.value }
        }
    }
}

/// Names one group to the type of its options: the parser knows arguments by their types.
protocol JobGroupName: Sendable { static var group: JobFieldGroup { get } }

enum ActionGroup: JobGroupName { static let group = JobFieldGroup.action }
enum SlotsGroup: JobGroupName { static let group = JobFieldGroup.slots }
enum TurnsGroup: JobGroupName { static let group = JobFieldGroup.turns }
enum NoticesGroup: JobGroupName { static let group = JobFieldGroup.notices }
enum ProcessGroup: JobGroupName { static let group = JobFieldGroup.process }

/// The options of one group of fields.
///
/// The parser finds the options of a type in its mirror, and their values by the names that they have there: both can
/// be made of a table.
struct JobGroupOptions<Name: JobGroupName>: ParsableArguments, CustomReflectable {
    /// What was given, by the names of a draft.
    private(set) var values = JSON.members([])

    init() {}

    init(from decoder: any Decoder) throws {
        let given = try decoder.container(keyedBy: OptionName.self)
        for (name, row) in Self.rows {
            if case .flag = row.form {
                let flag = try given.decode(Flag<Bool?>.self, forKey: name).wrappedValue
                if let flag, let draft = row.draft { values[path: draft] = .bool(flag) }
            } else if case .variables = row.form {
                let parts = try given.decode(Option<[JSON]>.self, forKey: name).wrappedValue
                if let draft = row.draft, !parts.isEmpty { values[path: draft] = Self.merged(parts) }
            } else if let value = try given.decode(Option<JSON?>.self, forKey: name).wrappedValue {
                if case .members(let parts) = value {
                    for part in parts { values[path: part.name] = part.value }
                } else if let draft = row.draft {
                    values[path: draft] = value
                }
            }
        }
    }

    var customMirror: Mirror {
        Mirror(self, children: Self.rows.map { ($0.stringValue, Self.option($0.stringValue, $1)) })
    }

    private static var rows: [(OptionName, JobField)] {
        JobFieldOptions.table.rows.filter { $0.group == Name.group }.compactMap { row in
            row.option.map { (OptionName(stringValue: $0), row) }
        }
    }

    /// The wrapper that a property would have.
    private static func option(_ name: String, _ row: JobField) -> Any {
        let name = NameSpecification.customLong(name)
        if case .flag = row.form {
            return Flag<Bool?>(name: name, inversion: .prefixedNo, help: ArgumentHelp(row.doc))
        }
        if case .variables(let orFiles) = row.form {
            let example = orFiles ? " Example: 'TOKEN={ file: /run/token }'." : ""
            return Option<[JSON]>(
                wrappedValue: [], name: name, help: ArgumentHelp("\(row.doc)\(example)", valueName: "k=v"),
                transform: { try variable($0, row.form) })
        }
        var (placeholder, completion) = ("text", CompletionKind?.none)
        var parsing = SingleValueParsingStrategy.next
        switch row.form {
        case .choice(let words):
            placeholder = row.option?.split(separator: "-").last.map(String.init) ?? "word"
            completion = .list(words)
        case .choices(let words): (placeholder, completion) = ("when", .list(words + ["none"]))
        case .number(let limits):
            placeholder = "n"
            // The sign of a number is no dash of an option.
            if limits.lowerBound < 0 { parsing = .unconditional }
        case .path: (placeholder, completion) = ("path", .directory)
        case .input: (placeholder, completion) = ("path", .file())
        case .mask: placeholder = "octal"
        case .duration: placeholder = "duration"
        case .botName: (placeholder, completion) = ("bot", Completions.bots)
        case .list: placeholder = "list"
        case .words: placeholder = "command"
        default: break
        }
        let standard = row.standard.map { "\(row.doc.dropLast()) (default: \(row.form.words($0)))." }
        return Option<JSON?>(
            name: name, parsing: parsing,
            help: ArgumentHelp("\(standard ?? row.doc)", valueName: row.value ?? placeholder),
            completion: completion, transform: { try read($0, row) })
    }

    private static func read(_ text: String, _ row: JobField) throws -> JSON {
        // A key may have the sign as well: only a number behind it is a max.
        if row.key == "concurrency.key", let sign = text.lastIndex(of: "="),
            text[sign...].dropFirst().allSatisfy(\.isNumber),
            let max = JobFieldOptions.table.rows.first(where: { $0.key == "concurrency.max" })
        {
            guard sign > text.startIndex else { throw ValidationError("there is no key before the =") }
            let key = try readWhole(String(text[..<sign]), row)
            let most = try readWhole(String(text[sign...].dropFirst()), max)
            return .members([.init(row.key, key), .init(max.key, most)])
        }
        return try readWhole(text, row)
    }

    /// One `K=V`; nothing at all stands for no variables.
    private static func variable(_ text: String, _ form: JobForm) throws -> JSON {
        guard !text.isEmpty else { return .string("") }
        guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
            throw ValidationError("write NAME=VALUE")
        }
        let value = String(text[sign...].dropFirst())
        let file = form == .variables(orFiles: true) ? secretFile(value) : nil
        let json = file.map { JSON.members([.init("file", .string($0))]) } ?? .string(value)
        do throws(JobFault) {
            return try form.read(json: .members([.init(String(text[..<sign]), json)]))
        } catch {
            throw ValidationError(error.message + (error.hint.map { "; \($0)" } ?? ""))
        }
    }

    /// The path in `{ file: PATH }`; nil: the value is a text as it stands.
    private static func secretFile(_ value: String) -> String? {
        guard value.hasPrefix("{"), value.hasSuffix("}") else { return nil }
        let inner = value.dropFirst().dropLast().drop { $0 == " " }
        guard inner.hasPrefix("file:") else { return nil }
        var path = inner.dropFirst("file:".count).drop { $0 == " " }
        while path.last == " " { path.removeLast() }
        return String(path)
    }

    /// All variables in one map.
    private static func merged(_ parts: [JSON]) -> JSON {
        var merged = JSON.members([])
        for case .members(let members) in parts {
            for member in members { merged[member.name] = member.value }
        }
        return merged == .members([]) ? .string("") : merged
    }

    /// One word is a program, also one of this folder; more are a line for the shell.
    private static func command(_ text: String) -> [String] {
        if text.isEmpty { return [] }
        let isWord = text.allSatisfy { $0.isLetter || $0.isNumber || "/._-+:@%,".contains($0) }
        return isWord ? [text.contains("/") ? Paths.absolute(text) : text] : ["sh", "-c", text]
    }

    private static func readWhole(_ text: String, _ row: JobField) throws -> JSON {
        if row.removal == .string(text) { return .string(text) }
        // As of every other flag that can be taken back; a program of that name has a path.
        if case .words = row.form, text == "none", let removal = row.removal { return removal }
        if row.form.isDuration { _ = try DurationArgument.read(text) }
        do throws(JobFault) {
            switch row.form {
            case .input where text == "-": return .members([.init("\(row.key).text", .string(text))])
            case .input:
                let path = try JobForm.path.read(Paths.absolute(text))
                return .members([.init("\(row.key).file", path)])
            case .path: return try row.form.read(Paths.absolute(text))
            case .words: return try row.form.read(json: .array(command(text).map { .string($0) }))
            case .mask:
                // In JSON as it is written: a number would be read as a decimal one.
                _ = try row.form.read(text)
                return .string(text)
            default: return try row.read(text) ?? .null
            }
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
    @Option(
        help: ArgumentHelp("Run at the times of this cron expression; may be repeated.", valueName: "expr"))
    var cron: [String] = []

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

    @Option(help: ArgumentHelp("Run once, at this time; may be repeated.", valueName: "iso"))
    var at: [String] = []

    @Option(
        help: ArgumentHelp(
            "Run at the times of a phrase such as \"every weekday at 9:30\"; may be repeated.",
            valueName: "phrase"))
    var words: [String] = []

    @Flag(help: "Run once after each boot of the machine.")
    var startup = false

    @Option(
        help: ArgumentHelp("How long after the boot a run of --startup starts.", valueName: "duration"),
        transform: DurationArgument.read)
    var delay: DurationArgument?

    func validate() throws {
        let named = [
            ("--cron", !cron.isEmpty), ("--words", !words.isEmpty), ("--at", !at.isEmpty),
            ("--every", every != nil), ("--startup", startup), ("--after", after != nil),
        ].filter(\.1).map(\.0)
        if after != nil, let other = named.first, other != "--after" {
            throw ValidationError(
                "--after counts from the end of the last run and can't be combined with \(other)")
        }
        if from != nil, every == nil { throw ValidationError("--from needs --every") }
        if delay != nil, !startup { throw ValidationError("--delay needs --startup") }
        if zone != nil, let first = named.first, !isLocal {
            throw ValidationError("--zone has no meaning beside \(first)")
        }
    }

    /// Whether a time of day is among the schedules.
    var isLocal: Bool { !cron.isEmpty || !words.isEmpty || !at.isEmpty }

    /// The schedule the flags say, a list where they say several; nil: none does.
    func schedule() throws(APIError) -> WireSchedule? {
        for text in cron { try Self.refusePhrase(text) }
        var schedules = cron.map { WireSchedule(kind: "cron", text: $0, zone: zone) }
        schedules += words.map { WireSchedule(kind: "words", text: $0, zone: zone) }
        for at in at {
            // A zone that does not exist is refused by the daemon, which knows more of them.
            _ = try Zones.moment(
                at, of: "--at", in: zone.flatMap(Zones.rules) ?? Zones.local,
                example: "a time such as 2030-01-31T08:00, or a phrase: --words \(JobText.quoted(at))")
            schedules.append(WireSchedule(kind: "at", text: at, zone: zone))
        }
        if let every {
            var schedule = WireSchedule(kind: "every", text: every.duration.text)
            if let from { schedule.from = Timestamp(try Zones.moment(from, of: "--from")) }
            schedules.append(schedule)
        }
        if let after { schedules.append(WireSchedule(kind: "after", text: after.duration.text)) }
        if startup { schedules.append(WireSchedule(kind: "startup", text: delay?.duration.text ?? "")) }
        return schedules.count > 1 ? WireSchedule(several: schedules) : schedules.first
    }

    /// Refuses a phrase in the place of an expression; whether it is a good expression is for the daemon to say.
    private static func refusePhrase(_ text: String) throws(APIError) {
        guard (try? CronExpression(text)) == nil,
            (try? PhraseAnswer(text, now: .now, in: Zones.local, zones: Zones.ofPhrases)) != nil
        else { return }
        throw APIError(
            .badSchedule, "the value \(JobText.quoted(text)) of --cron is a phrase, not an expression",
            hint: "Write --words \(JobText.quoted(text)).")
    }
}
