import Cron
import FoundationEssentials
import TestSupport
import Testing
import Timeline

/// What the landing page shows, line by line: it compiles, and gives what the page says.
@Suite struct `the landing page of Cron` {
    @Test func `shows code that is here`() throws {
        let page = try LandingPage(of: "Cron")
        #expect(page.lines.count > 20)
        #expect(try page.missing(in: #filePath) == [])
    }

    @Test func `starts with a search`() throws {
        let file = URL(filePath: "/usr/share/zoneinfo/Europe/Berlin")
        let berlin = try ZoneRules(name: "Europe/Berlin", tzif: Array(Data(contentsOf: file)))
        let now = Moment(seconds: Int64(Date().timeIntervalSince1970))

        let expression = try CronExpression("30 2 * * MON-FRI")
        _ = expression.next(after: now, in: berlin)
        _ = expression.previous(before: now, in: berlin)
        _ = expression.contains(now, in: berlin)
        _ = expression.occurrences(after: now, in: berlin).prefix(5)
        _ = expression.count(in: now..<now + .seconds(31_536_000), zone: berlin)
        _ = expression.words
        _ = expression.description
        #expect(expression.words == "At 02:30 on Monday through Friday")
        #expect(expression.description == "30 2 * * 1-5")

        _ = try Schedule(phrase: "every weekday at 9:30", now: now, in: berlin)
        _ = try Schedule(phrase: "last friday of the month at noon", now: now, in: berlin)
        _ = try Schedule(phrase: "every other day at 6pm", now: now, in: berlin)
        let line = Schedule.cron(expression, zone: "Europe/Berlin").text
        let schedule = try Schedule(text: line)
        _ = schedule.nextSlot(after: now, in: berlin)
        #expect(schedule == .cron(expression, zone: "Europe/Berlin"))

        let skipping = try CronExpression("30 2 * * *", options: CronOptions(gap: .skip, overlap: .both))
        _ = Schedule.cron(skipping, zone: "Europe/Berlin").preview(after: now, in: berlin, count: 10)

        let check = CronCheck("*/45 * * * *", knowsZone: { $0 == "Europe/Berlin" })
        _ = check.warnings.map(\.kind)
        _ = check.clockChangeWarning(in: berlin, after: now)
        #expect(check.warnings.map(\.kind) == [.unevenStep])
        #expect(check.clockChangeWarning(in: berlin, after: now) == nil)
    }

    @Test func `continues with faults and other schedulers`() throws {
        do {
            _ = try CronExpression("0 25 * * *")
        } catch {
            print(error.drawing)
            #expect(error.drawing == "0 25 * * *\n  ^^ hour: 25 is outside 0-23 (columns 3-4)")
        }
        for line in Crontab("MAILTO=ops\n17 3 * * 1 /usr/bin/backup\n", form: .user).lines {
            print(line.times, line.command, line.environment, line.problem ?? "")
        }
        _ = try CalendarEvent("Mon..Fri *-*-* 09:30").fields
        #expect(
            try CronExpression(CalendarEvent("Mon..Fri *-*-* 09:30").fields).description == "30 9 * * 1-5")
    }
}
