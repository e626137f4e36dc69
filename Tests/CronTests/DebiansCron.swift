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
