import Cron
import Testing

/// crontab(8) of Debian: fixed-time jobs run once for skipped and repeated times, others follow the clock.
@Suite struct `when the clock goes forward` {
    @Test(arguments: [
        // A fixed-time job runs at the first moment after the gap.
        ("30 2 * * *", "2025-03-09T00:00", ["2025-03-09 03:00-04:00", "2025-03-10 02:30-04:00"]),
        ("0 2 * * *", "2025-03-09T00:00", ["2025-03-09 03:00-04:00", "2025-03-10 02:00-04:00"]),
        ("59 2 * * *", "2025-03-09T00:00", ["2025-03-09 03:00-04:00", "2025-03-10 02:59-04:00"]),
        // Several skipped times are one run, one that falls on it as well.
        ("0,30 2 * * *", "2025-03-09T00:00", ["2025-03-09 03:00-04:00", "2025-03-10 02:00-04:00"]),
        ("0 1-4 * * *", "2025-03-09T01:30", ["2025-03-09 03:00-04:00", "2025-03-09 04:00-04:00"]),
        ("30 1-4 * * *", "2025-03-09T01:30", ["2025-03-09 03:00-04:00", "2025-03-09 03:30-04:00"]),
        ("0 30 2 * * *", "2025-03-09T00:00", ["2025-03-09 03:00-04:00", "2025-03-10 02:30-04:00"]),
        // The day that counts is the one the time was written for.
        ("30 2 9 3 *", "2025-03-09T00:00", ["2025-03-09 03:00-04:00", "2026-03-09 02:30-04:00"]),
        ("30 2 * * 0", "2025-03-09T00:00", ["2025-03-09 03:00-04:00", "2025-03-16 02:30-04:00"]),
        ("30 2 * * 1", "2025-03-09T00:00", ["2025-03-10 02:30-04:00", "2025-03-17 02:30-04:00"]),
        // A job with a star in its minute or hour follows the clock.
        ("*/15 2 * * *", "2025-03-09T00:00", ["2025-03-10 02:00-04:00", "2025-03-10 02:15-04:00"]),
        ("30 * * * *", "2025-03-09T01:00", ["2025-03-09 01:30-05:00", "2025-03-09 03:30-04:00"]),
        ("*/30 * * * *", "2025-03-09T01:00", ["2025-03-09 01:30-05:00", "2025-03-09 03:00-04:00"]),
        ("0 */2 * * *", "2025-03-09T00:00", ["2025-03-09 04:00-04:00", "2025-03-09 06:00-04:00"]),
        // From inside the hour after it nothing is made up for again.
        ("30 2 * * *", "2025-03-09T03:00", ["2025-03-10 02:30-04:00", "2025-03-11 02:30-04:00"]),
    ]) func `in New York`(text: String, start: String, wanted: [String]) throws {
        #expect(try next(text, start, 2, zone: "America/New_York") == wanted)
    }

    @Test(arguments: [
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-04T00:00", "2026-10-04 02:30+11:00"),
        ("0 3 * * *", "Pacific/Chatham", "2026-09-27T00:00", "2026-09-27 03:45+13:45"),
        ("30 1,2 * * *", "Antarctica/Troll", "2026-03-29T00:00", "2026-03-29 03:00+02:00"),
        ("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00", "2018-11-04 01:00-02:00"),
        ("30 0 * * *", "Asia/Beirut", "2026-03-28T12:00", "2026-03-29 01:00+03:00"),
        ("30 0 * * *", "Africa/Cairo", "2026-04-23T12:00", "2026-04-24 01:00+03:00"),
        ("30 0 * * *", "America/Santiago", "2025-09-06T12:00", "2025-09-07 01:00-03:00"),
        ("30 1 * * *", "Europe/Dublin", "2026-03-28T12:00", "2026-03-29 02:00+01:00"),
        // The date line is a correction of the clock: nothing is made up for.
        ("0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00", "2012-12-30 12:00+14:00"),
        ("0 12 * * *", "Pacific/Apia", "2011-12-29T12:00", "2011-12-31 12:00+14:00"),
        ("0 12 31 12 *", "Pacific/Kiritimati", "1994-12-01T00:00", "1995-12-31 12:00+14:00"),
    ]) func `by any distance, at any hour`(text: String, zone: String, start: String, wanted: String) throws {
        #expect(try next(text, start, 1, zone: zone) == [wanted])
    }

    @Test func `skips the run where that is asked for`() throws {
        let skip = CronOptions(gap: .skip)
        let found = try next("30 2 * * *", "2025-03-08T12:00", 2, zone: "America/New_York", options: skip)
        #expect(found == ["2025-03-10 02:30-04:00", "2025-03-11 02:30-04:00"])
    }

