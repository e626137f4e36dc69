import Cron
import TestSupport
import Testing
import Timeline

/// Phrases and what they become, read on Wednesday 2026-03-25 at 10:07 in Berlin.
@Suite struct `a phrase` {
    let now = Moment(seconds: 1_774_429_620)

    private func read(_ phrase: String) throws -> Schedule {
        try Schedule(phrase: phrase, now: now, in: SystemZones.zone("Europe/Berlin"))
    }

    @Test(arguments: [
        ("every minute", "* * * * *"),
        ("every 5 minutes", "*/5 * * * *"),
        ("every five minutes", "*/5 * * * *"),
        ("every 5 min", "*/5 * * * *"),
        ("every 15min", "*/15 * * * *"),
        ("every 15m", "*/15 * * * *"),
        ("every other minute", "*/2 * * * *"),
        ("every second minute", "*/2 * * * *"),
        ("every 3rd minute", "*/3 * * * *"),
        ("every half hour", "*/30 * * * *"),
        ("every half an hour", "*/30 * * * *"),
        ("every half-hour", "*/30 * * * *"),
        ("every quarter of an hour", "*/15 * * * *"),
        ("every 60 seconds", "* * * * *"),
        ("every second", "* * * * * *"),
        ("every 10 seconds", "*/10 * * * * *"),
        ("every 30 seconds on weekdays", "*/30 * * * * 1-5"),
        ("Every Hour", "0 * * * *"),
        ("hourly", "0 * * * *"),
        ("once an hour", "0 * * * *"),
        ("every hour on the hour", "0 * * * *"),
        ("every hour at minute 30", "30 * * * *"),
        ("at minute 30 of every hour", "30 * * * *"),
        ("at minutes 0 and 45 of every hour", "0,45 * * * *"),
        ("at 15 minutes past the hour", "15 * * * *"),
        ("at 15 past every hour", "15 * * * *"),
        ("every 2 hours", "0 */2 * * *"),
        ("every other hour", "0 */2 * * *"),
        ("every 2h", "0 */2 * * *"),
        ("every 120 minutes", "0 */2 * * *"),
        ("every 6 hours on sundays", "0 */6 * * 0"),
        ("every 2 hours at minute 15", "15 */2 * * *"),
        ("every hour between 9 and 17", "0 9-16 * * *"),
        ("every hour from 9:30 to 17:30", "30 9-16 * * *"),
        ("every 2 hours between 8 and 18", "0 8-16/2 * * *"),
        ("every 3 hours from 9am to 6pm on weekdays", "0 9-15/3 * * 1-5"),
        ("every two hours between 8am and 6pm", "0 8-16/2 * * *"),
        ("every hour from 9 through 17", "0 9-17 * * *"),
        ("every 3 hours from 9am through 6pm", "0 9-18/3 * * *"),
        ("every hour from 9:30 to 17", "30 9-16 * * *"),
        ("every hour between 9 and 10", "0 9 * * *"),
        ("every hour from 22 through 6", "0 0-6,22,23 * * *"),
        ("every 15 minutes between 9 and 17", "*/15 9-16 * * *"),
        ("every 15 minutes between 9 and 17 on weekdays", "*/15 9-16 * * 1-5"),
        ("every 10 minutes from 9am to 5pm on monday to friday", "*/10 9-16 * * 1-5"),
        ("every 15 minutes from 09:00 through 16:45", "*/15 9-16 * * *"),
        ("every 5 minutes between 22 and 6", "*/5 0-5,22,23 * * *"),
        ("every 20 minutes from 9-17", "*/20 9-16 * * *"),
        ("every minute from 9 to 10 every day", "* 9 * * *"),
        ("every 15 minutes every monday", "*/15 * * * 1"),
        ("every hour at :15", "15 * * * *"),
        ("every hour at :00 and :30", "0,30 * * * *"),
        ("every hour between 18 and midnight", "0 18-23 * * *"),
        ("every 2 hours between 22 and 6", "0 0-4/2,22 * * *"),
    ]) func `can name an interval`(phrase: String, fields: String) throws {
        try expect(phrase, fields)
    }

