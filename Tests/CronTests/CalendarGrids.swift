import TestSupport
import Testing
import Timeline

@testable import Cron

/// Days and weeks counted by a calendar on the wall (issue 10, 13).
@Suite struct `a calendar grid` {
    private func grid(
        _ text: String, gap: CronOptions.Gap = .runAfter, overlap: CronOptions.Overlap = .first
    ) throws -> CalendarGrid {
        let rule = try CalendarRule(text: text)
        return try #require(rule.grid(after: .distantPast, in: .utc, gap: gap, overlap: overlap))
    }

    private func next(_ grid: CalendarGrid, _ start: String, _ count: Int, in name: String) throws -> [String]
    {
        let zone = try SystemZones.zone(name)
        let start = try Moment(iso8601: start, in: zone)
        return Schedule.calendar(grid, zone: name)
            .slots(after: start, through: .distantFuture, in: zone, limit: count).map { $0.iso8601(in: zone) }
    }

    @Test func `keeps its time of day when the clock changes`() throws {
        let friday = try grid("2w fri 17:00 from 2026-11-27")
        #expect(
            try next(friday, "2027-03-10T00:00", 3, in: "Europe/Berlin") == [
                "2027-03-19T17:00:00+01:00", "2027-04-02T17:00:00+02:00", "2027-04-16T17:00:00+02:00",
            ])
        let days = try grid("2d 08:00 from 2027-03-11")
        #expect(
            try next(days, "2027-03-13T00:00", 2, in: "America/New_York") == [
                "2027-03-13T08:00:00-05:00", "2027-03-15T08:00:00-04:00",
            ])
    }

    @Test func `has no slot before its first day`() throws {
        let days = try grid("3d 08:00 from 2026-11-27")
        #expect(
            try next(days, "2001-01-01T00:00", 2, in: "Europe/Berlin").first == "2026-11-27T08:00:00+01:00")
        let first = try Moment(iso8601: "2026-11-27T07:00:00Z")
        let berlin = try SystemZones.zone("Europe/Berlin")
        #expect(days.previous(before: first, in: berlin) == nil)
        #expect(days.previous(before: first + .seconds(1), in: berlin) == first)
    }

    @Test func `moves a slot that the clock skips behind the gap, or leaves it out`() throws {
        let text = "1w sun 02:30 from 2026-03-22"
        #expect(
            try next(grid(text), "2026-03-23T00:00", 2, in: "Europe/Berlin") == [
                "2026-03-29T03:00:00+02:00", "2026-04-05T02:30:00+02:00",
            ])
        #expect(
            try next(grid(text, gap: .skip), "2026-03-23T00:00", 1, in: "Europe/Berlin") == [
                "2026-04-05T02:30:00+02:00"
            ])
    }

    @Test func `runs once where the clock shows its time twice, or as often as it is asked to`() throws {
        let text = "1w sun 02:30 from 2026-10-18"
        let (first, last) = ("2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00")
        for (overlap, wanted) in [
            (CronOptions.Overlap.first, [first]), (.last, [last]), (.both, [first, last]),
        ] {
            let found = try next(
                grid(text, overlap: overlap), "2026-10-19T00:00", wanted.count, in: "Europe/Berlin")
            #expect(found == wanted)
        }
    }

    @Test func `counts a date that its zone leaves out, and has no slot on it`() throws {
        let days = try grid("1d 12:00 from 2011-12-28")
        #expect(
            try next(days, "2011-12-28T13:00", 2, in: "Pacific/Apia") == [
                "2011-12-29T12:00:00-10:00", "2011-12-31T12:00:00+14:00",
            ])
        let fridays = try grid("2w fri 12:00 from 2011-12-30")
        #expect(try next(fridays, "2011-12-01T00:00", 1, in: "Pacific/Apia") == ["2012-01-13T12:00:00+14:00"])
        // A rule that is made on the eve does not begin on the date that is left out.
        let apia = try SystemZones.zone("Pacific/Apia")
        let rule = try CalendarRule(text: "2d 12:00")
        let made = try Moment(iso8601: "2011-12-29T13:00", in: apia)
        #expect(rule.grid(after: made, in: apia)?.firstDay.iso8601 == "2011-12-31")
    }

    @Test func `begins on the first day that fits after it is made`() throws {
        let berlin = try SystemZones.zone("Europe/Berlin")
        let made = try Moment(iso8601: "2026-11-27T17:00", in: berlin)
        for (text, early, late) in [
            ("2w fri 17:00", "2026-11-27", "2026-12-04"), ("3d 17:00", "2026-11-27", "2026-11-28"),
            ("2w mon 09:00", "2026-11-30", "2026-11-30"),
        ] {
            let rule = try CalendarRule(text: text)
            #expect(rule.grid(after: made - .seconds(1), in: berlin)?.firstDay.iso8601 == early)
            #expect(rule.grid(after: made, in: berlin)?.firstDay.iso8601 == late)
        }
    }

    @Test func `ends with the year 2199, and every search ends`() throws {
        let days = try grid("36600d 12:00 from 2190-01-01")
        let last = try Moment(iso8601: "2190-01-01T12:00:00Z")
        #expect(days.next(after: last - .seconds(1), in: .utc) == last)
        #expect(days.next(after: last, in: .utc) == nil)
        #expect(days.previous(before: .distantFuture, in: .utc) == last)
        #expect(days.count(in: Moment.distantPast..<Moment.distantFuture, zone: .utc) == 1)
        #expect(days.next(after: .distantPast, in: .utc) == last)
        let day = CivilDate(year: 2026, month: 1, day: 1)
        #expect(CalendarGrid(days: 0, firstDay: day, secondOfDay: 0) == nil)
        #expect(CalendarGrid(days: 1, firstDay: day, secondOfDay: 86_400) == nil)
        #expect(
            CalendarGrid(days: 1, firstDay: CivilDate(year: 2200, month: 1, day: 1), secondOfDay: 0) == nil)
    }

    @Test func `is previewed with what a change of the clock does`() throws {
        let berlin = try SystemZones.zone("Europe/Berlin")
        let start = try Moment(iso8601: "2026-03-28T00:00", in: berlin)
        let schedule = Schedule.calendar(try grid("1w sun 02:30 from 2026-03-22"), zone: berlin.name)
        let notes = schedule.preview(after: start, in: berlin, count: 2).map(\.noteWords)
        #expect(notes == ["moved from 02:30, which the clock skips", nil])
        let strict = Schedule.calendar(
            try grid("1w sun 02:30 from 2026-03-22", gap: .skip), zone: berlin.name)
        let lines = strict.preview(after: start, in: berlin, count: 1)
        #expect(lines.map(\.isSlot) == [false, true])
    }

    @Test(arguments: [
        ("2w 17:00", 0..<2, "the day of the week is missing"),
        ("10d fri 17:00", 4..<7, "a day of the week needs whole weeks"),
        ("2w fri 17:00 from 2026-11-26", 18..<28, "2026-11-26 is a Thursday"),
        ("36h 17:00", 0..<3, "\"36h\" is not whole days or weeks"),
        ("0d 17:00", 0..<2, "\"0d\" is not whole days or weeks"),
        ("40000d 17:00", 0..<6, "\"40000d\" is longer than 100 years"),
        ("999999999w mon 17:00", 0..<10, "\"999999999w\" is longer than 100 years"),
        ("2w fri 17:00 from 9999-12-31", 18..<28, "9999-12-31 is outside the years 1970 to 2199"),
        ("2w frei 17:00", 3..<7, "\"frei\" is not a day of the week"),
        ("2w fri 5pm", 7..<10, "expected a time of day"), ("2w fri", 6..<6, "expected a time of day"),
        ("2w fri 24:00", 7..<12, "expected a time of day"), ("2d 8:00", 3..<7, "expected a time of day"),
        ("2d 08:00 from", 9..<13, "expected from and a date"),
        ("2d 08:00 from 2026-02-30", 14..<24, "\"2026-02-30\" is not a date"),
        ("", 0..<0, "expected whole days or weeks"),
    ])
    func `is refused with the place of what is wrong in its text`(
        text: String, range: Range<Int>, message: String
    ) {
        let error = #expect(throws: CronError.self) { try CalendarRule(text: text) }
        #expect(error?.faults.first?.range == range, "\(text): \(String(describing: error))")
        #expect(error?.faults.first?.message == message)
    }

    @Test(arguments: [
        "2w fri 17:00 from 2026-11-27", "3d 08:00", "1d 00:00:30 from 1970-01-01", "1w sun 23:59",
        "36600d 12:00",
    ])
    func `reads its own text again`(text: String) throws {
        let rule = try CalendarRule(text: text)
        #expect(rule.text == text)
        #expect(try CalendarRule(text: rule.text) == rule)
    }
}

