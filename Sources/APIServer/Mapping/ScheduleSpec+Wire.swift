import API
import Cron
import Engine
import Host
import Ledger
import Timeline
import Tracking

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
