import API
import Cron
import Engine
import Host
import Ledger
import Timeline
import Tracking

extension WireJob {
    /// The job as the API shows it.
    init(_ entry: ScheduledJob, lastRun: WireRun?) {
        let record = entry.record
        let spec = record.spec
        self.init(
            name: spec.name, origin: record.origin.rawValue, bot: spec.bot, kind: spec.action.kind,
            schedule: WireSchedule(spec.schedule, entry.schedule, entry.zones, since: record.since),
            revision: record.revision,
            policies: WirePolicies(JobFields.standard.policies(of: spec)))
        if let spread = spec.spread {
            policies.values["spreadOffsetMs"] = SlotDelay.spread(spread, of: spec.name).json
        }
        at = record.place
        if let pause = record.pause {
            paused = .since(Timestamp(pause.since), note: pause.note)
        } else {
            nextAt = Timestamp(entry.next, in: entry.zones.first)
        }
        self.lastRun = lastRun
        (command, shell, prompt, cwd) = (spec.command, spec.shell, spec.prompt, spec.directory)
        env = Self.names(spec.environment, spec.secretFiles)
        if let request = spec.request {
            (url, method, expect) = (request.url, request.effectiveMethod, request.expect)
            headers = Self.names(request.headers, request.secretFiles)
        }
    }

    /// The names of values that stay in the daemon; nil: there are none.
    private static func names(_ texts: [String: String], _ files: [String: String]) -> [String]? {
        let names = Array(texts.keys) + Array(files.keys)
        return names.isEmpty ? nil : names.sorted()
    }
}

extension WireSchedule {
    /// A stored schedule and what it was read as, by the rules of `zones`; active `since` then.
    fileprivate init(
        _ spec: ScheduleSpec, _ schedule: Schedule, _ zones: ScheduleZones, since: Moment
    ) {
        let rules = zones[schedule.zoneName]
        let words = schedule == .manual ? nil : schedule.words(in: rules)
        switch schedule {
        case .several(let list):
            self.init(
                several: zip(spec.members ?? [], list.members).map {
                    WireSchedule($0, $1, zones, since: since)
                })
        // With its first day, also where that follows from when the job was made.
        case .calendar(let grid, _): self.init(kind: spec.kind.rawValue, text: grid.rule.text)
        case .cron, .every, .after, .at, .startup, .manual:
            self.init(kind: spec.kind.rawValue, text: spec.text)
        }
        (zone, self.words) = (schedule.zoneName, words)
        if case .every(_, let anchor) = schedule { from = Timestamp(anchor) }
        if let phrase = spec.phrase {
            self.phrase = phrase
            note = (try? PhraseAnswer(phrase, now: since, in: rules))?.note
        }
    }
}

extension JobSpec {
    /// The job that `draft` asks for; what it does not say is by default.
    ///
    /// - Throws: ``APIError`` for what is missing, malformed, or of a later version.
    init(_ draft: JobDraft, _ reading: ScheduleReading) throws(APIError) {
        guard let name = draft.name else { throw APIError(.badValue, "the job has no name") }
        if draft.actions.isEmpty {
            throw APIError(
                .badValue, "the job has nothing to do",
                hint: "Give it a command, a shell text, a prompt or a url.")
        }
        self.init(
            name: name, action: .command([]),
            schedule: ScheduleSpec(kind: .manual, text: "", zone: reading.zone))
        try apply(draft, reading)
    }

    /// Changes what `draft` names, and nothing else.
    mutating func apply(_ draft: JobDraft, _ reading: ScheduleReading) throws(APIError) {
        if draft.actions.count > 1 {
            throw APIError(.badValue, "a job has one of command, shell, prompt and url, not two")
        }
        if let schedule = draft.schedule { self.schedule = try ScheduleSpec(schedule, reading) }
        do {
            try JobFields.standard.apply(draft.fields, to: &self)
        } catch {
            throw APIError(error)
        }
    }
}

extension JobDraft {
    /// Which of the fields it has that say what a job does.
    fileprivate var actions: [String] { JobFields.actions.filter { fields[$0] != nil } }
}

extension APIError {
    /// The refusal of a field.
    init(_ fault: JobFault) {
        let hint = (fault.advice ?? fault.hint).map {
            $0.prefix(1).uppercased() + $0.dropFirst() + ($0.hasSuffix("?") ? "" : ".")
        }
        let code: ErrorCode =
            fault.key == "bot" ? .badName : fault.message == JobFault.wrongKind.message ? .badJSON : .badValue
        self.init(code, (fault.key.isEmpty ? "" : "\(fault.key): ") + fault.message, hint: hint)
    }
}

/// What a schedule that somebody asks for is read with.
struct ScheduleReading {
    /// The zone of schedules that name none.
    var zone: String
    var zones: ZoneLookup
    var now: Moment

    /// The zones that a phrase may name by their cities.
    var phraseZones: PhraseZones {
        PhraseZones(names: { ZoneFiles().names }, rules: zones)
    }

    /// The rules of a zone.
    func rules(_ name: String?) throws(APIError) -> ZoneRules {
        let name = name ?? zone
        guard let rules = zones(name) else { throw APIError(.noSuchZone(name)) }
        return rules
    }
}

