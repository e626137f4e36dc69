import Cron
import TestSupport
import Testing
import Timeline

@Suite struct `the model of Debian's cron` {
    private func starts(_ text: String, _ zone: String, _ start: String, _ count: Int) throws -> [String] {
        let zone = try SystemZones.zone(zone)
        let clock = try #require(DebianClock(text))
        return clock.starts(after: try Moment(iso8601: start, in: zone), in: zone, count: count).map {
            $0.moment.iso8601(in: zone) + ($0.count > 1 ? " x\($0.count)" : "")
        }
    }

    /// The rows of the reference's table of clock changes that are Debian's.
    @Test(arguments: [
        ("30 2 * * *", ["2025-03-09T03:00:00-04:00"]), ("0,30 2 * * *", ["2025-03-09T03:00:00-04:00 x2"]),
        ("*/15 2 * * *", ["2025-03-10T02:00:00-04:00"]), ("0 3 * * *", ["2025-03-09T03:00:00-04:00"]),
        (
            "*/30 * * * *",
            ["2025-03-09T01:00:00-05:00", "2025-03-09T01:30:00-05:00", "2025-03-09T03:00:00-04:00"]
        ),
    ])
    func `makes up for fixed times when the clock goes forward`(text: String, expected: [String]) throws {
        #expect(try starts(text, "America/New_York", "2025-03-09T00:30", expected.count) == expected)
    }

    @Test(arguments: [
        ("30 1 * * *", ["2025-11-02T01:30:00-04:00", "2025-11-03T01:30:00-05:00"]),
        ("0 1-3 * * *", ["2025-11-02T01:00:00-04:00", "2025-11-02T02:00:00-05:00"]),
        ("30 * * * *", ["2025-11-02T01:30:00-04:00", "2025-11-02T01:30:00-05:00"]),
        ("0 2 * * *", ["2025-11-02T02:00:00-05:00"]),
    ])
    func `waits when the clock goes back`(text: String, expected: [String]) throws {
        #expect(try starts(text, "America/New_York", "2025-11-02T00:45", expected.count) == expected)
    }

    @Test func `starts inside the repeated hour without repeating`() throws {
        #expect(
            try starts("30 1 * * *", "America/New_York", "2025-11-02T01:10:00-05:00", 1)
                == ["2025-11-03T01:30:00-05:00"])
    }

    @Test func `takes more than three hours as a correction`() throws {
        #expect(
            try starts("0 12 30 12 *", "Pacific/Apia", "2011-12-29T00:00", 1) == ["2012-12-30T12:00:00+14:00"]
        )
    }

    @Test(arguments: ["0 25 * * *", "5/15 * * * *", "0 0 L * *", "@reboot", "0 0 * * 5-1", "* * * * * *", ""])
    func `refuses what Debian's cron refuses`(text: String) {
        #expect(DebianClock(text) == nil)
    }

    @Test func `starts nothing on a date that never comes`() throws {
        #expect(try starts("0 0 31 2 *", "UTC", "2026-01-01T00:00", 3).isEmpty)
    }

    /// Two programs with no line in common; several starts in one minute are one run of ours.
    @Test(arguments: ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "UTC"])
    func `agrees with the engine on random expressions through two years of changes`(name: String) throws {
        let zone = try SystemZones.zone(name)
        var maker = RandomExpressions(random: SeededGenerator(seed: 7_001))
        for _ in 0..<300 {
            let text = maker.crontabTimes()
            let expression = try CronExpression(text)
            let model = try #require(DebianClock(text), "\(text)")
            var start = Moment(seconds: Int64(maker.number(1_700_000_000, 1_790_000_000)))
            if let change = zone.nextTransition(after: start), maker.number(0, 3) > 0 {
                start = change - .seconds(maker.number(0, 90_000))
            }
            let ours = Array(expression.occurrences(after: start, in: zone).prefix(12))
            let theirs = model.starts(after: start, in: zone, count: 12).map(\.moment)
            #expect(ours.prefix(theirs.count) == theirs[...], "\(text) in \(name) after \(start.iso8601)")
            #expect(
                theirs.count == ours.count || (ours.last.map { $0 - start > .seconds(1_500_000_000) } ?? true)
            )
        }
    }
}

extension RandomExpressions {
    /// Five fields of the notation that crontab(5) has.
    fileprivate mutating func crontabTimes() -> String {
        [
            field(0, 59, openIn: 2), field(0, 23, openIn: 3), field(1, 31, openIn: 6),
            field(1, 12, openIn: 8),
            field(0, 7, openIn: 6),
        ].joined(separator: " ")
    }
}

/// The table of openclaw.md 11.2, measured with the gateway's own module.
@Suite struct `the times of an OpenClaw gateway` {
    private func starts(_ text: String, _ zone: String, from: String, _ count: Int) throws -> [String] {
        let rules = try SystemZones.zone(zone)
        let clock = try #require(OpenClawClock(text))
        return clock.starts(after: try Moment(iso8601: from), in: rules, count: count).map {
            String($0.iso8601.dropFirst(5).prefix(11))
        }
    }

    @Test(arguments: [
        (
            "30 2 * * *", "America/New_York", "2026-03-07T06:00Z",
            ["03-07T07:30", "03-08T07:30", "03-09T06:30"]
        ),
        ("0 2 * * *", "America/New_York", "2026-03-08T06:00Z", ["03-08T07:00", "03-09T06:00"]),
        (
            "*/30 * * * *", "America/New_York", "2026-03-08T06:00Z",
            ["03-08T06:30", "03-08T07:00", "03-08T07:30"]
        ),
        ("30 1 * * *", "America/New_York", "2026-11-01T05:00Z", ["11-01T05:30", "11-02T06:30"]),
        ("0 * * * *", "America/New_York", "2026-11-01T04:30Z", ["11-01T05:00", "11-01T07:00"]),
        ("*/30 * * * *", "America/New_York", "2026-11-01T05:00Z", ["11-01T05:30", "11-01T07:00"]),
        (
            "15 2 * * *", "Australia/Lord_Howe", "2026-10-02T00:00Z",
            ["10-02T15:45", "10-03T15:45", "10-04T15:15"]
        ),
        (
            "0 9 15 * 1", "UTC", "2026-01-01T00:00Z",
            ["01-05T09:00", "01-12T09:00", "01-15T09:00", "01-19T09:00"]
        ),
        ("0 9 ? * 1", "UTC", "2026-01-01T00:00Z", ["01-01T09:00", "01-02T09:00"]),
        ("0 9 * * 7", "UTC", "2026-01-01T00:00Z", ["01-04T09:00", "01-11T09:00"]),
        ("0 0 9 * * 7", "UTC", "2026-01-01T00:00Z", ["01-04T09:00"]),
    ])
    func `are those that its scheduler plans`(
        text: String, zone: String, from: String, expected: [String]
    ) throws {
        #expect(try starts(text, zone, from: from, expected.count) == expected)
    }

    @Test(arguments: ["60 * * * *", "* * * *", "30 0 9 * * *", "0 0 L * *", "x"])
    func `are not known of what the model does not read`(text: String) {
        #expect(OpenClawClock(text) == nil)
    }

    @Test func `end where a date never comes`() throws {
        #expect(try starts("0 0 30 2 *", "UTC", from: "2026-01-01T00:00Z", 1) == [])
        #expect(
            try starts("0 0 29 2 *", "UTC", from: "2026-01-01T00:00Z", 2) == ["02-29T00:00", "02-29T00:00"])
    }
}
