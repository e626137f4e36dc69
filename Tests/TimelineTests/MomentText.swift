import TestSupport
import Testing
import Timeline

@Suite struct `a moment as ISO 8601` {
    @Test func `reads Z and offsets`() throws {
        let moment = try Moment(iso8601: "2026-03-29T01:00:00Z")
        #expect(moment.seconds == 1_774_746_000)
        for text in [
            "2026-03-29T03:00:00+02:00", "2026-03-29 03:00+0200", "2026-03-28T20:00:00-05",
            "2026-03-29t01:00z",
        ] {
            #expect(try Moment(iso8601: text) == moment)
        }
    }

    @Test func `keeps a fraction to the microsecond`() throws {
        #expect(try Moment(iso8601: "1970-01-01T00:00:00.25Z").microseconds == 250_000)
        #expect(try Moment(iso8601: "1970-01-01T00:00:00.1234567Z").microseconds == 123_456)
        #expect(Moment(microseconds: 250_000).iso8601 == "1970-01-01T00:00:00.250Z")
        #expect(Moment(microseconds: -1).iso8601 == "1969-12-31T23:59:59.999999Z")
    }

    @Test func `is written with the offset of a zone`() throws {
        let berlin = try SystemZones.zone("Europe/Berlin")
        #expect(Moment(seconds: 1_774_746_000).iso8601(in: berlin) == "2026-03-29T03:00:00+02:00")
        #expect(Moment(seconds: 1_774_745_999).iso8601(in: berlin) == "2026-03-29T01:59:59+01:00")
        #expect(Moment(seconds: 0).iso8601(in: .utc) == "1970-01-01T00:00:00+00:00")
        let kathmandu = try SystemZones.zone("Asia/Kathmandu")
        #expect(Moment(seconds: 1_774_746_000).iso8601(in: kathmandu) == "2026-03-29T06:45:00+05:45")
    }

    @Test func `without an offset is a local time of the zone given`() throws {
        let berlin = try SystemZones.zone("Europe/Berlin")
        #expect(try Moment(iso8601: "2026-07-01T12:00", in: berlin).iso8601 == "2026-07-01T10:00:00Z")
        #expect(try Moment(iso8601: "2026-07-01", in: berlin).iso8601 == "2026-06-30T22:00:00Z")
        #expect(try Moment(iso8601: "2026-03-29T02:30", in: berlin).iso8601 == "2026-03-29T01:00:00Z")
        #expect(try Moment(iso8601: "2026-10-25T02:30", in: berlin).iso8601 == "2026-10-25T00:30:00Z")
        #expect(try Moment(iso8601: "2026-07-01T12:00Z", in: berlin).iso8601 == "2026-07-01T12:00:00Z")
    }

    @Test func `is refused when its year is too far away`() throws {
        let berlin = try SystemZones.zone("Europe/Berlin")
        for text in ["+999999-01-01", "-999999-01-01", "+294247-01-10T04:00"] {
            let error = #expect(throws: TimelineError.self) { try Moment(iso8601: text, in: berlin) }
            #expect(error?.problem == .outOfRange)
        }
        #expect(try Moment(iso8601: "+292000-07-01T12:00", in: berlin).iso8601 == "+292000-07-01T10:00:00Z")
    }

    @Test func `reads back what it writes`() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<20_000 {
            let moment = Moment(microseconds: Int64(bitPattern: random.next()) / 32)
            #expect(try Moment(iso8601: moment.iso8601) == moment)
        }
    }

    @Test(arguments: [
        ("", 0..<0), ("2026", 4..<4), ("2026-13-01T00:00Z", 5..<7), ("2026-02-29T00:00Z", 8..<10),
        ("2026-01-01T24:00Z", 11..<13), ("2026-01-01T00:00:60Z", 17..<19), ("2026-01-01T00:00", 16..<16),
        ("2026-01-01T00:00Zx", 17..<18), ("2026-01-01T00:00+1:00", 17..<18), ("２026-01-01T00:00Z", 0..<0),
    ]) func `points at what is wrong`(text: String, range: Range<Int>) {
        let error = #expect(throws: TimelineError.self) { try Moment(iso8601: text) }
        #expect(error?.problem == .notATime)
        #expect(error?.range == range)
    }
}

@Suite struct `a duration as text` {
    @Test(arguments: [
        ("90s", Duration.seconds(90)), ("15m", .seconds(900)), ("2h", .seconds(7200)),
        ("7d", .seconds(604_800)),
        ("1h30m", .seconds(5400)), ("1w2d", .seconds(777_600)), ("250ms", .milliseconds(250)), ("0s", .zero),
        ("1s500us", .microseconds(1_000_500)),
    ]) func `adds up its units`(text: String, duration: Duration) throws {
        #expect(try Duration(text: text) == duration)
    }

    @Test func `is written as it is read`() throws {
        for text in ["1m30s", "15m", "2h", "7d", "1h30m", "250ms", "0s", "1d1s1us"] {
            #expect(try Duration(text: text).text == text)
        }
        #expect(Duration.seconds(-90).text == "-1m30s")
        #expect(try Duration(text: "2w").text == "14d")
    }

    @Test(arguments: [
        ("", 0..<0), ("15", 0..<2), ("m", 0..<1), ("1h 30m", 2..<3), ("30m1h", 3..<5), ("1m1m", 2..<4),
        ("1x", 1..<2), ("1h30", 2..<4), ("-5m", 0..<1), ("999999999999w", 0..<13), ("1.5h", 0..<2),
    ]) func `points at what is wrong`(text: String, range: Range<Int>) {
        let error = #expect(throws: TimelineError.self) { try Duration(text: text) }
        #expect(error?.range == range)
    }
}

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
