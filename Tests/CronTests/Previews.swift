import Cron
import TestSupport
import Testing
import Timeline

@Suite struct `a preview` {
    private func lines(
        _ text: String, _ start: String, _ count: Int, options: CronOptions = CronOptions()
    ) throws -> [String] {
        let zone = try SystemZones.zone("America/New_York")
        let schedule = Schedule.cron(try CronExpression(text, options: options), zone: zone.name)
        return schedule.preview(after: try Moment(iso8601: start, in: zone), in: zone, count: count).map {
            line in
            let time = line.moment.iso8601(in: zone)
            return (line.isSlot ? time : "(\(time))") + (line.noteWords.map { " " + $0 } ?? "")
        }
    }

    @Test func `shows where a run was moved`() throws {
        let found = try lines("30 2 * * *", "2025-03-08T00:00", 3)
        #expect(
            found == [
                "2025-03-08T02:30:00-05:00",
                "2025-03-09T03:00:00-04:00 moved from 02:30, which the clock skips",
                "2025-03-10T02:30:00-04:00",
            ])
    }

    @Test func `shows where a run is skipped`() throws {
        let found = try lines("30 2 * * *", "2025-03-08T12:00", 1, options: CronOptions(gap: .skip))
        #expect(
            found == [
                "(2025-03-09T03:00:00-04:00) 02:30 does not exist, nothing runs", "2025-03-10T02:30:00-04:00",
            ])
        let often = try lines("*/15 * * * *", "2025-03-09T01:40", 2)
        #expect(
            often == [
                "2025-03-09T01:45:00-05:00",
                "(2025-03-09T03:00:00-04:00) 02:00 and 3 more do not exist, nothing runs",
                "2025-03-09T03:00:00-04:00",
            ])
    }

    @Test func `shows where a time comes twice`() throws {
        let once = try lines("30 1 * * *", "2025-11-02T00:00", 2)
        #expect(
            once == [
                "2025-11-02T01:30:00-04:00 the first pass only, the clock goes back",
                "2025-11-03T01:30:00-05:00",
            ])
        let twice = try lines("30 * * * *", "2025-11-02T01:00", 3)
        #expect(
            twice == [
                "2025-11-02T01:30:00-04:00 first of two, the clock goes back",
                "2025-11-02T01:30:00-05:00 second of two, the clock goes back", "2025-11-02T02:30:00-05:00",
            ])
    }

    @Test func `of a grid has no notes`() {
        let schedule = Schedule.every(.seconds(60), anchor: Moment(seconds: 0))
        let found = schedule.preview(after: Moment(seconds: 30), in: .utc, count: 2)
        #expect(found.map(\.moment.seconds) == [60, 120] && found.allSatisfy { $0.note == nil && $0.isSlot })
        #expect(Schedule.manual.preview(after: Moment(seconds: 0), in: .utc, count: 5).isEmpty)
    }
}

@Suite struct `a change of the clock` {
    @Test(arguments: [
        (
            "30 2 * * *", "Europe/Berlin", "2026-01-10T00:00:00Z",
            "02:30 does not exist in Europe/Berlin on 29 March (runs at 03:00) and comes twice on 25 October "
                + "(runs once)"
        ),
        (
            "30 2 * * *", "Europe/Berlin", "2026-06-10T00:00:00Z",
            "02:30 does not exist in Europe/Berlin on 28 March (runs at 03:00) and comes twice on 25 October "
                + "(runs once)"
        ),
        (
            "30 1 * * *", "Europe/London", "2026-01-10T00:00:00Z",
            "01:30 does not exist in Europe/London on 29 March (runs at 02:00) and comes twice on 25 October "
                + "(runs once)"
        ),
        (
            "0,30 2 * * *", "Europe/Berlin", "2026-01-10T00:00:00Z",
            "02:00 and 1 more time do not exist in Europe/Berlin on 29 March (runs at 03:00) and come twice on "
                + "25 October (runs once)"
        ),
        (
            "*/15 2 * * *", "Europe/Berlin", "2026-01-10T00:00:00Z",
            "02:00 and 3 more times do not exist in Europe/Berlin on 29 March (nothing runs) and come twice on "
                + "25 October (runs twice)"
        ),
        (
            "30 2 28 3 *", "Europe/Berlin", "2027-06-10T00:00:00Z",
            "02:30 does not exist in Europe/Berlin on 28 March 2032 (runs at 03:00)"
        ),
        (
            "0 3 * * *", "Europe/Berlin", "2026-01-10T00:00:00Z", ""
        ),
        ("30 2 * * *", "UTC", "2026-01-10T00:00:00Z", ""),
    ])
    func `is explained in one sentence`(text: String, zone: String, after: String, sentence: String) throws {
        let zone = try SystemZones.zone(zone)
        let moment = try Moment(iso8601: after)
        let schedule = Schedule.cron(try CronExpression(text), zone: zone.name)
        #expect((schedule.clockChanges(after: moment, in: zone)?.sentence ?? "") == sentence)
        #expect((CronCheck(text).clockChangeWarning(in: zone, after: moment)?.message ?? "") == sentence)
    }

    @Test func `is explained by the rules of the expression`() throws {
        let berlin = try SystemZones.zone("Europe/Berlin")
        let expression = try CronExpression("30 2 * * *", options: CronOptions(gap: .skip, overlap: .both))
        let moment = try Moment(iso8601: "2026-01-10T00:00:00Z")
        #expect(
            Schedule.cron(expression, zone: berlin.name).clockChanges(after: moment, in: berlin)?.sentence
                == "02:30 does not exist in Europe/Berlin on 29 March (nothing runs) and comes twice on "
                + "25 October (runs twice)")
    }

    @Test func `is explained for days and weeks of the calendar`() throws {
        let berlin = try SystemZones.zone("Europe/Berlin")
        let moment = try Moment(iso8601: "2026-01-10T00:00:00Z")
        let sundays = try Schedule(calendar: "1w sun 02:30", in: berlin, made: moment)
        #expect(
            sundays.clockChanges(after: moment, in: berlin)?.sentence
                == "02:30 does not exist in Europe/Berlin on 29 March (runs at 03:00) and comes twice on "
                + "25 October (runs once)")
        let mondays = try Schedule(calendar: "1w mon 02:30", in: berlin, made: moment)
        #expect(mondays.clockChanges(after: moment, in: berlin) == nil)
    }
}