@Suite struct `a calendar grid agrees with walking day by day` {
    /// What a person with a calendar and the zone's clock would write down: every date in turn, those that are
    /// counted, and the moments at which a clock shows the time on it.
    private func walk(_ grid: CalendarGrid, _ zone: ZoneRules, through last: CivilDate) -> [Moment] {
        var slots: [Moment] = []
        var wait = 0
        for day in grid.firstDay.daysSinceEpoch...last.daysSinceEpoch {
            guard wait == 0 else {
                wait -= 1
                continue
            }
            wait = grid.days - 1
            let local = Int64(day) * 86_400 + Int64(grid.secondOfDay)
            switch zone.instants(of: local) {
            case .unique(let moment): slots.append(moment)
            case .overlap(let first, let second):
                if grid.overlap != .last { slots.append(first) }
                if grid.overlap != .first { slots.append(second) }
            case .gap(let transition, let size):
                if grid.gap == .runAfter, size <= .seconds(3 * 3600) { slots.append(transition) }
            }
        }
        return slots
    }

    @Test(
        arguments: `the search agrees with asking every minute`.zones + ["Pacific/Kwajalein", "Asia/Manila"])
    func `over twenty years, forwards, backwards and counted`(name: String) throws {
        let zone = name == "UTC" ? ZoneRules.utc : try SystemZones.zone(name)
        var maker = RandomExpressions(random: SeededGenerator(seed: 1013))
        for round in 0..<16 {
            let first = CivilDate(daysSinceEpoch: maker.number(0, 20_000))
            // Two of three times lie in the hours in which clocks are changed.
            let second = round % 3 == 0 ? maker.number(0, 86_399) : maker.number(0, 4 * 12) * 300
            let grid = try #require(
                CalendarGrid(
                    days: maker.pick([1, 2, 3, 7, 14, 28, maker.number(1, 400)]), firstDay: first,
                    secondOfDay: second, gap: maker.pick([.runAfter, .skip]),
                    overlap: maker.pick([.first, .last, .both])))
            let last = CivilDate(daysSinceEpoch: first.daysSinceEpoch + 7_300)
            let wanted = walk(grid, zone, through: last)
            let words: Comment = "\(grid.rule.text) gap \(grid.gap) fold \(grid.overlap) in \(name)"
            let (begin, end) = (Moment(seconds: -86_400 * 3), try #require(wanted.last))
            let schedule = Schedule.calendar(grid, zone: name)
            #expect(schedule.slots(after: begin, through: end, in: zone, limit: 30_000) == wanted, words)
            var backwards: [Moment] = []
            var current = end
            while let slot = schedule.lastSlot(through: current, in: zone) {
                backwards.append(slot)
                current = Moment(microseconds: slot.microseconds - 1)
            }
            #expect(backwards.reversed() == wanted, words)
            #expect(schedule.slotCount(after: begin, through: end, in: zone) == wanted.count, words)
            for _ in 0..<16 {
                let number = maker.number(0, wanted.count - 1)
                let moment = wanted[number] + .seconds(maker.number(-90_000, 90_000))
                #expect(
                    grid.next(after: moment, in: zone) == wanted.first { $0 > moment } || moment >= end, words
                )
                #expect(
                    grid.previous(before: moment, in: zone) == wanted.last { $0 < moment } || moment > end,
                    words)
                let range = begin..<min(moment, end)
                #expect(grid.count(in: range, zone: zone) == wanted.count { range.contains($0) }, words)
            }
        }
    }
}