    @Test(arguments: [
        ("every day", "0 0 * * *"),
        ("daily", "0 0 * * *"),
        ("daily at 9", "0 9 * * *"),
        ("every day at 9", "0 9 * * *"),
        ("every day at 9:30", "30 9 * * *"),
        ("every day at 09:05", "5 9 * * *"),
        ("each day at 6pm", "0 18 * * *"),
        ("every day at 6 pm", "0 18 * * *"),
        ("every day at 6 p.m.", "0 18 * * *"),
        ("every day at 12am", "0 0 * * *"),
        ("every day at 12pm", "0 12 * * *"),
        ("every day at noon", "0 12 * * *"),
        ("every day at midnight", "0 0 * * *"),
        ("at midnight every day", "0 0 * * *"),
        ("once a day at 7", "0 7 * * *"),
        ("every noon", "0 12 * * *"),
        ("every morning at 7:30", "30 7 * * *"),
        ("every evening at 8", "0 20 * * *"),
        ("every night at 11pm", "0 23 * * *"),
        ("every afternoon at 3", "0 15 * * *"),
        ("every evening at a quarter to 8", "45 19 * * *"),
        ("every monday morning at 9", "0 9 * * 1"),
        ("sunday night at 11", "0 23 * * 0"),
        ("every evening at 18:30 and 19:30", "30 18,19 * * *"),
        ("every midnight", "0 0 * * *"),
        ("every day at half past 7", "30 7 * * *"),
        ("every day at quarter past nine", "15 9 * * *"),
        ("every day at a quarter to 6", "45 5 * * *"),
        ("every day at 8 o'clock", "0 8 * * *"),
        ("every day at 8 in the evening", "0 20 * * *"),
        ("every day at 9 and 17", "0 9,17 * * *"),
        ("every day at 9:00, 13:00 and 17:00", "0 9,13,17 * * *"),
        ("every day at 9:15 and 9:45", "15,45 9 * * *"),
        ("every day at 8am, noon, and 6pm", "0 8,12,18 * * *"),
        ("every day at 7:30:15", "15 30 7 * * *"),
        ("At 02:30 every day", "30 2 * * *"),
        ("every night at midnight", "0 0 * * *"),
        ("every night at 2am", "0 2 * * *"),
        ("every night at 03:00", "0 3 * * *"),
        ("nightly at 1am", "0 1 * * *"),
        ("every night at 2", "0 2 * * *"),
        ("every night at 12", "0 0 * * *"),
        ("every night at 12:30", "30 0 * * *"),
        ("every night at half past 12", "30 0 * * *"),
        ("every night at 5:15", "15 5 * * *"),
        ("every night at 11 and 2", "0 2,23 * * *"),
        ("every night at 6", "0 18 * * *"),
        ("nightly at 3", "0 3 * * *"),
        ("every night at 2 in june", "0 2 * 6 *"),
        ("every day at 3 at night", "0 3 * * *"),
        ("every day at 12 at night", "0 0 * * *"),
        ("every day at 2 in the night", "0 2 * * *"),
        ("everyday at 9", "0 9 * * *"),
        ("every day at 18:00 in the evening", "0 18 * * *"),
        ("every day at 12:30 in the afternoon", "30 12 * * *"),
        ("every day at 10 at night", "0 22 * * *"),
        ("half past nine every day", "30 9 * * *"),
        ("a quarter to 6 every day", "45 5 * * *"),
        ("9 o'clock every day", "0 9 * * *"),
    ]) func `can name a time of every day`(phrase: String, fields: String) throws {
        try expect(phrase, fields)
    }

    @Test(arguments: [
        ("every weekday at 9:30", "30 9 * * 1-5"),
        ("weekdays at 9:30", "30 9 * * 1-5"),
        ("at 9:30 on weekdays", "30 9 * * 1-5"),
        ("on weekdays at 9:30", "30 9 * * 1-5"),
        ("every working day at 9", "0 9 * * 1-5"),
        ("on business days at 9", "0 9 * * 1-5"),
        ("every weekend at 10", "0 10 * * 0,6"),
        ("at weekends at 10", "0 10 * * 0,6"),
        ("every monday", "0 0 * * 1"),
        ("every monday at 9", "0 9 * * 1"),
        ("mondays at 9", "0 9 * * 1"),
        ("on mondays at 9am", "0 9 * * 1"),
        ("monday at 9", "0 9 * * 1"),
        ("every mon at 9", "0 9 * * 1"),
        ("every monday and thursday at 8", "0 8 * * 1,4"),
        ("every monday, wednesday and friday at 8", "0 8 * * 1,3,5"),
        ("on tuesdays and thursdays at 18:00", "0 18 * * 2,4"),
        ("monday to friday at 8", "0 8 * * 1-5"),
        ("mon-fri at 8", "0 8 * * 1-5"),
        ("from monday to thursday at 8", "0 8 * * 1-4"),
        ("friday through sunday at noon", "0 12 * * 0,5,6"),
        ("every week", "0 0 * * 0"),
        ("weekly", "0 0 * * 0"),
        ("weekly on friday at 17:00", "0 17 * * 5"),
        ("every week on monday at 9", "0 9 * * 1"),
        ("every saturday, at 7", "0 7 * * 6"),
        ("every day except sunday at 9", "0 9 * * 1-6"),
        ("every day at 9 except on saturdays and sundays", "0 9 * * 1-5"),
        ("every weekday except friday at 9", "0 9 * * 1-4"),
        ("every 15 minutes except on sundays", "*/15 * * * 1-6"),
        ("every weekday but friday at 9", "0 9 * * 1-4"),
        ("on the weekend at 9", "0 9 * * 0,6"),
        ("monday mornings at 9", "0 9 * * 1"),
        ("every week in june at 9", "0 9 * 6 0"),
    ]) func `can name days of the week`(phrase: String, fields: String) throws {
        try expect(phrase, fields)
    }

