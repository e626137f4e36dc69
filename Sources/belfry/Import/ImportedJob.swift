import API
import Cron
import Ledger
import Timeline
import Tracking

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
    /// Whether the original reads its times in another zone, which makes all of them differ.
    var hasOtherZone = false
    var command: [String]?
    var shell: String?
    /// What it asks its bot, where it runs no command.
    var prompt: String?
    /// The command as the original has it, without what was put around it; absent where nothing was.
    var written: String?
    var directory: String?
    var environment: [String: String] = [:]
    var catchUp: String?
    var overlap: String?
    /// Who it runs as, where that is not the user whom all jobs run as.
    var user: String?
    var nice: Int?
    var spread: Duration?
    /// Where the grid of its interval begins, where that is another moment than now.
    var anchor: Moment?
    /// How long a run may take.
    var timeout: Duration?
    /// Whether what a successful run prints is a message.
    var sendsOutput = false
    /// The channel that alone gets that message.
    var outputChannel: String?
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
        draft.fields["bot"] = bot?.json
        draft.schedule = schedule.flatMap(Self.wire)
        draft.schedule?.from = anchor.map { Timestamp($0) }
        draft.fields["timeoutMs"] = timeout?.json
        draft.fields["command"] = command?.json
        draft.fields["shell"] = shell?.json
        draft.fields["prompt"] = prompt?.json
        draft.fields["cwd"] = directory?.json
        if !environment.isEmpty {
            let variables = environment.sorted { $0.key < $1.key }
            draft.fields["env"] = .members(variables.map { .init($0, .string($1)) })
        }
        draft.fields["catchUp"] = catchUp?.json
        draft.fields["overlap"] = overlap?.json
        draft.fields["user"] = user?.json
        draft.fields["nice"] = nice?.json
        draft.fields["spreadMs"] = spread?.json
        if sendsOutput {
            draft.fields[path: "notify.message"] = .string("output")
            draft.fields[path: "notify.output"] = .string("all")
            draft.fields[path: "notify.to"] = outputChannel?.json
        }
        return draft
    }

    private static func wire(_ schedule: Schedule) -> WireSchedule? {
        switch schedule {
        case .cron(let expression, let zone): WireSchedule(kind: "cron", text: expression.text, zone: zone)
        case .every(let interval, _): WireSchedule(kind: "every", text: interval.text)
        case .after(let interval): WireSchedule(kind: "after", text: interval.text)
        case .startup(let delay):
            WireSchedule(kind: "startup", text: delay == .zero ? "" : delay.text)
        case .several(let list): WireSchedule(several: list.members.compactMap(wire))
        case .at(let moment): WireSchedule(kind: "at", text: moment.iso8601)
        case .calendar, .manual: nil
        }
    }

    /// What it does, as somebody would type it.
    var action: String { prompt ?? shell ?? (command ?? []).map(JobText.quoted).joined(separator: " ") }

    /// All of the job for people: what it is, then a line for each time.
    var text: String {
        var lines = ["\(name)  \(original)  (\(place))"]
        if !action.isEmpty {
            lines += action.split(separator: "\n", omittingEmptySubsequences: false).map { "  $ \($0)" }
        }
        if let schedule {
            let suffix = schedule.isClockDriven ? " (\(zone.name))" : ""
            lines.append("  \(schedule.words(in: zone))\(suffix)")
        }
        if let refusal {
            // What it would do matters to nobody then.
            return (lines + ["  not added: \(refusal)"]).map(PlainText.oneLine).joined(separator: "\n")
        }
        lines += settings.map { "  \($0)" }
        lines += notes.map { "  note: \($0)" }
        lines += times.map(line)
        return lines.map(PlainText.oneLine).joined(separator: "\n")
    }

    /// The times at which the original does something else; empty when it does the same.
    var differences: [String] { times.filter(\.differs).map(line) }

    private func line(_ time: Time) -> String {
        let what =
            switch (time.isOurs, time.original) {
            case (true, 0?): "  << only Belfry"
            case (false, let count?): "  << only the original" + (count > 1 ? ", \(count) times" : "")
            case (true, let count?) where count > 1: "  << the original starts it \(count) times"
            default: ""
            }
        return "    \(time.moment.iso8601(in: zone))\(time.note.map { "  \($0)" } ?? "")\(what)"
    }

    /// The policies that are not those of every job.
    private var settings: [String] {
        [
            user.map { "user: \($0)" }, nice.map { "nice: \($0)" },
            spread.map { "spread: \($0.limitWords)" }, timeout.map { "timeout: \($0.limitWords)" },
            catchUp.map { "catch-up: \($0)" },
            overlap.map { "overlap: \($0)" },
            sendsOutput ? "message: its output (all)" + (outputChannel.map { ", to \($0)" } ?? "") : nil,
        ].compactMap { $0 }
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

extension ImportedJob.Shown {
    private static func text(_ schedule: Schedule) -> String {
        switch schedule {
        case .cron: "cron"
        case .every(let interval, _): "every \(interval.text)"
        default: schedule.text
        }
    }
}

extension ImportedJob {
    /// The job in JSON.
    struct Shown: Encodable {
        /// A time in JSON.
        struct Time: Encodable {
            var at: String
            var belfry: Bool
            var original: Int?
            var differs: Bool
            var note: String?
        }

        var name: String
        var place: String
        var original: String
        var expression: String?
        /// `cron`, `every 1d`, `after 5m`, `startup 15m`, several with ` + ` between them; empty where there is none.
        var schedule: String
        var zone: String
        var words: String?
        var command: [String]?
        var shell: String?
        var prompt: String?
        var cwd: String?
        var env: [String: String]
        var user: String?
        var nice: Int?
        var spreadMs: Int64?
        var catchUp: String?
        var overlap: String?
        var notes: [String]
        var refused: String?
        var added: Bool
        var next: [Time]

        init(_ job: ImportedJob) {
            name = job.name
            place = job.place
            original = job.original
            if case .cron(let expression, _) = job.schedule { self.expression = expression.text }
            schedule = (job.schedule?.members ?? []).map(Self.text).joined(separator: " + ")
            zone = job.zone.name
            words = job.schedule?.words(in: job.zone)
            command = job.command
            shell = job.shell
            prompt = job.prompt
            cwd = job.directory
            env = job.environment
            user = job.user
            nice = job.nice
            spreadMs = job.spread.map { $0.microseconds / 1000 }
            catchUp = job.catchUp
            overlap = job.overlap
            notes = job.notes
            refused = job.refusal
            added = job.isAdded
            next = job.times.map { time in
                Time(
                    at: time.moment.iso8601(in: job.zone), belfry: time.isOurs, original: time.original,
                    differs: time.differs, note: time.note)
            }
        }
    }
}
