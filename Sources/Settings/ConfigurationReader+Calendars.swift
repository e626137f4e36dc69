import Cron
import Ledger
import Timeline

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
        var spec = begun
        (spec.kind, spec.text) = (.calendar, rule.text)
        return spec
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
