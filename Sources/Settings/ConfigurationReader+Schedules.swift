import Cron
import Ledger
import Timeline
import Tracking

extension ConfigurationReader {
    /// The keys of which a schedule has one.
    static let scheduleKinds = ["cron", "every", "after", "at", "startup", "words"]

    /// When a job runs, or nil after every fault was reported.
    func readSchedule(_ field: Field?, of job: Field, seed: String, zone: String) -> ScheduleSpec? {
        guard let field else {
            job.fault(
                "this job has no schedule",
                hint: "write schedule: { cron: \"30 2 * * *\" } or schedule: manual")
            return nil
        }
        switch field.scalar {
        case "manual": return ScheduleSpec(kind: .manual, text: "", zone: zone)
        case "startup": return ScheduleSpec(kind: .startup, text: "", zone: zone)
        case let word?:
            return expression(field, ScheduleSpec(kind: .cron, text: word, zone: zone), seed: seed)
        case nil where field.isList: return list(field, of: job, seed: seed, zone: zone)
        case nil: return readMap(field, seed: seed, zone: zone)
        }
    }

    private func readMap(_ field: Field, seed: String, zone: String) -> ScheduleSpec? {
        let before = field.faults.problems.count
        guard
            let fields = field.record(
                keys: Self.scheduleKinds + Self.companionKeys, instead: CommonMistakes.schedule)
        else { return nil }
        let hasOddKey = field.faults.problems.count > before
        var spec = ScheduleSpec(kind: .cron, text: "", zone: zone)
        if let name = fields["zone"].flatMap(zoneName) { spec.zone = name }
        spec.gap = fields["gap"]?.choice(of: Self.gapWords)
        spec.fold = fields["fold"]?.choice(of: Self.foldWords)
        let named = Self.scheduleKinds.filter { fields[$0] != nil }
        guard let kind = named.first, named.count == 1 else {
            if !hasOddKey { faultKinds(named, in: field) }
            return nil
        }
        let isCalendar = kind == "every" && (fields["time"] != nil || fields["weekday"] != nil)
        let known = isCalendar ? Self.calendarKeys : Self.companions[kind] ?? []
        for name in Self.companionKeys where !known.contains(name) {
            let hint = kind == "every" && name != "delay" ? "add time: \"17:00\" to count days or weeks" : nil
            fields[name]?.fault("has no meaning beside \(kind)", hint: hint)
        }
        guard let value = fields[kind] else { return nil }
        if isCalendar { return calendar(value, fields, spec, hasOddKey: hasOddKey) }
        if kind == "startup", let delay = fields["delay"] { spec.text = delay.value(.interval)?.text ?? "" }
        spec.anchor = fields["from"].flatMap { moment($0, zone: spec.zone) }
        let read = read(kind, value, spec, seed: seed)
        if kind == "words", let named = fields["zone"], let other = read?.zone, other != spec.zone {
            named.fault("the phrase names the time zone \(other)", hint: "leave one of them out")
        }
        return read
    }

    /// A schedule has one kind.
    private func faultKinds(_ named: [String], in field: Field) {
        field.fault(
            named.isEmpty
                ? "the schedule says nothing about when"
                : "a schedule has one of \(named.joined(separator: ", "))",
            hint: "write schedule: { cron: \"30 2 * * *\" }, or one of every, after, at, startup, words")
    }

    static let companionKeys = ["zone", "gap", "fold", "from", "weekday", "time", "delay"]

    /// What may stand beside days or weeks that are counted.
    static let calendarKeys = Set(companionKeys).subtracting(["delay"])

    static let gapWords = ["run-after", "skip"]
    static let foldWords = ["first", "last", "both"]

    /// What may stand beside a kind.
    static let companions: [String: Set<String>] = [
        "cron": ["zone", "gap", "fold"], "words": ["zone", "gap", "fold"], "at": ["zone"],
        "every": ["from", "zone"], "startup": ["delay"],
    ]

