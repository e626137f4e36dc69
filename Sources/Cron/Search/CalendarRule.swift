package import Timeline

/// What a text such as `2w fri 17:00 from 2026-11-27` means: a ``CalendarGrid`` whose first day may be open.
///
/// ```
/// 2w fri 17:00 from 2026-11-27
/// 3d 08:00:30
/// ```
package struct CalendarRule: Hashable, Sendable {
    /// How many days lie between two slots, 1 to ``CalendarGrid/longest``.
    package var days: Int
    /// The day of the week, 0 is Sunday; `nil` where days are counted and not weeks.
    package var weekday: Int?
    /// The time of day in seconds since midnight.
    package var secondOfDay: Int
    /// The day of the first slot; `nil`: the first that fits after the rule was made.
    package var first: CivilDate?

    /// A rule, whose parts may contradict each other: ``problem``.
    package init(days: Int, weekday: Int?, secondOfDay: Int, first: CivilDate?) {
        self.days = days
        self.secondOfDay = secondOfDay
        self.first = first
        self.weekday = weekday ?? (days % 7 == 0 ? first?.weekday : nil)
    }

    /// Whether its slots are the same wherever and whenever it is made: it names its first day, or each day that it means.
    package var isSameEverywhere: Bool { first != nil || days == 1 || days == 7 && weekday != nil }

    /// Why the parts of a rule do not go together.
    package enum Problem: Hashable, Sendable {
        /// A day of the week beside days that are no weeks.
        case daysAreNoWeeks
        /// Weeks without a day of the week.
        case weekdayIsMissing
        /// The first day is another day of the week; the next one that fits.
        case firstDayIsAnother(CivilDate, next: CivilDate)

        /// One sentence without a full stop.
        package var message: String {
            switch self {
            case .daysAreNoWeeks: "a day of the week needs whole weeks"
            case .weekdayIsMissing: "the day of the week is missing"
            case .firstDayIsAnother(let day, _):
                "\(day.iso8601) is a \(CronNames.weekdays[day.weekday])"
            }
        }

        /// What to write instead.
        package var fix: String {
            switch self {
            case .daysAreNoWeeks: "count in weeks, such as 2w, or leave the day of the week out"
            case .weekdayIsMissing: "name the day, such as fri"
            case .firstDayIsAnother(_, let next): "write \(next.iso8601)"
            }
        }
    }

    /// What is wrong with the parts together; `nil` when nothing is.
    package var problem: Problem? {
        guard let weekday else { return days % 7 == 0 ? .weekdayIsMissing : nil }
        guard days % 7 == 0 else { return .daysAreNoWeeks }
        guard let first, first.weekday != weekday else { return nil }
        let distance = (weekday - first.weekday + 7) % 7
        return .firstDayIsAnother(first, next: CivilDate(daysSinceEpoch: first.daysSinceEpoch + distance))
    }

    /// The grid, from the first day named or else from the first that fits after `moment`.
    package func grid(
        after moment: Moment, in zone: ZoneRules, gap: CronOptions.Gap = .runAfter,
        overlap: CronOptions.Overlap = .first
    ) -> CalendarGrid? {
        CalendarGrid(
            days: days, firstDay: first ?? firstDay(after: moment, in: zone), secondOfDay: secondOfDay,
            gap: gap,
            overlap: overlap)
    }

    /// The first day of the rule that has its time after `moment`.
    private func firstDay(after moment: Moment, in zone: ZoneRules) -> CivilDate {
        var day = max(0, CivilTime(moment, in: zone).date.daysSinceEpoch)
        while true {
            let date = CivilDate(daysSinceEpoch: day)
            if weekday ?? date.weekday == date.weekday {
                let local = Int64(day) * 86_400 + Int64(secondOfDay)
                let instants = zone.instants(of: local)
                // A date that the zone leaves out is nobody's first day.
                var isLeftOut = false
                if case .gap(_, let size) = instants {
                    isLeftOut = size.microseconds > ZoneWalk<CalendarGrid>.longestGap * 1_000_000
                }
                if !isLeftOut, instants.first > moment { return date }
            }
            day += 1
        }
    }

    // MARK: Text

    /// The line that ``init(text:)`` reads back.
    package var text: String {
        let size = days % 7 == 0 ? "\(days / 7)w" : "\(days)d"
        let day = weekday.map { " " + CronNames.weekdays[$0].prefix(3).lowercased() } ?? ""
        return "\(size)\(day) \(clock)" + (first.map { " from \($0.iso8601)" } ?? "")
    }

    /// `17:00`, with seconds where they are not zero.
    var clock: String {
        let second = secondOfDay % 60
        return CronWords.clock(secondOfDay / 3600, secondOfDay / 60 % 60, second == 0 ? nil : second)
    }

    /// Reads what ``text`` wrote.
    ///
    /// - Throws: ``CronError`` with the place in `text`.
    package init(text: String) throws(CronError) {
        var words = RuleWords(text: text)
        let size = words.popFirst()
        guard let days = size.flatMap(Self.days(in:)) else {
            let problem =
                size.map(Self.sizeFault)
                ?? (message: "expected whole days or weeks", fix: "write 2d or 2w")
            throw words.fault(.badInterval, size, problem.message, problem.fix)
        }
        let name = words.rest.first
        let weekday = try Self.weekday(&words)
        let clock = words.popFirst()
        guard let time = clock.flatMap(Self.secondOfDay(in:)) else {
            throw words.fault(.badMoment, clock, "expected a time of day", "write 17:00")
        }
        let date = words.rest.last
        let first = try Self.firstDay(&words)
        self.init(days: days, weekday: weekday, secondOfDay: time, first: first)
        guard let problem else { return }
        let word: Substring? =
            switch problem {
            case .daysAreNoWeeks: name
            case .weekdayIsMissing: size
            case .firstDayIsAnother: date
            }
        throw words.fault(.notExpressible, word, problem.message, problem.fix)
    }

    /// The name of a day of the week, where one comes next.
    private static func weekday(_ words: inout RuleWords) throws(CronError) -> Int? {
        guard let name = words.rest.first, name.first?.isLetter == true, name != "from" else { return nil }
        guard let weekday = weekday(named: name) else {
            throw words.fault(
                .unknownName, name, "\"\(name)\" is not a day of the week",
                "use one of \(weekdayNames.joined(separator: " "))")
        }
        _ = words.popFirst()
        return weekday
    }

    /// The date after `from`, where anything is left.
    private static func firstDay(_ words: inout RuleWords) throws(CronError) -> CivilDate? {
        let last = words.rest.last
        guard let from = words.popFirst() else { return nil }
        guard from == "from", words.rest.count == 1, let date = words.rest.first else {
            throw words.fault(.badMoment, last, "expected from and a date", "write from 2026-11-27")
        }
        guard let day = Self.date(in: date) else {
            let problem = dateFault(date)
            throw words.fault(.badMoment, date, problem.message, problem.fix)
        }
        return day
    }

    // MARK: Parts of a text

    /// The names of the days of the week in three letters, from `sun` on.
    package static let weekdayNames = CronNames.weekdays.map { $0.prefix(3).lowercased() }

    /// The names of the days of the week, in the length of `word`.
    package static func weekdayNames(like word: String) -> [String] {
        word.count > 5 ? CronNames.weekdays.map { $0.lowercased() } : weekdayNames
    }

    /// The day of the week of a name such as `fri`, `Friday` or `tues`.
    package static func weekday(named name: some StringProtocol) -> Int? {
        let name = name.lowercased()
        return name.hasSuffix("days") ? nil : PhraseWords.weekday(name)
    }

    /// The days of a duration that is whole days.
    package static func days(in text: some StringProtocol) -> Int? {
        guard let size = try? Duration(text: text) else { return nil }
        return days(in: size)
    }

    /// The days of a duration that is whole days, at most ``CalendarGrid/longest``.
    package static func days(in size: Duration) -> Int? {
        let (days, rest) = size.microseconds.quotientAndRemainder(dividingBy: 86_400_000_000)
        return rest == 0 && (1...Int64(CalendarGrid.longest)).contains(days) ? Int(days) : nil
    }

    /// Why ``days(in:)`` finds no days in `text`, and what to write.
    package static func sizeFault(_ text: some StringProtocol) -> (message: String, fix: String) {
        var isTooLong = false
        do throws(TimelineError) {
            let size = try Duration(text: text)
            isTooLong = size.microseconds % 86_400_000_000 == 0 && size > .zero
        } catch {
            isTooLong = error.problem == .outOfRange
        }
        return isTooLong
            ? ("\"\(text)\" is longer than 100 years", "write 1d to \(CalendarGrid.longest)d, or 1w to 5228w")
            : ("\"\(text)\" is not whole days or weeks", "write 2d or 2w; for months cron: \"0 8 1 */2 *\"")
    }

    /// The seconds since midnight of `17:00` or `17:00:30`.
    package static func secondOfDay(in text: some StringProtocol) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count) else { return nil }
        var total = 0
        for (part, limit) in zip(parts, [24, 60, 60]) {
            guard part.utf8.count == 2, part.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let value = Int(part),
                value < limit
            else { return nil }
            total = total * 60 + value
        }
        return parts.count == 2 ? total * 60 : total
    }

    /// The date of `2026-11-27`, in the years 1970 to 2199.
    package static func date(in text: some StringProtocol) -> CivilDate? {
        guard text.utf8.count == 10, let moment = try? Moment(iso8601: text + "T00:00Z") else { return nil }
        let date = CivilTime(moment).date
        return (0..<CalendarDay.end).contains(date.daysSinceEpoch) ? date : nil
    }
}

