import Cron
import TestSupport
import Testing
import Timeline

@Suite struct `a schedule` {
    let start = Moment(seconds: 1_774_746_000)

    @Test func `every counts from its anchor without drift`() throws {
        let schedule = Schedule.every(.seconds(900), anchor: start)
        #expect(schedule.nextSlot(after: start - .seconds(1), in: .utc) == start)
        #expect(schedule.nextSlot(after: start, in: .utc) == start + .seconds(900))
        #expect(schedule.nextSlot(after: start + .microseconds(1), in: .utc) == start + .seconds(900))
        #expect(
            schedule.nextSlot(after: start + .seconds(9_000_000), in: .utc) == start + .seconds(9_000_900))
    }

    @Test func `every is elapsed time and ignores the clock change`() throws {
        let berlin = try SystemZones.zone("Europe/Berlin")
        let schedule = Schedule.every(.seconds(86_400), anchor: try Moment(iso8601: "2026-03-28T11:00:00Z"))
        let slot = schedule.nextSlot(after: try Moment(iso8601: "2026-03-29T00:00:00Z"), in: berlin)
        #expect(slot?.iso8601(in: berlin) == "2026-03-29T13:00:00+02:00")
    }

    @Test func `every ends where moments end`() {
        let early = Schedule.every(.seconds(60), anchor: Moment(microseconds: .min))
        #expect(early.nextSlot(after: start, in: .utc) == nil)
        let late = Schedule.every(.seconds(60), anchor: start)
        #expect(late.nextSlot(after: Moment(microseconds: .max - 1), in: .utc) == nil)
        #expect(late.slotCount(after: start, through: start + .seconds(600), in: .utc) == 10)
    }

    @Test func `at fires once`() {
        let schedule = Schedule.at(start)
        #expect(schedule.nextSlot(after: start - .seconds(1), in: .utc) == start)
        #expect(schedule.nextSlot(after: start, in: .utc) == nil)
        #expect(schedule.slots(after: .distantPast, through: start, in: .utc, limit: 9) == [start])
    }

    @Test func `without a clock has no slots`() {
        for schedule in [Schedule.after(.seconds(60)), .startup(), .manual] {
            #expect(!schedule.isClockDriven)
            #expect(schedule.nextSlot(after: start, in: .utc) == nil)
            #expect(schedule.slotCount(after: start, through: .distantFuture, in: .utc) == 0)
        }
    }

    @Test func `lists slots after the first bound, through the last, up to the limit`() throws {
        let schedule = Schedule.cron(try CronExpression("*/10 * * * *"), zone: "UTC")
        let hour = schedule.slots(after: start, through: start + .seconds(3600), in: .utc, limit: 100)
        #expect(hour.count == 6 && hour.first == start + .seconds(600) && hour.last == start + .seconds(3600))
        #expect(schedule.slotCount(after: start, through: start + .seconds(3600), in: .utc) == 6)
        #expect(schedule.slots(after: start, through: .distantFuture, in: .utc, limit: 4).count == 4)
    }

    @Test func `has one line of text that reads back`() throws {
        let daily = CronOptions(gap: .skip, overlap: .both)
        let friday = CivilDate(year: 2026, month: 11, day: 27)
        let fortnight = try #require(
            CalendarGrid(days: 14, firstDay: friday, secondOfDay: 61_200, gap: .skip, overlap: .last))
        let schedules: [Schedule] = [
            .cron(try CronExpression("30 2 * * MON-FRI"), zone: "Europe/Berlin"),
            .cron(try CronExpression("TZ=Asia/Tokyo 30 2 * * *", options: daily), zone: "UTC"),
            .cron(try CronExpression("30 2 * * *", options: CronOptions(jobClass: .wildcard)), zone: "UTC"),
            .cron(try CronExpression("5 30 2 * * *", options: CronOptions(jobClass: .wildcard)), zone: "UTC"),
            .cron(try CronExpression("*/5 * * * *", options: CronOptions(jobClass: .fixed)), zone: "UTC"),
            .every(.seconds(5400), anchor: start), .after(.seconds(60)), .at(start), .startup(), .manual,
            .calendar(fortnight, zone: "Europe/Berlin"), .startup(delay: .seconds(900)),
        ]
        for schedule in schedules { #expect(try Schedule(text: schedule.text) == schedule) }
        #expect(schedules[0].text == "cron zone=Europe/Berlin 30 2 * * 1-5")
        #expect(
            schedules[1].text == "cron zone=UTC gap=skip fold=both CRON_TZ=Asia/Tokyo 30 2 * * *")
        #expect(schedules[2].text == "cron zone=UTC */60 30 2 * * *")
        #expect(schedules[3].text == "cron zone=UTC class=wildcard 5 30 2 * * *")
        #expect(schedules[5].text == "every 1h30m from 2026-03-29T01:00:00Z")
        #expect(
            schedules[10].text
                == "calendar zone=Europe/Berlin gap=skip fold=last 2w fri 17:00 from 2026-11-27")
    }

    @Test func `is also what the special words of a crontab mean`() throws {
        func read(_ text: String) throws -> Schedule {
            try Schedule(expression: text, zone: "UTC", anchor: start)
        }
        #expect(try read("@reboot") == .startup())
        #expect(try read(" @every  1h30m ") == .every(.seconds(5400), anchor: start))
        #expect(try read("@daily") == .cron(CronExpression("0 0 * * *"), zone: "UTC"))
        let error = #expect(throws: CronError.self) { try read("@every 0s") }
        #expect(error?.faults.first?.kind == .badInterval && error?.faults.first?.range == 7..<9)
    }

    @Test func `is put into words`() throws {
        let berlin = try SystemZones.zone("Europe/Berlin")
        let zone = berlin.name
        let texts = [
            ("cron zone=\(zone) 30 2 * * 1-5", "At 02:30 on Monday through Friday"),
            (
                "every 2d from 2026-03-25T17:00:00Z",
                "Every 2 days of elapsed time, counted from 2026-03-25T18:00:00+01:00"
            ),
            (
                "calendar zone=\(zone) 2w fri 17:00 from 2026-11-27",
                "Every 2 weeks on Friday at 17:00, counted from 2026-11-27"
            ),
            (
                "calendar zone=\(zone) 3d 08:00:30 from 2026-11-27",
                "Every 3 days at 08:00:30, counted from 2026-11-27"
            ),
            ("after 1h30m", "1 hour 30 minutes after the previous run ended"),
            ("at 2026-03-29T01:00:00Z", "Once, at 2026-03-29T03:00:00+02:00"),
            ("startup", "Once after each boot"),
            ("startup 15m", "Once, 15 minutes after each boot"), ("manual", "Only when you start it"),
        ]
        for (text, words) in texts { #expect(try Schedule(text: text).words(in: berlin) == words) }
    }

    @Test(arguments: [
        ("cron 30 2 * * *", 5..<5), ("cron zone=UTC gap=never 0 0 * * *", 14..<23), ("every 15m", 6..<9),
        ("after 15", 6..<8), ("at noon", 3..<3), ("manual now", 0..<10),
        ("cron zone=UTC 61 * * * *", 14..<16), ("calendar 2d 08:00 from 2026-11-27", 9..<9),
        ("calendar zone=UTC 2d 08:00", 26..<26), ("calendar zone=UTC class=fixed 2d 08:00", 18..<29),
        ("calendar zone=UTC 2x 08:00 from 2026-11-27", 18..<20),
    ]) func `points at what is wrong in its line`(text: String, range: Range<Int>) {
        let error = #expect(throws: CronError.self) { try Schedule(text: text) }
        #expect(error?.faults.first?.range == range)
    }
}