    @Test(arguments: [
        ("every month", "0 0 1 * *"),
        ("monthly", "0 0 1 * *"),
        ("monthly at 6", "0 6 1 * *"),
        ("every month on the 15th at 6", "0 6 15 * *"),
        ("on the 1st at 6", "0 6 1 * *"),
        ("on the 1st and 15th at 6", "0 6 1,15 * *"),
        ("on the first day of the month at noon", "0 12 1 * *"),
        ("on the 1st, 10th and 20th of every month at 6", "0 6 1,10,20 * *"),
        ("on day 13 of the month at 12:00", "0 12 13 * *"),
        ("on days 1 through 7 of the month at 3", "0 3 1-7 * *"),
        ("last day of the month at 23:59", "59 23 L * *"),
        ("on the last day of every month at 23:00", "0 23 L * *"),
        ("on the 2nd day before the last day of the month at 1", "0 1 L-2 * *"),
        ("last working day of the month at 17:00", "0 17 LW * *"),
        ("last weekday of the month at 17:00", "0 17 LW * *"),
        ("on the working day nearest to the 15th of the month at 9", "0 9 15W * *"),
        ("last friday of the month at noon", "0 12 * * 5L"),
        ("on the last friday of each month at 12", "0 12 * * 5L"),
        ("every first monday of the month at 8", "0 8 * * 1#1"),
        ("first monday of the month at 8", "0 8 * * 1#1"),
        ("on the second tuesday of the month at 8", "0 8 * * 2#2"),
        ("on the first and third friday of the month at 8", "0 8 * * 5#1,5#3"),
        ("on the 5th sunday of every month at 8", "0 8 * * 0#5"),
        ("every friday the 13th at noon", "0 12 13 * +5"),
        ("on day 13 of the month OR on friday at noon", "0 12 13 * 5"),
        ("at noon on the 13th if it is a friday", "0 12 13 * +5"),
        ("at noon on days 1 through 7 of the month AND only when that is a Monday", "0 12 1-7 * +1"),
        ("on the 15th and on the last day of the month at 9", "0 9 15,L * *"),
        ("on the 1st and the last day of the month at 9", "0 9 1,L * *"),
        ("on the working day nearest to the 2nd day before the last day of the month at 9", "0 9 L-2W * *"),
        ("every other month", "0 0 1 */2 *"),
        ("every 3 months on the 1st at 6", "0 6 1 */3 *"),
        ("quarterly", "0 0 1 */3 *"),
        ("every quarter at 6", "0 6 1 */3 *"),
        ("first working day of the month at 9", "0 9 1W * *"),
        ("every month on the first weekday at 9", "0 9 1W * *"),
        ("every month on the last day at 9", "0 9 L * *"),
        ("monthly on the last friday at 9", "0 9 * * 5L"),
        ("every month on the first monday at 9", "0 9 * * 1#1"),
        ("3rd friday each month at 9", "0 9 * * 5#3"),
        ("on the fifteenth at 9", "0 9 15 * *"),
        ("on the twenty-first at 9", "0 9 21 * *"),
        ("on the 1st through the 5th at 9", "0 9 1-5 * *"),
        ("from the 1st to the 5th of the month at 9", "0 9 1-5 * *"),
        ("every 1st day of the month at 9", "0 9 1 * *"),
    ]) func `can name days of the month`(phrase: String, fields: String) throws {
        try expect(phrase, fields)
    }