/// The words of a rule that are left to read, and where they stand in its text.
private struct RuleWords {
    let text: String
    private(set) var rest: ArraySlice<Substring>

    init(text: String) {
        self.text = text
        rest = text.split(separator: " ")[...]
    }

    mutating func popFirst() -> Substring? { rest.popFirst() }

    /// A fault at `word`, or where the text ends.
    func fault(_ kind: CronFault.Kind, _ word: Substring?, _ message: String, _ fix: String) -> CronError {
        let end = text.utf8.count
        let start = word.map { text.utf8.distance(from: text.startIndex, to: $0.startIndex) } ?? end
        let range = start..<start + (word?.utf8.count ?? 0)
        return CronError(text: text, CronFault(kind, at: range, message, fix: fix))
    }
}

extension CalendarRule {
    /// Why ``date(in:)`` finds no date in `text`, and what to write.
    package static func dateFault(_ text: some StringProtocol) -> (message: String, fix: String) {
        let isDate = text.utf8.count == 10 && (try? Moment(iso8601: text + "T00:00Z")) != nil
        return isDate
            ? ("\(text) is outside the years 1970 to 2199", "write a day of these years, such as 2026-11-27")
            : ("\"\(text)\" is not a date", "write the day of the first slot, such as 2026-11-27")
    }
}

