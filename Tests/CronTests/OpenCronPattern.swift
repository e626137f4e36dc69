import Cron
import Testing
import Timeline

// The Open Cron Pattern Specification, level by level; the departure is named where there is one.

@Suite struct `OCPS 1_0` {
    @Test(arguments: [
        "* * * * *", "0-59/15 9-17 1,15 JAN-DEC MON-FRI", "0 0 * * 0", "0 0 * * 7", "0 0 31 2 *",
    ])
    func `has five fields with lists, ranges, steps and names`(text: String) {
        #expect(throws: Never.self) { try CronExpression(text) }
    }

    @Test(arguments: ["5-1 * * * *", "*/0 * * * *", "0/15 * * * *", "1,,2 * * * *", "* * * * 8", "* * * *"])
    func `refuses reversed ranges, zero steps, bare steps and empty terms`(text: String) {
        #expect(throws: CronError.self) { try CronExpression(text) }
    }

    @Test func `lets one of two restricted day fields be enough`() throws {
        #expect(try next("0 0 13 * FRI", "2025-01-02T00:00", 2) == ["2025-01-03 00:00", "2025-01-10 00:00"])
    }

    @Test func `accepts a date that never comes`() throws {
        #expect(try CronExpression("0 0 31 2 *").neverFires)
    }

    @Test func `leaves the star with a step open, which here is Debian's rule unless asked`() throws {
        #expect(try next("0 0 */2 * MON", "2025-01-01T00:00", 1) == ["2025-01-13 00:00"])
        let ocps = CronOptions(dayRule: .ocps)
        #expect(try next("0 0 */2 * MON", "2025-01-01T00:00", 1, options: ocps) == ["2025-01-03 00:00"])
    }
}

@Suite struct `OCPS 1_1` {
    @Test(arguments: ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"])
    func `has nicknames`(text: String) {
        #expect(throws: Never.self) { try CronExpression(text) }
    }

    @Test(arguments: ["@Daily", "@YEARLY", "@unknown", "@daily *"]) func `compares their case`(text: String) {
        #expect(throws: CronError.self) { try CronExpression(text) }
    }

    @Test func `parses @reboot, as an event`() throws {
        let schedule = try Schedule(expression: "@reboot", zone: "UTC", anchor: Moment(seconds: 0))
        #expect(schedule == .startup())
    }
}

@Suite struct `OCPS 1_2` {
    @Test func `puts seconds first and years last`() throws {
        #expect(try next("30 0 0 * * *", "2025-01-01T00:00", 1) == ["2025-01-01 00:00:30"])
        #expect(try next("30 0 0 1 1 * 2031", "2025-01-01T00:00") == ["2031-01-01 00:00:30"])
    }

    @Test func `has the years 1970 to 2199, a step counted from 1970`() throws {
        #expect(
            try next("0 0 0 1 1 * */2", "2025-01-01T00:00", 2) == ["2026-01-01 00:00", "2028-01-01 00:00"])
        #expect(throws: CronError.self) { try CronExpression("0 0 0 1 1 * 2200") }
        #expect(throws: CronError.self) { try CronExpression("0 0 0 1 1 * 1969") }
    }
}

@Suite struct `OCPS 1_3` {
    @Test(arguments: [
        ("0 0 L * *", "2025-01-31 00:00"), ("0 0 * * 5L", "2025-01-31 00:00"),
        ("0 0 * * 5#L", "2025-01-31 00:00"),
        ("0 0 * * 1#2", "2025-01-13 00:00"), ("0 0 19W * *", "2025-01-20 00:00"),
        ("0 0 LW * *", "2025-01-31 00:00"),
    ]) func `has last days, nth weekdays and nearest weekdays`(text: String, first: String) throws {
        #expect(try next(text, "2025-01-05T00:00", 1) == [first])
    }

    @Test(arguments: ["0 0 l * *", "0 0 15w * *", "0 0 * * 5l", "0 L * * *", "0 0 * L *", "0 0 * * 1#6"])
    func `refuses lower case and other fields`(text: String) {
        #expect(throws: CronError.self) { try CronExpression(text) }
    }
}

@Suite struct `OCPS 1_4` {
    @Test func `has a plus that makes both day fields count`() throws {
        #expect(try next("0 0 13 * +FRI", "2025-01-01T00:00", 2) == ["2025-06-13 00:00", "2026-02-13 00:00"])
    }

    @Test func `has the question mark in the day fields only`() throws {
        #expect(try CronExpression("0 0 ? * MON") == CronExpression("0 0 * * MON"))
        #expect(throws: CronError.self) { try CronExpression("? 0 * * *") }
        #expect(throws: CronError.self) { try CronExpression("0 0 * ? *") }
    }

    @Test func `recommends to skip a missing time, which is one option away`() throws {
        let asRecommended = CronOptions(gap: .skip, overlap: .first)
        let spring = "2025-03-09T00:00"
        let skipped = try next("30 2 * * *", spring, 1, zone: "America/New_York", options: asRecommended)
        #expect(skipped == ["2025-03-10 02:30-04:00"])
        #expect(try next("30 2 * * *", spring, 1, zone: "America/New_York") == ["2025-03-09 03:00-04:00"])
    }
}