    private func read(_ kind: String, _ value: Field, _ begun: ScheduleSpec, seed: String) -> ScheduleSpec? {
        var spec = begun
        switch kind {
        case "every", "after":
            guard let interval = value.value(.interval)?.text else { return nil }
            spec.kind = kind == "every" ? .every : .after
            spec.text = interval
        case "at":
            guard let moment = moment(value, zone: spec.zone), let rules = zone(spec.zone) else { return nil }
            spec.kind = .at
            spec.text = moment.iso8601(in: rules)
        case "startup":
            if let text = value.scalar, (try? Duration(text: text)) != nil {
                value.fault("expected true", hint: "write { startup: true, delay: \(text) }")
                return nil
            }
            guard value.choice(of: ["true"]) != nil else { return nil }
            spec.kind = .startup
        case "words":
            return phrase(value, spec)
        default:
            guard let text = value.word() else { return nil }
            spec.text = text
            return expression(value, spec, seed: seed)
        }
        return spec
    }

    /// The spec, if its text is a schedule; its faults are pointed at inside the text.
    private func expression(_ field: Field, _ spec: ScheduleSpec, seed: String) -> ScheduleSpec? {
        do {
            if spec.text.contains("@every") || spec.text.contains("@reboot") {
                let schedule = try Schedule(expression: spec.text, zone: spec.zone, anchor: Self.never)
                return checked(schedule, spec, field)
            }
            _ = try spec.schedule(seed: seed, zones: zone)
            return spec
        } catch {
            let hint =
                spec.text.count > 100
                ? nil : CommonMistakes.schedule(spec.text, in: zone(spec.zone), phraseZones)
            guard let hint else {
                point(at: error, in: field)
                return nil
            }
            field.fault("\"\(spec.text)\" is not a cron expression", hint: hint)
            return nil
        }
    }

    /// What a phrase asks for, if that is the same whenever the file is read.
    private func phrase(_ field: Field, _ spec: ScheduleSpec) -> ScheduleSpec? {
        guard let text = field.word(), let rules = zone(spec.zone) else { return nil }
        do {
            let answer = try PhraseAnswer(text, now: Self.never, in: rules, zones: phraseZones)
            if let note = answer.note { field.note(note) }
            switch answer.schedule {
            case .at:
                field.fault(
                    "the moment depends on when this file is read", hint: "write at: 2030-01-31T08:00")
                return nil
            case .calendar where !answer.namesFirstDay:
                field.fault(
                    "the first day depends on when this file is read",
                    hint: "add it, such as from 2026-11-27, at the end of the phrase")
                return nil
            case .several(let list):
                let members = list.members.compactMap { checked($0, spec, field) }
                var read = ScheduleSpec(several: members, zone: answer.zone.name)
                read.phrase = text
                return read
            case .calendar(let grid, let name):
                var read = ScheduleSpec(
                    kind: .calendar, text: grid.rule.text, zone: name, gap: spec.gap, fold: spec.fold)
                read.phrase = text
                return read
            case .cron, .every, .after, .startup, .manual:
                var read = checked(answer.schedule, spec, field)
                read?.phrase = text
                return read
            }
        } catch {
            point(at: error, in: field)
            return nil
        }
    }

    private func checked(_ schedule: Schedule, _ spec: ScheduleSpec, _ field: Field) -> ScheduleSpec? {
        if case .every(let interval, _) = schedule {
            do throws(JobFault) {
                _ = try JobForm.interval.read(interval.text)
            } catch {
                field.fault(error)
                return nil
            }
        }
        var read = ScheduleSpec(schedule, zone: zone(spec.zone) ?? .utc, readAt: Self.never)
        (read.gap, read.fold) = (spec.gap, spec.fold)
        return read
    }

    /// A moment that no file is read at.
    private static let never = Moment(seconds: 0)

    private func point(at error: CronError, in field: Field) {
        for fault in error.faults {
            let title = fault.field.map { "\($0.title): " } ?? ""
            field.fault(title + fault.message, hint: fault.fix, bytes: fault.range)
        }
    }

    /// A time, read in the zone where it has no offset.
    private func moment(_ field: Field, zone name: String) -> Moment? {
        guard let text = field.word(), let rules = zone(name) else { return nil }
        do {
            return try Moment(iso8601: text, in: rules)
        } catch {
            field.fault(
                "\"\(text)\" is not a time: \(error.message)",
                hint: CommonMistakes.everyDay(text).map {
                    "add the day, as 2030-01-31T\(text); each day is cron: \($0)"
                }
                    ?? error.fix ?? "write one as 2030-01-31T08:00+01:00", bytes: error.range)
            return nil
        }
    }
}

