import Cron
import TestSupport
import Testing
import Timeline

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
