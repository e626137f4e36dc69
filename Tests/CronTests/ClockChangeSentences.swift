import Cron
import TestSupport
import Testing
import Timeline

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