    @Test(arguments: [
        ("yearly", "0 0 1 1 *"),
        ("every year", "0 0 1 1 *"),
        ("every 12 months", "0 0 1 1 *"),
        ("every year on december 24 at 8", "0 8 24 12 *"),
        ("every 24 december at 8", "0 8 24 12 *"),
        ("every december 24th at 8", "0 8 24 12 *"),
        ("every 24th of december at 8", "0 8 24 12 *"),
        ("every february 29", "0 0 29 2 *"),
        ("every day in december at 8", "0 8 * 12 *"),
        ("every weekday at 7 in june, july and august", "0 7 * 6-8 1-5"),
        ("every monday at 7 from june to august", "0 7 * 6-8 1"),
        ("every sunday in november through february at 7", "0 7 * 1,2,11,12 0"),
        ("on the first monday in september at 8", "0 8 * 9 1#1"),
        ("every 10 minutes in july", "*/10 * * 7 *"),
    ]) func `can name months`(phrase: String, fields: String) throws {
        try expect(phrase, fields)
    }

    @Test(arguments: [
        ("in 20 minutes", "at 2026-03-25T09:27:00Z"),
        ("20 minutes from now", "at 2026-03-25T09:27:00Z"),
        ("every fortnight on monday at 9", "calendar zone=Europe/Berlin 2w mon 09:00 from 2026-03-30"),
        ("fortnightly on monday at 9", "calendar zone=Europe/Berlin 2w mon 09:00 from 2026-03-30"),
        ("in an hour", "at 2026-03-25T10:07:00Z"),
        ("in half an hour", "at 2026-03-25T09:37:00Z"),
        ("in 2 hours and 30 minutes", "at 2026-03-25T11:37:00Z"),
        ("in 1h30m", "at 2026-03-25T10:37:00Z"),
        ("in 3 days", "at 2026-03-28T09:07:00Z"),
        ("in two weeks", "at 2026-04-08T09:07:00Z"),
        ("tomorrow at 8", "at 2026-03-26T07:00:00Z"),
        ("tomorrow morning at 8", "at 2026-03-26T07:00:00Z"),
        ("tonight at 9", "at 2026-03-25T20:00:00Z"),
        ("tomorrow at noon", "at 2026-03-26T11:00:00Z"),
        ("at 8 tomorrow", "at 2026-03-26T07:00:00Z"),
        ("tomorrow 9:30", "at 2026-03-26T08:30:00Z"),
        ("today at 17:00", "at 2026-03-25T16:00:00Z"),
        ("next monday at 9", "at 2026-03-30T07:00:00Z"),
        ("this friday at 9", "at 2026-03-27T08:00:00Z"),
        ("24 december 2026 at 9", "at 2026-12-24T08:00:00Z"),
        ("december 24, 2026 at 9", "at 2026-12-24T08:00:00Z"),
        ("at 2026-12-24 09:00", "at 2026-12-24T08:00:00Z"),
        ("2026-12-24T09:30", "at 2026-12-24T08:30:00Z"),
        ("every 1 hour and 30 minutes", "every 1h30m from 2026-03-25T09:07:00Z"),
        ("every 2 hours 15 minutes", "every 2h15m from 2026-03-25T09:07:00Z"),
        ("every forty-five minutes", "every 45m from 2026-03-25T09:07:00Z"),
        ("next wednesday at 9", "at 2026-04-01T07:00:00Z"),
        ("on 2026-12-24 at 8", "at 2026-12-24T07:00:00Z"),
        ("2026-03-29 at 2:30", "at 2026-03-29T01:00:00Z"),
        ("every other day at 6pm", "calendar zone=Europe/Berlin 2d 18:00 from 2026-03-25"),
        ("every other night at 2", "calendar zone=Europe/Berlin 2d 02:00 from 2026-03-26"),
        ("every other evening at 8", "calendar zone=Europe/Berlin 2d 20:00 from 2026-03-25"),
        ("every other day", "calendar zone=Europe/Berlin 2d 00:00 from 2026-03-26"),
        ("every 3 days at 9", "calendar zone=Europe/Berlin 3d 09:00 from 2026-03-26"),
        ("every 14 days at 9", "calendar zone=Europe/Berlin 2w thu 09:00 from 2026-03-26"),
        ("every 2 weeks on monday at 9", "calendar zone=Europe/Berlin 2w mon 09:00 from 2026-03-30"),
        ("every other friday at 16:00", "calendar zone=Europe/Berlin 2w fri 16:00 from 2026-03-27"),
        ("every other wednesday at 9", "calendar zone=Europe/Berlin 2w wed 09:00 from 2026-04-01"),
        (
            "every other friday at 5pm from 2026-11-27",
            "calendar zone=Europe/Berlin 2w fri 17:00 from 2026-11-27"
        ),
        ("every 3 days at 8 starting on 2026-01-05", "calendar zone=Europe/Berlin 3d 08:00 from 2026-01-05"),
        ("every 2 weeks at 8 from 2026-01-05", "calendar zone=Europe/Berlin 2w mon 08:00 from 2026-01-05"),
        ("every 45 minutes", "every 45m from 2026-03-25T09:07:00Z"),
        ("every 90 minutes", "every 1h30m from 2026-03-25T09:07:00Z"),
        ("every 1h30m", "every 1h30m from 2026-03-25T09:07:00Z"),
        ("every 5 hours", "every 5h from 2026-03-25T09:07:00Z"),
        ("every 48 hours", "every 2d from 2026-03-25T09:07:00Z"),
        ("15 minutes after the last run", "after 15m"),
        ("an hour after each run", "after 1h"),
        ("at startup", "startup"),
        ("on boot", "startup"),
        ("manually", "manual"),
        ("on demand", "manual"),
    ]) func `becomes a moment, a calendar, a grid or an event where no expression can express it`(
        phrase: String, text: String
    ) throws {
        #expect(try read(phrase).text == text)
    }