    @Test func `treats every job by its options`() throws {
        func first(_ text: String, _ job: CronOptions.JobClass) throws -> [String] {
            try next(
                text, "2025-03-09T00:00", 1, zone: "America/New_York", options: CronOptions(jobClass: job))
        }
        #expect(try first("*/15 2 * * *", .fixed) == ["2025-03-09 03:00-04:00"])
        #expect(try first("30 2 * * *", .wildcard) == ["2025-03-10 02:30-04:00"])
    }

    @Test func `is found backwards at the same moment`() throws {
        let found = try previous("30 2 * * *", "2025-03-10T00:00", 2, zone: "America/New_York")
        #expect(found == ["2025-03-09 03:00-04:00", "2025-03-08 02:30-05:00"])
    }
}

@Suite struct `when the clock goes back` {
    @Test(arguments: [
        // A fixed-time job runs the first time.
        ("30 1 * * *", "2025-11-02T00:00", ["2025-11-02 01:30-04:00", "2025-11-03 01:30-05:00"]),
        ("0,30 1 * * *", "2025-11-02T01:00", ["2025-11-02 01:30-04:00", "2025-11-03 01:00-05:00"]),
        ("0 1-3 * * *", "2025-11-02T00:00", ["2025-11-02 01:00-04:00", "2025-11-02 02:00-05:00"]),
        ("0 30 1 * * *", "2025-11-02T00:00", ["2025-11-02 01:30-04:00", "2025-11-03 01:30-05:00"]),
        // One with a star both times, so that an hourly job never loses an hour.
        ("30 * * * *", "2025-11-02T01:00", ["2025-11-02 01:30-04:00", "2025-11-02 01:30-05:00"]),
        ("*/30 1 * * *", "2025-11-02T01:00", ["2025-11-02 01:30-04:00", "2025-11-02 01:00-05:00"]),
        ("0 */2 * * *", "2025-11-02T00:00", ["2025-11-02 02:00-05:00", "2025-11-02 04:00-05:00"]),
    ]) func `in New York`(text: String, start: String, wanted: [String]) throws {
        #expect(try next(text, start, 2, zone: "America/New_York") == wanted)
    }

    @Test func `does not repeat from inside the second pass`() throws {
        let found = try next("30 1 * * *", "2025-11-02T01:10-05:00", 1, zone: "America/New_York")
        #expect(found == ["2025-11-03 01:30-05:00"])
        let hourly = try next("30 * * * *", "2025-11-02T01:10-05:00", 1, zone: "America/New_York")
        #expect(hourly == ["2025-11-02 01:30-05:00"])
    }

    @Test(arguments: [
        (CronOptions.Overlap.first, ["2025-11-02 01:30-04:00", "2025-11-03 01:30-05:00"]),
        (.last, ["2025-11-02 01:30-05:00", "2025-11-03 01:30-05:00"]),
        (.both, ["2025-11-02 01:30-04:00", "2025-11-02 01:30-05:00"]),
    ]) func `runs as often as asked`(overlap: CronOptions.Overlap, wanted: [String]) throws {
        let options = CronOptions(overlap: overlap)
        let found = try next("30 1 * * *", "2025-11-02T00:00", 2, zone: "America/New_York", options: options)
        #expect(found == wanted)
        let backwards = try previous(
            "30 1 * * *", "2025-11-04T00:00", 3, zone: "America/New_York", options: options)
        #expect(wanted.reversed().allSatisfy(backwards.contains))
    }

    @Test(arguments: [
        ("45 1 * * *", "Australia/Lord_Howe", "2026-04-05T00:00", "2026-04-05 01:45+11:00"),
        ("15 3 * * *", "Pacific/Chatham", "2026-04-05T00:00", "2026-04-05 03:15+13:45"),
        ("30 2 * * *", "Antarctica/Troll", "2025-10-26T00:00", "2025-10-26 02:30+02:00"),
        ("30 23 * * *", "America/Sao_Paulo", "2018-02-17T12:00", "2018-02-17 23:30-02:00"),
        ("30 1 * * *", "Europe/Dublin", "2025-10-26T00:00", "2025-10-26 01:30+01:00"),
    ]) func `by any distance, at any hour`(text: String, zone: String, start: String, wanted: String) throws {
        let found = try next(text, start, 2, zone: zone)
        #expect(found.first == wanted)
        #expect(found.last?.prefix(10) != wanted.prefix(10))
    }
}
