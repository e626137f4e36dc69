import API
import Cron
import Host
import Ledger
import Timeline

/// A job that an import would add, or the reason why it would not.
struct ImportedJob {
    /// One line of the comparison of times.
    struct Time: Hashable {
        var moment: Moment
        /// Whether Belfry runs it then.
        var isOurs: Bool
        /// How often the original starts it then; absent when it is not known.
        var original: Int?
        var note: String?

        var differs: Bool { original.map { isOurs ? $0 != 1 : $0 > 0 } ?? false }
    }

    var name: String
    /// `FILE:LINE` or the unit's path.
    var place: String
    var line: Int?
    /// The original times.
    var original: String
    var schedule: Schedule?
    var zone: ZoneRules
    var command: [String]?
    var shell: String?
    var directory: String?
    var environment: [String: String] = [:]
    var catchUp: String?
    /// What is different from the original, or was left out.
    var notes: [String] = []
    var refusal: String?
    /// Whether the daemon has it now.
    var isAdded = false
    var times: [Time] = []

    /// What the daemon is asked for.
    func draft(bot: String?) -> JobDraft {
        var draft = JobDraft()
        draft.name = name
        draft.origin = "import"
        draft.fields["bot"] = bot.map { .text($0) }
        if case .cron(let expression, let zone) = schedule {
            draft.schedule = WireSchedule(kind: "cron", text: expression.text, zone: zone)
        }
        if schedule == .startup { draft.schedule = WireSchedule(kind: "startup", text: "") }
        draft.fields["command"] = command.map { .texts($0) }
        draft.fields["shell"] = shell.map { .text($0) }
        draft.fields["cwd"] = directory.map { .text($0) }
        if !environment.isEmpty { draft.fields["env"] = .map(environment.mapValues { .text($0) }) }
        draft.fields["catchUp"] = catchUp.map { .text($0) }
        return draft
    }

    /// The job for people: what it is, then a line for each time.
    var text: String {
        var lines = ["\(name)  \(original)  (\(place))"]
        let action = shell ?? (command ?? []).map(JobText.quoted).joined(separator: " ")
        if !action.isEmpty {
            lines += action.split(separator: "\n", omittingEmptySubsequences: false).map { "  $ \($0)" }
        }
        if let schedule { lines.append("  \(schedule.words(in: zone)) (\(zone.name))") }
        if let refusal { lines.append("  not added: \(refusal)") }
        lines += notes.map { "  note: \($0)" }
        for time in times {
            let what =
                switch (time.isOurs, time.original) {
                case (true, 0?): "  << only Belfry"
                case (false, let count?): "  << only the original" + (count > 1 ? ", \(count) times" : "")
                case (true, let count?) where count > 1: "  << the original starts it \(count) times"
                default: ""
                }
            lines.append("    \(time.moment.iso8601(in: zone))\(time.note.map { "  \($0)" } ?? "")\(what)")
        }
        return lines.map(PlainText.oneLine).joined(separator: "\n")
    }

    /// The first ten times of `schedule` after `start`, beside those of the original where they are known.
    static func compare(
        _ schedule: Schedule, in zone: ZoneRules, after start: Moment, original: [DebianClock.Start]?
    ) -> [Time] {
        let ours = schedule.preview(after: start, in: zone, count: 10).filter(\.isSlot)
        guard let original else {
            return ours.map { Time(moment: $0.moment, isOurs: true, original: nil, note: $0.noteWords) }
        }
        // Both lists are cut at ten, so what lies behind the end of the shorter one says nothing.
        let ends = [ours.map(\.moment), original.map(\.moment)].map { list in
            list.count < 10 ? Moment.distantFuture : list.last ?? .distantFuture
        }
        let end = min(ends[0], ends[1])
        let slots = Dictionary(ours.map { ($0.moment, $0) }) { first, _ in first }
        let starts = Dictionary(original.map { ($0.moment, $0.count) }) { first, _ in first }
        return Set(slots.keys).union(starts.keys).filter { $0 <= end }.sorted().map { moment in
            Time(
                moment: moment, isOurs: slots[moment] != nil, original: starts[moment] ?? 0,
                note: slots[moment]?.noteWords)
        }
    }
}

extension ImportedJob: Encodable {
    private enum Key: String, CodingKey {
        case name, place, original, expression, zone, words, command, shell, cwd, env, notes, refused, added
        case next
    }

    private struct Line: Encodable {
        var at: String
        var belfry: Bool
        var original: Int?
        var differs: Bool
        var note: String?
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        for (key, text) in [Key.name: name, .place: place, .original: original, .zone: zone.name] {
            try members.encode(text, forKey: key)
        }
        if case .cron(let expression, _) = schedule {
            try members.encode(expression.text, forKey: .expression)
        }
        try members.encodeIfPresent(schedule?.words(in: zone), forKey: .words)
        try members.encodeIfPresent(command, forKey: .command)
        try members.encodeIfPresent(shell, forKey: .shell)
        try members.encodeIfPresent(directory, forKey: .cwd)
        try members.encode(environment, forKey: .env)
        try members.encode(notes, forKey: .notes)
        try members.encodeIfPresent(refusal, forKey: .refused)
        try members.encode(isAdded, forKey: .added)
        let lines = times.map { time in
            Line(
                at: time.moment.iso8601(in: zone), belfry: time.isOurs, original: time.original,
                differs: time.differs, note: time.note)
        }
        try members.encode(lines, forKey: .next)
    }
}