    @Test(arguments: [
        ("", 0..<0), ("every", 5..<5), ("soon", 0..<4), ("every blue monday", 6..<10),
        ("every day at teatime", 13..<20), ("every day at 25", 13..<15), ("every day at 24", 13..<15),
        ("every day at 13pm", 13..<17), ("every day at 9:5", 13..<16), ("at 8", 0..<4), ("tomorrow", 0..<8),
        ("today at 9", 0..<10), ("every second monday", 0..<19), ("every 0 minutes", 0..<15),
        ("every 45 minutes on weekdays", 0..<16), ("every 15 minutes between 9:30 and 17", 17..<36),
        ("twice a day", 0..<5), ("every morning", 6..<13),
        ("sunday night at 2", 16..<17), ("sunday night at 2am", 16..<19), ("sunday night at 12", 16..<18),
        ("every night except sunday at 2", 29..<30), ("every monday at 2 at night", 16..<26),
        ("every morning at 17:00", 17..<22),
        ("every evening at 9am", 17..<20),
        ("every day on monday at 9", 0..<9), ("on december 24 at 8", 3..<14), ("in a month", 3..<4),
        ("on the 13th and friday at 9", 12..<15), ("between 9 and 17 on weekdays", 0..<16),
        ("every 5 months", 0..<14), ("on the 32nd at 9", 3..<11), ("every february 30", 6..<17),
        ("every monday at 9 at 10", 21..<23), ("on the 1st on the 15th", 14..<22),
        ("tomorrow at 8 every day", 0..<23),
        ("every minute every hour", 13..<23), ("last friday", 0..<11), ("every other year", 0..<16),
        ("every 15 minutes from 9 through 17", 17..<34), ("every week day", 11..<14),
        ("every day at 9,", 14..<15), ("in 20", 3..<5), ("every monday except holidays", 20..<28),
        ("every day at 8 or so", 15..<17),
        ("every day at half past 9:15", 13..<27), ("every day at quarter to 9:30", 13..<28),
        ("every day at 12 in the evening", 13..<30), ("every day at 9 in the afternoon", 13..<31),
        ("every day at 12 in the morning", 13..<30), ("every day at 7 at night", 13..<23),
        ("every day at 8 and 9pm", 13..<22), ("every day at 9am and 5", 13..<22),
        ("every 15 minutes between 9 and 5", 17..<32), ("every 15 minutes from 9am to 5", 17..<30),
        ("every 15 minutes from noon to 3", 17..<31), ("every day but at 9", 14..<16),
        ("every hour from 2 to 5pm", 11..<24), ("every hour between 9 and 9", 11..<26),
        ("every 5 minutes between 22 and 6 on weekdays", 16..<32), ("every day at 9 or 10", 15..<17),
        ("every hour between 22 and 6 on mondays", 11..<27),
        ("every second day of the month at 9", 0..<16), ("every 3rd day of the month", 0..<13),
        ("at 9, 15 december", 6..<17), ("monday the 5th of october at 9", 0..<25),
        ("in june", 0..<7), ("june", 0..<4), ("every december at 8", 6..<14), ("december at 8", 0..<8),
        ("next friday at 9", 0..<11), ("this monday at 9", 0..<16), ("tonight at 2am", 11..<14),
        ("every day except monday to sunday", 0..<33), ("on the 1st except sunday", 0..<24),
        ("every other day except sunday", 0..<29),
        ("every other friday at 9 from 2026-11-26", 24..<39), ("every day at 9 from 2026-11-27", 15..<30),
        ("every 3 days from tomorrow", 18..<26), ("every other day at 8 and 20", 19..<27),
        ("every other week at 9", 0..<16), ("every 9999 weeks on monday", 0..<16),
        ("every 2 days from 2026-11-27 from 2026-11-29", 34..<44),
    ]) func `is refused where it is not fully understood`(phrase: String, range: Range<Int>) {
        let error = #expect(throws: CronError.self, "\(phrase)") { try read(phrase) }
        #expect(error?.faults.first?.range == range, "\(phrase): \(String(describing: error))")
    }

