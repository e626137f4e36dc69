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
