import Testing
import Timeline

@Suite struct `a civil date` {
    @Test func `counts days from 1970 in both directions`() {
        #expect(CivilDate(daysSinceEpoch: 0) == CivilDate(year: 1970, month: 1, day: 1))
        #expect(CivilDate(daysSinceEpoch: -1) == CivilDate(year: 1969, month: 12, day: 31))
        #expect(CivilDate(year: 2000, month: 2, day: 29).daysSinceEpoch == 11_016)
        #expect(CivilDate(year: 1, month: 1, day: 1).daysSinceEpoch == -719_162)
    }

    @Test func `follows the day before it through four centuries and before the year 0`() {
        for first in [-730_000, -10_000] {
            var previous = CivilDate(daysSinceEpoch: first)
            for days in first + 1...first + 146_100 {
                let date = CivilDate(daysSinceEpoch: days)
                let length = CivilDate.days(inMonth: previous.month, of: previous.year)
                let isNext =
                    date.day == previous.day + 1 && date.month == previous.month && date.day <= length
                    || date.day == 1 && previous.day == length
                        && (date.month == previous.month + 1 || date.month == 1 && previous.month == 12)
                guard isNext, date.daysSinceEpoch == days, previous < date else {
                    Issue.record("\(previous.iso8601) is followed by \(date.iso8601)")
                    return
                }
                previous = date
            }
        }
    }

    @Test func `knows its weekday`() {
        #expect(CivilDate(year: 1970, month: 1, day: 1).weekday == 4)
        #expect(CivilDate(year: 2026, month: 3, day: 29).weekday == 0)
        #expect(CivilDate(year: 1900, month: 1, day: 1).weekday == 1)
    }

    @Test func `has a leap day by the rule of centuries`() {
        #expect(CivilDate.days(inMonth: 2, of: 2000) == 29)
        #expect(CivilDate.days(inMonth: 2, of: 2100) == 28)
        #expect((1...12).map { CivilDate.days(inMonth: $0, of: 2023) }.reduce(0, +) == 365)
    }
}