    @Test(
        arguments: [
            ("every 15 minutes between 9am and 5pm", "17:00 is not included; \"through\" would include it"),
            ("every hour between 9 and 17", "17:00 is not included; \"through\" would include it"),
            ("every two hours between 8am and 6pm", "18:00 is not included; \"through\" would include it"),
            ("every hour from 9 through 17", "17:00 is included"), ("every day at 9", nil),
        ] as [(String, String?)])
    func `has one meaning of its limits, and says it`(phrase: String, note: String?) throws {
        let answer = try PhraseAnswer(phrase, now: now, in: SystemZones.zone("Europe/Berlin"))
        #expect(answer.note == note)
    }

    private func expect(_ phrase: String, _ fields: String) throws {
        guard case .cron(let expression, let zone) = try read(phrase) else {
            Issue.record("\(phrase) is no expression")
            return
        }
        #expect(try expression == CronExpression(fields), "\(phrase) became \(expression)")
        #expect(zone == "Europe/Berlin")
    }
}

@Suite struct `words and phrases` {
    @Test func `mean the same wherever the words can be read again`() throws {
        var maker = RandomExpressions(random: SeededGenerator(seed: 6))
        let now = Moment(seconds: 1_774_429_620)
        var read = 0
        for _ in 0..<2000 {
            let expression = try CronExpression(maker.expression(seconds: false))
            guard !expression.neverFires else { continue }
            let words = expression.words
            guard let schedule = try? Schedule(phrase: words, now: now, in: .utc) else { continue }
            guard case .cron(let again, _) = schedule else {
                Issue.record("\(expression.text): \"\(words)\" became \(schedule.text)")
                continue
            }
            read += 1
            let starts = [Moment(seconds: 1_774_429_620), Moment(seconds: 1_900_000_000)]
            for start in starts {
                let wanted = Array(expression.occurrences(after: start, in: .utc).prefix(40))
                let found = Array(again.occurrences(after: start, in: .utc).prefix(40))
                let isSame = found == wanted
                #expect(isSame, "\(expression.text): \"\(words)\" became \(again)")
            }
        }
        #expect(read > 150)
    }

    @Test func `end for any words`() {
        let words = [
            "every", "other", "at", "on", "in", "the", "of", "month", "monday", "friday", "9", "17:30", "6pm",
            "noon", ",", "and", "or", "last", "first", "day", "15", "minutes", "between", "from", "to",
            "through",
            "hour", "hours", "weekdays", "december", "13th", "tomorrow", "if", "it", "is", "a", "past",
            "1h30m",
        ]
        var random = SeededGenerator(seed: 8)
        let now = Moment(seconds: 1_774_429_620)
        for _ in 0..<12_000 {
            let phrase = (0..<Int.random(in: 1...9, using: &random))
                .map { _ in words[Int.random(in: 0..<words.count, using: &random)] }.joined(separator: " ")
            do {
                let schedule = try Schedule(phrase: phrase, now: now, in: .utc)
                #expect(
                    schedule.nextSlot(after: now, in: .utc) != nil || !schedule.isClockDriven, "\(phrase)")
            } catch {
                #expect(error.faults.allSatisfy { $0.range.upperBound <= phrase.utf8.count }, "\(phrase)")
            }
        }
    }
}