extension DaemonHandler {
    /// How schedules are read now.
    var reading: ScheduleReading {
        ScheduleReading(
            zone: control.activeConfiguration.configuration.zone, zones: control.host.zones,
            now: control.clock.now
        )
    }
}

extension ScheduleSpec {
    /// The schedule that is asked for; the text of an expression is read by whoever stores it.
    init(_ wire: WireSchedule, _ reading: ScheduleReading) throws(APIError) {
        let rules = try reading.rules(wire.zone)
        if wire.from != nil, wire.kind != "every" {
            throw APIError(
                .badValue, "from is where the grid of every begins; a schedule of kind \(wire.kind) has none")
        }
        switch wire.kind {
        case "manual": self.init(kind: .manual, text: "", zone: rules.name)
        case "startup":
            let delay = wire.text.isEmpty ? "" : try Self.interval(wire.text)
            self.init(kind: .startup, text: delay, zone: rules.name)
        case "cron" where wire.text.contains("@reboot") || wire.text.contains("@every"):
            self = try Self.read(rules, reading.now) { () throws(CronError) in
                try Schedule(expression: wire.text, zone: rules.name, anchor: reading.now)
            }
        case "cron": self.init(kind: .cron, text: wire.text, zone: rules.name)
        case "calendar":
            var text = ""
            self = try Self.read(rules, reading.now) { () throws(CronError) in
                text = try CalendarRule(text: wire.text).text
                return try Schedule(calendar: text, in: rules, made: reading.now)
            }
            self.text = text
        case "words": self = try Self.phrase(wire, reading, in: rules)
        case "every":
            self.init(kind: .every, text: try Self.interval(wire.text), zone: rules.name)
            anchor = wire.from?.moment
        case "several": self = try Self.list(wire, reading, zone: rules.name)
        case "after": self.init(kind: .after, text: try Self.interval(wire.text), zone: rules.name)
        case "at":
            self.init(kind: .at, text: try Self.moment(wire.text, in: rules), zone: rules.name)
        default: throw APIError(.badValue, "no schedule is of kind \"\(wire.kind)\"")
        }
    }

    private static func phrase(
        _ wire: WireSchedule, _ reading: ScheduleReading, in rules: ZoneRules
    ) throws(APIError) -> ScheduleSpec {
        let answer = try refusing { () throws(CronError) in
            try PhraseAnswer(wire.text, now: reading.now, in: rules, zones: reading.phraseZones)
        }
        if let zone = wire.zone, zone != answer.zone.name {
            throw APIError(
                .badSchedule, "the phrase names the time zone \(answer.zone.name), and zone is \(zone)",
                hint: "Give one of them.")
        }
        var spec = try read(answer.zone, reading.now) { () throws(CronError) in answer.schedule }
        if answer.namesFirstDay { spec.nameFirstDay(made: reading.now, in: answer.zone) }
        spec.phrase = wire.text
        return spec
    }

    /// The text of a moment, as it is stored.
    private static func moment(_ text: String, in rules: ZoneRules) throws(APIError) -> String {
        do {
            return try Moment(iso8601: text, in: rules).iso8601(in: rules)
        } catch {
            throw APIError(
                .badValue, "\"\(text)\" is not a time: \(error.message)",
                hint: "Write one such as 2030-01-31T08:00+01:00.")
        }
    }

    /// The schedules of a draft as one list; whoever stores it reads whether they go together.
    private static func list(
        _ wire: WireSchedule, _ reading: ScheduleReading, zone: String
    ) throws(APIError) -> ScheduleSpec {
        var members: [ScheduleSpec] = []
        for member in wire.members ?? [] {
            guard member.kind != "several" else {
                throw APIError(.badSchedule, "a list of schedules can't hold another list")
            }
            let spec = try ScheduleSpec(member, reading)
            // Those of a phrase that needs several expressions.
            members += spec.members ?? [spec]
        }
        return members.count == 1 ? members[0] : ScheduleSpec(several: members, zone: zone)
    }

    /// Writes the first day of a calendar into its text, so that it does not depend on when the job is made.
    private mutating func nameFirstDay(made: Moment, in rules: ZoneRules) {
        if case .calendar(let grid, _)? = try? Schedule(calendar: text, in: rules, made: made) {
            text = grid.rule.text
        }
    }

    private static func read(
        _ rules: ZoneRules, _ now: Moment, _ body: () throws(CronError) -> Schedule
    ) throws(APIError) -> ScheduleSpec {
        let schedule = try refusing(body)
        if case .every(let interval, _) = schedule { _ = try Self.interval(interval.text) }
        return ScheduleSpec(schedule, zone: rules, readAt: now)
    }

    private static func refusing<Value>(
        _ body: () throws(CronError) -> Value
    ) throws(APIError) -> Value {
        do throws(CronError) {
            return try body()
        } catch {
            throw APIError(.badSchedule, "the schedule is refused:\n\(error.drawing)")
        }
    }

    /// The text of an interval, as it is stored.
    private static func interval(_ text: String) throws(APIError) -> String {
        do {
            return try JobForm.interval.read(text).text ?? text
        } catch {
            throw APIError(error)
        }
    }
}
