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
        let days = every.part({ CalendarRule.days(in: $0) }, "whole days or weeks") { _ in
            "write 2d or 2w; for months write cron: \"0 8 1 */2 *\""
        }
        let weekday = fields["weekday"]?.part({ CalendarRule.weekday(named: $0) }, "a day of the week") {
            Field.meant($0.lowercased(), of: CalendarRule.weekdayNames(like: $0))
        }
        let time = fields["time"]?.part({ CalendarRule.secondOfDay(in: $0) }, "a time of day") { _ in
            "write two digits each, such as 08:00 or 17:30"
        }
        let first = fields["from"]?.part({ CalendarRule.date(in: $0) }, "a date") { _ in
            "write the day of the first slot, such as from: 2026-11-27"
        }
        if fields["time"] == nil, !hasOddKey {
            fields["weekday"]?.fault("the time of day is missing", mend: "add time: \"17:00\"")
        }
        guard every.faults.problems.count == before, let days, let time else { return nil }
        let rule = CalendarRule(days: days, weekday: weekday, secondOfDay: time, first: first)
        if let problem = rule.problem {
            switch problem {
            case .daysAreNoWeeks:
                fields["weekday"]?.fault(problem.message, mend: "write every: 2w, or leave weekday: out")
            case .weekdayIsMissing:
                if !hasOddKey { every.fault(problem.message, mend: "add weekday: fri") }
            case .firstDayIsAnother: fields["from"]?.fault(problem.message, mend: problem.fix)
            }
            return nil
        }
        var spec = begun
        (spec.kind, spec.text) = (.calendar, rule.text)
        return spec
    }
}

extension Field {
    /// What `read` makes of the text; a text of which it makes nothing is reported as not being `what`.
    fileprivate func part<Part>(
        _ read: (String) -> Part?, _ what: String, mend: (String) -> String
    ) -> Part? {
        guard let text = word() else { return nil }
        if let part = read(text) { return part }
        fault("\"\(text)\" is not \(what)", mend: mend(text))
        return nil
    }
}