extension Schedule {
    /// The schedule of a rule's text.
    ///
    /// - Parameters:
    ///   - text: A rule such as `2w fri 17:00`, with or without its first day.
    ///   - zone: Whose days they are; its name becomes the schedule's.
    ///   - made: After which the first day is found where the text names none.
    ///   - gap: What happens to a skipped local time.
    ///   - overlap: What happens to a repeated local time.
    /// - Throws: ``CronError`` with the place in `text`.
    package init(
        calendar text: String, in zone: ZoneRules, made: Moment, gap: CronOptions.Gap = .runAfter,
        overlap: CronOptions.Overlap = .first
    ) throws(CronError) {
        let rule = try CalendarRule(text: text)
        guard let grid = rule.grid(after: made, in: zone, gap: gap, overlap: overlap) else {
            let end = text.utf8.count
            throw CronError(
                text: text,
                CronFault(.badMoment, at: end..<end, "its first day would be after the year 2199"))
        }
        self = .calendar(grid, zone: zone.name)
    }
}

extension CalendarGrid {
    /// The rule of this grid.
    package var rule: CalendarRule {
        CalendarRule(days: days, weekday: nil, secondOfDay: secondOfDay, first: firstDay)
    }

    /// `Every 2 weeks on Friday at 17:00, counted from 2026-11-27`.
    var words: String {
        let isWeeks = days % 7 == 0
        let count = isWeeks ? days / 7 : days
        let unit = isWeeks ? "week" : "day"
        let size = count == 1 ? unit : "\(count) \(unit)s"
        let day = isWeeks ? " on \(CronNames.weekdays[firstDay.weekday])" : ""
        return "Every \(size)\(day) at \(rule.clock), counted from \(firstDay.iso8601)"
    }
}