extension ConfigurationReader {
    /// `every: 2w` beside `weekday:` and `time:`: days or weeks of the calendar.
    ///
    /// - Parameters:
    ///   - every: how many days or weeks.
    ///   - fields: the other keys of the schedule.
    ///   - begun: the spec with its zone, gap and fold.
    ///   - hasOddKey: whether an unknown key was reported, which may be the one that is missing.
    /// - Returns: the schedule, or nil after every fault was reported.
    func calendar(
        _ every: Field, _ fields: [String: Field], _ begun: ScheduleSpec, hasOddKey: Bool
    ) -> ScheduleSpec? {
        let before = every.faults.problems.count
        let days = every.part({ CalendarRule.days(in: $0) }, CalendarRule.sizeFault)
        let weekday = fields["weekday"]?.part({ CalendarRule.weekday(named: $0) }) {
            (
                "\"\($0)\" is not a day of the week",
                Field.meant($0.lowercased(), of: CalendarRule.weekdayNames(like: $0))
            )
        }
        let time = fields["time"]?.part({ CalendarRule.secondOfDay(in: $0) }) {
            ("\"\($0)\" is not a time of day", "write two digits each, such as 08:00 or 17:30")
        }
        let first = fields["from"]?.part({ CalendarRule.date(in: $0) }, CalendarRule.dateFault)
        if fields["time"] == nil, !hasOddKey {
            fields["weekday"]?.fault("the time of day is missing", hint: "add time: \"17:00\"")
        }
        guard every.faults.problems.count == before, let days, let time else { return nil }
        let rule = CalendarRule(days: days, weekday: weekday, secondOfDay: time, first: first)
        if let problem = rule.problem {
            switch problem {
            case .daysAreNoWeeks:
                fields["weekday"]?.fault(problem.message, hint: "write every: 2w, or leave weekday: out")
            case .weekdayIsMissing:
                if !hasOddKey { every.fault(problem.message, hint: "add weekday: fri") }
            case .firstDayIsAnother: fields["from"]?.fault(problem.message, hint: problem.fix)
            }
            return nil
        }
        if first == nil, !rule.isSameEverywhere {
            every.warn(
                "no first day is named, so that the days depend on when the job was loaded",
                hint: "add from: with a day on which it runs, such as from: 2026-11-27")
        }
        var spec = begun
        (spec.kind, spec.text) = (.calendar, rule.text)
        return spec
    }
}

extension ConfigurationReader {
    /// `schedule: [{ cron: ... }, { every: ... }]`: the job runs at the times of all of them.
    private func list(_ field: Field, of job: Field, seed: String, zone: String) -> ScheduleSpec? {
        guard let fields = field.list() else { return nil }
        guard !fields.isEmpty else {
            field.fault("the list is empty", hint: "write a schedule, or manual")
            return nil
        }
        let before = field.faults.problems.count
        var members: [(spec: ScheduleSpec, schedule: Schedule, field: Field)] = []
        for part in fields {
            guard !part.isList else {
                part.fault(
                    "a list of schedules can't hold another list", hint: "write all schedules in one list")
                continue
            }
            let spec = readSchedule(part, of: job, seed: seed, zone: zone)
            // A phrase may need several expressions.
            for member in spec.map({ $0.members ?? [$0] }) ?? [] {
                do {
                    members.append((member, try member.schedule(seed: seed, zones: self.zone), part))
                } catch {
                    point(at: error, in: part)
                }
            }
        }
        guard field.faults.problems.count == before else { return nil }
        if members.count == 1 { return members[0].spec }
        do {
            _ = try ScheduleList(members.map(\.schedule))
        } catch {
            (members.isEmpty ? field : members[error.member].field).fault(error.message, hint: error.fix)
            return nil
        }
        return ScheduleSpec(several: members.map(\.spec), zone: zone)
    }
}

extension Field {
    /// What `read` makes of the text; where it makes nothing, `problem` says why, and what to write.
    fileprivate func part<Part>(
        _ read: (String) -> Part?, _ problem: (String) -> (message: String, fix: String)
    ) -> Part? {
        guard let text = word() else { return nil }
        if let part = read(text) { return part }
        let found = problem(text)
        fault(found.message, hint: found.fix)
        return nil
    }
}
