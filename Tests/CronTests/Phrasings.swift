import Cron
import TestSupport
import Testing
import Timeline

/// What people type, and what becomes of it: one phrase a line, read on Wednesday 2026-03-25 at 10:07 in Berlin.
///
/// After the arrow stands the schedule, several expressions divided by ` + `, or `!` with a part of the reason.
private let phrasings = """
    mon-fri 8 to 18 every half hour -> */30 8-17 * * 1-5
    every day at 8:30 in Berlin -> 30 8 * * *
    every day at 8:30 in New York -> 30 8 * * * America/New_York
    every hour on the half hour -> 30 * * * *
    5 minutes past every hour -> 5 * * * *
    biweekly -> ! twice a week or every two weeks
    biweekly on monday at 9 -> calendar zone=Europe/Berlin 2w mon 09:00 from 2026-03-30
    tue & thu -> 0 0 * * 2,4
    at 9, 13:00 and 17:30 -> 0 9,13 * * * + 30 17 * * *
    every 1.5 hours -> every 1h30m from 2026-03-25T09:07:00Z
    twice a day -> ! at which hours is not said
    every minute -> * * * * *
    every 5 mins -> */5 * * * *
    every 5minutes -> */5 * * * *
    each 10 minutes -> */10 * * * *
    every ten minutes -> */10 * * * *
    every 15 min -> */15 * * * *
    every 20m -> */20 * * * *
    every thirty minutes -> */30 * * * *
    every 60 minutes -> 0 * * * *
    every 45 minutes -> every 45m from 2026-03-25T09:07:00Z
    every 90 seconds -> every 1m30s from 2026-03-25T09:07:00Z
    every 2.5 minutes -> every 2m30s from 2026-03-25T09:07:00Z
    every 0.5 hours -> */30 * * * *
    every 1.25 hours -> every 1h15m from 2026-03-25T09:07:00Z
    every hour and a half -> every 1h30m from 2026-03-25T09:07:00Z
    every 2 and a half hours -> every 2h30m from 2026-03-25T09:07:00Z
    every two and a half minutes -> every 2m30s from 2026-03-25T09:07:00Z
    every 2 hours and a half -> every 2h30m from 2026-03-25T09:07:00Z
    in 1.5 hours -> at 2026-03-25T10:37:00Z
    half-hourly -> */30 * * * *
    every quarter hour -> */15 * * * *
    every 30 seconds -> */30 * * * * *
    hourly -> 0 * * * *
    once per hour -> 0 * * * *
    once hourly -> 0 * * * *
    on the hour -> 0 * * * *
    on the half hour -> 30 * * * *
    every hour on the hour and half hour -> 0,30 * * * *
    at the top of the hour -> 0 * * * *
    at the top of every hour -> 0 * * * *
    at the start of each hour -> 0 * * * *
    hourly at :15 -> 15 * * * *
    every hour on the :15 -> 15 * * * *
    at :15 and :45 -> 15,45 * * * *
    :05 past the hour -> ! was not understood
    a quarter past every hour -> 15 * * * *
    quarter past the hour -> 15 * * * *
    half past every hour -> 30 * * * *
    every hour at quarter past -> 15 * * * *
    every hour at 5 past -> 5 * * * *
    hourly at 20 past on weekdays -> 20 * * * 1-5
    15 and 45 minutes past the hour -> 15,45 * * * *
    at 10 minutes past each hour -> 10 * * * *
    10 minutes before every hour -> 50 * * * *
    5 minutes to the hour -> 55 * * * *
    20 minutes after every hour on sundays -> 20 * * * 0
    every 2 hours -> 0 */2 * * *
    every two hours on the half hour -> 30 */2 * * *
    every 6 hours at :30 -> 30 */6 * * *
    every 3 hours in june -> 0 */3 * 6 *
    every 5 hours -> every 5h from 2026-03-25T09:07:00Z
    every day -> 0 0 * * *
    everyday at 9 -> 0 9 * * *
    every single day at 9 -> 0 9 * * *
    every day of the week at 9 -> 0 9 * * *
    daily at 9 -> 0 9 * * *
    once daily at 9 -> 0 9 * * *
    daily 09:00 -> 0 9 * * *
    9am daily -> 0 9 * * *
    9am every day. -> 0 9 * * *
    every day at 9 o’clock -> 0 9 * * *
    every day at 9 oclock -> 0 9 * * *
    every day at 9AM -> 0 9 * * *
    every day at 9 a.m. -> 0 9 * * *
    every day at 8.30 -> 30 8 * * *
    every day at 8.30pm -> 30 20 * * *
    every day at 17h30 -> 30 17 * * *
    every day at 17h -> 0 17 * * *
    every day at 0900 -> 0 9 * * *
    every day at 1730 -> 30 17 * * *
    every day at 1730 hours -> 30 17 * * *
    every day at 0600 and 1800 -> 0 6,18 * * *
    every day at ten past nine -> 10 9 * * *
    every day at 5 minutes past midnight -> 5 0 * * *
    20 past 4 every day -> 20 4 * * *
    every day at half past 7 -> 30 7 * * *
    every day at noon and midnight -> 0 0,12 * * *
    at midnight every day -> 0 0 * * *
    every day at 9am & 5pm -> 0 9,17 * * *
    every day at 9:30 and 17:00 -> 30 9 * * * + 0 17 * * *
    weekdays at 9:00 and 17:30 -> 0 9 * * 1-5 + 30 17 * * 1-5
    at 9 and 17 -> 0 9,17 * * *
    9am, 1pm and 5:30pm on weekdays -> 0 9,13 * * 1-5 + 30 17 * * 1-5
    every morning at 7:30 -> 30 7 * * *
    every day in the morning at 7 -> 0 7 * * *
    every day at 7 in the evening -> 0 19 * * *
    every evening at 8 -> 0 20 * * *
    every night at 2 -> 0 2 * * *
    nightly at midnight -> 0 0 * * *
    every night at 11:30 -> 30 23 * * *
    every weekday morning at 9 -> 0 9 * * 1-5
    weekday evenings at 6 -> 0 18 * * 1-5
    tuesday mornings at 10 -> 0 10 * * 2
    every weekday at 9:30 -> 30 9 * * 1-5
    weekdays 9:30 -> 30 9 * * 1-5
    mon-fri 9:30 -> 30 9 * * 1-5
    Mon - Fri at 9:30 -> 30 9 * * 1-5
    mon–fri at 9:30 -> 30 9 * * 1-5
    M-F at 9:30 -> 30 9 * * 1-5
    monday thru friday at noon -> 0 12 * * 1-5
    monday through friday at 9 -> 0 9 * * 1-5
    every monday to friday at 8 -> 0 8 * * 1-5
    every business day at 8 -> 0 8 * * 1-5
    workdays at 8 -> 0 8 * * 1-5
    mon, wed & fri at 7am -> 0 7 * * 1,3,5
    mon/wed/fri at 7 -> 0 7 * * 1,3,5
    mondays and thursdays at 8 -> 0 8 * * 1,4
    tue, thu, sat 6pm -> 0 18 * * 2,4,6
    every sat and sun at 10 -> 0 10 * * 0,6
    weekends at 10 -> 0 10 * * 0,6
    on the weekend at 10 -> 0 10 * * 0,6
    fri-sun at 10 -> 0 10 * * 0,5,6
    monday 9am -> 0 9 * * 1
    mon 9:00 -> 0 9 * * 1
    sundays at noon -> 0 12 * * 0
    weekly on friday at 17:00 -> 0 17 * * 5
    once a week on friday at 17:00 -> 0 17 * * 5
    weekly -> 0 0 * * 0
    every day except sunday at 9 -> 0 9 * * 1-6
    every day excluding weekends at 9 -> 0 9 * * 1-5
    weekdays except fridays at 9 -> 0 9 * * 1-4
    every hour except on sundays -> 0 * * * 1-6
    every 15 minutes between 9am and 5pm -> */15 9-16 * * *
    every 15 minutes from 9am until 5pm -> */15 9-16 * * *
    every 15 minutes 9am-5pm -> */15 9-16 * * *
    every 15 min, 9-17, mon-fri -> */15 9-16 * * 1-5
    every 30 minutes 9:00-17:00 on weekdays -> */30 9-16 * * 1-5
    every hour 9 to 17 -> 0 9-16 * * *
    hourly 9am to 5pm mon-fri -> 0 9-16 * * 1-5
    every hour from 9 through 17 -> 0 9-17 * * *
    9-17 every hour on weekdays -> 0 9-16 * * 1-5
    between 9 and 17 every 10 minutes -> */10 9-16 * * *
    8am - 6pm every 20 minutes -> */20 8-17 * * *
    every 2 hours between 8 and 18 -> 0 8-16/2 * * *
    every 5 minutes between 22 and 6 -> */5 22-23,0-5 * * *
    every 30 minutes from 22:00 through 05:30 -> */30 22-23,0-5 * * *
    every day every 15 minutes -> */15 * * * *
    every 15 minutes every day -> */15 * * * *
    every monday every 15 minutes -> */15 * * * 1
    every 10 minutes during weekdays -> */10 * * * 1-5
    every 10 minutes during july -> */10 * * 7 *
    every 10 minutes in july and august -> */10 * * 7,8 *
    monthly -> 0 0 1 * *
    monthly on the 15th at 6 -> 0 6 15 * *
    every month on the 1st at noon -> 0 12 1 * *
    first of the month at 8 -> 0 8 1 * *
    the 1st of every month at 8 -> 0 8 1 * *
    15th of each month at noon -> 0 12 15 * *
    every 15th at noon -> 0 12 15 * *
    on the 1st & 15th at 6 -> 0 6 1,15 * *
    once a month on the 3rd at 9 -> 0 9 3 * *
    start of every month at 6 -> 0 6 1 * *
    at the beginning of the month -> 0 0 1 * *
    beginning of the month at 7 -> 0 7 1 * *
    end of the month at 23:00 -> 0 23 L * *
    at the end of every month at 23:59 -> 59 23 L * *
    last day of the month at 23:30 -> 30 23 L * *
    last business day of the month at 5pm -> 0 17 LW * *
    first working day of the month at 9 -> 0 9 1W * *
    last friday of the month at noon -> 0 12 * * 5L
    first monday of each month at 8 -> 0 8 * * 1#1
    third thursday of november at 12 -> 0 12 * 11 4#3
    2nd tuesday of every month at 3am -> 0 3 * * 2#2
    every friday the 13th at noon -> 0 12 13 * +5
    every other month on the 1st at 9 -> 0 9 1 */2 *
    every 3 months -> 0 0 1 */3 *
    quarterly -> 0 0 1 */3 *
    every quarter at 6 -> 0 6 1 */3 *
    semiannually -> 0 0 1 */6 *
    half-yearly on the 1st at 9 -> 0 9 1 */6 *
    yearly -> 0 0 1 1 *
    annually on july 4 at noon -> 0 12 4 7 *
    every july 4th at 9 -> 0 9 4 7 *
    every 24 december at 8 -> 0 8 24 12 *
    every year on 1 january at 9 -> 0 9 1 1 *
    every monday in june at 7 -> 0 7 * 6 1
    every weekday from june to august at 7 -> 0 7 * 6-8 1-5
    on the 1st in january and july at 9 -> 0 9 1 1,7 *
    every other day at 6pm -> calendar zone=Europe/Berlin 2d 18:00 from 2026-03-25
    every 3 days at 9 -> calendar zone=Europe/Berlin 3d 09:00 from 2026-03-26
    every 2 weeks on tue at 9 -> calendar zone=Europe/Berlin 2w tue 09:00 from 2026-03-31
    every second week on monday at 9 -> calendar zone=Europe/Berlin 2w mon 09:00 from 2026-03-30
    every other tuesday at 9 -> calendar zone=Europe/Berlin 2w tue 09:00 from 2026-03-31
    fortnightly on friday at 17:00 -> calendar zone=Europe/Berlin 2w fri 17:00 from 2026-03-27
    bi-weekly on friday at 17:00 -> calendar zone=Europe/Berlin 2w fri 17:00 from 2026-03-27
    in 20 minutes -> at 2026-03-25T09:27:00Z
    in an hour and a half -> at 2026-03-25T10:37:00Z
    tomorrow at 8 -> at 2026-03-26T07:00:00Z
    tonight at 9 -> at 2026-03-25T20:00:00Z
    today 5pm -> at 2026-03-25T16:00:00Z
    next monday at 9 -> at 2026-03-30T07:00:00Z
    2026-12-24 at 9 -> at 2026-12-24T08:00:00Z
    tomorrow at 9 in tokyo -> at 2026-03-26T00:00:00Z
    15 minutes after the last run -> after 15m
    at startup -> startup
    manually -> manual
    every weekday at 9:30 Berlin time -> 30 9 * * 1-5
    every weekday at 9:30 in london -> 30 9 * * 1-5 Europe/London
    9am New York time daily -> 0 9 * * * America/New_York
    every day at 9 UTC -> 0 9 * * * UTC
    every day at 9 America/Los_Angeles -> 0 9 * * * America/Los_Angeles
    in tokyo every weekday at 9 -> 0 9 * * 1-5 Asia/Tokyo
    every 30 minutes 9-17 in singapore -> */30 9-16 * * * Asia/Singapore
    every day at 9 in japan -> 0 9 * * * Japan
    every day at 9 in june in berlin -> 0 9 * 6 *
    every other day at 9 in tokyo -> calendar zone=Asia/Tokyo 2d 09:00 from 2026-03-26
    every hour at 15 -> ! minute 15 of every hour, or 15:00
    every hour at 30 -> ! for a minute of the hour write :30
    hourly at 9 -> ! minute 9 of every hour, or 09:00
    every 15 minutes at 9 -> ! once at 09:00, or all through an hour
    every 2 hours starting at 9 -> ! the first time of all, or the first one of each day
    every 20 minutes beginning at 8am -> ! the first time of all, or the first one of each day
    every second monday at 9 -> ! one of a month or every so many weeks
    every second day of the month at 9 -> ! one of a month or every so many days
    next friday at 9 -> ! the one of this week or of the next
    every hour from 9 to 5 -> ! which half of the day
    weekdays 9 to 5 every 30 minutes -> ! which half of the day
    every 15 minutes from 9am to 5 -> ! which half of the day
    every day at 8 and 9pm -> ! which half of the day
    at 9 and 5 -> ! which half of the day is not said of 5
    every day at 8:30, 12 and 3:15 -> ! which half of the day is not said of 3
    weekdays at noon and 3 -> ! which half of the day is not said of 3
    at 5 and 9 -> 0 5,9 * * *
    at 9 and 05 -> 0 5,9 * * *
    at 22 and 2 -> 0 2,22 * * *
    at 9 and 7 -> 0 7,9 * * *
    mondays at 9 and 12 and fridays at 10 -> ! this is a second schedule
    on the 1st at 8 and the 15th at 9 -> ! make one schedule for each
    tomorrow at 9 on friday at 10 -> ! this is a second schedule
    mondays at 9 at 10 -> ! the time is said twice
    sunday night at 2 -> ! before or after that day
    on december 24 at 8 -> ! once or every year
    on the 13th and friday at 9 -> ! how these days combine
    bimonthly -> ! twice a month or every two months
    bi-monthly on the 1st -> ! twice a month or every two months
    biannually -> ! twice a year or every two years
    semiweekly -> ! on which days
    semi-monthly -> ! on which days
    every day at 9 in EST -> ! which place's clock
    every day at 9 CET time -> ! which place's clock
    every day at 9 in west -> ! which place's clock
    every day at 9 eastern time -> ! which place's clock
    every day at 9 pst -> ! which place's clock
    every day at 9 in cordoba -> ! write America/Cordoba or Europe/Cordoba
    every day at 1100 -> 0 11 * * *
    every hour at 9 and 17 -> ! name the times alone
    mon-fri at 9, sat at 10 -> ! make one schedule for each
    weekday mornings at 7 and 8:30 -> 0 7 * * 1-5 + 30 8 * * 1-5
    biweekly on mon and thu -> ! twice a week or every two weeks
    every day at 9 in Berln -> ! did you mean Europe/Berlin
    every day at 9 in springfield -> ! no time zone of this name
    every day at 9 in berlin in tokyo -> ! time zone is said twice
    every day at 9 local time -> ! was not understood
    twice daily -> ! at which hours is not said
    twice a day at 9 and 17 -> 0 9,17 * * *
    three times a day at 8, 12:00 and 18:30 -> 0 8,12 * * * + 30 18 * * *
    twice daily at 9 -> ! at which hours is not said
    every 1st day at 9 -> ! every day or the first day of the month
    every first monday at 9 -> ! say of the month, or every monday
    3 times a day -> ! at which hours is not said
    three times a week -> ! on which days is not said
    twice a week -> ! on which days is not said
    twice a month at 9 -> ! on which days is not said
    twice an hour -> ! say every 30 minutes
    four times per hour -> ! say every 15 minutes
    twice a year -> ! on which days is not said
    thrice daily -> ! at which hours is not said
    every few minutes -> ! how many is not said
    every couple of hours -> ! how many is not said
    every several days -> ! how many is not said
    some days at 9 -> ! how many is not said
    sometimes -> ! how often is not said
    regularly -> ! how often is not said
    24/7 -> ! how often is not said
    always -> ! how often is not said
    soon -> ! when is not said
    asap -> ! when is not said
    now -> ! when is not said
    whenever you like -> ! was not understood
    every day at lunchtime -> ! is not a time
    every day at teatime -> ! is not a time
    every day at sunrise -> ! not the sun
    at sunset -> ! not the sun
    on christmas at 9 -> ! holidays are not known
    every weekday except holidays at 9 -> ! holidays are not known
    every 15 minutes during business hours -> ! which hours these are
    every hour during office hours -> ! which hours these are
    every hour after 9 -> ! only one limit
    every 10 minutes before 5pm -> ! only one limit
    every day by 9 -> ! only one limit
    on 12/24 at 9 -> ! which number is the month
    at a random time every day -> ! was not understood
    every morning -> ! is not a time
    every night -> ! is not a time
    nightly -> ! is not a time
    every day at night -> ! is not a time
    at 8 -> ! how often is not said
    9am -> ! how often is not said
    tomorrow -> ! the time of that day is not said
    today at 9 -> ! in the past
    between 9 and 17 -> ! how often between these limits
    mon-fri 8 to 18 -> ! how often between these limits
    every day 9-17 -> ! how often between these limits
    end of the month -> ! when on the last day
    at the end of every month -> ! when on the last day
    end of day -> ! was not understood
    end of the week at 5pm -> ! was not understood
    in june -> ! when is not said
    june at 9 -> ! which days of June
    last friday -> ! of what is not said
    the last one of the month -> ! was not understood
    second business day of the month at 9 -> ! only the first and the last working day
    every 5 months -> ! do not divide a year
    every other year -> ! which years
    every 2 years on june 1 -> ! which years
    every 45 minutes on weekdays -> ! do not divide an hour
    every 45 minutes between 9 and 17 -> ! do not divide an hour
    every 7 hours from 9 to 17 -> 0 9,16 * * *
    every 15 minutes between 9:30 and 17 -> ! limits inside an hour
    every 15 minutes from 9 through 17 -> ! not one expression
    every 5 minutes between 22 and 6 on mondays -> ! whose small hours
    every hour between 9 and 9 -> ! both limits are the same
    every other day at 8 and 20 -> ! one time
    every other week at 9 -> ! needs one day of the week
    every other monday and friday at 9 -> ! needs one day of the week
    every 0 minutes -> ! the interval is zero
    every -5 minutes -> ! was not understood
    every 1.5 days -> ! was not understood
    every 1,5 hours -> ! was not understood
    every day at 25:00 -> ! no such time of day
    every day at 13pm -> ! no such time of day
    every day at 24 -> ! say midnight
    every day at 9:5 -> ! was not understood
    every day at 9:60 -> ! no such time of day
    on the 32nd at 9 -> ! is no day of a month
    every february 30 -> ! has no day 30
    every day at 9 or 10 -> ! was not understood
    every day at 9 at 10 -> ! the time is said twice
    every monday at 9 and every friday at 17 -> ! this is a second schedule
    every minute every hour -> ! how often is said twice
    every day on monday at 9 -> ! contradict each other
    every day at 9 sharp -> ! was not understood
    every weekday at nine thirty -> ! was not understood
    evry day at 9 -> ! was not understood
    every mnday at 9 -> ! was not understood
    run the backup every day -> ! was not understood
    every -> ! ends too early
    every day at -> ! the phrase ends
    every 15 -> ! ends where a unit
    every monday, -> ! was not understood
    30 2 * * * -> ! was not understood
    jeden Tag um 9 -> ! English only
    werktags um 9:30 -> ! English only
    täglich um 9 -> ! English only
    tous les jours à 9h -> ! English only
    chaque lundi à 9 heures -> ! English only
    todos los días a las 9 -> ! English only
    cada lunes a las 9 -> ! English only
    ogni giorno alle 9 -> ! English only
    elke dag om 9 uur -> ! English only
    codziennie o 9 -> ! English only
    varje dag kl 9 -> ! English only
    毎日9時 -> ! English only
    каждый день в 9 -> ! English only
    every day um 9 -> ! English only
    """

@Suite struct `what people type` {
    struct Row: Sendable, CustomTestStringConvertible {
        var phrase: String
        var result: String
        var isRefused: Bool { result.hasPrefix("! ") }
        var testDescription: String { phrase }
    }

    static let rows = phrasings.split(separator: "\n").map { line in
        let parts = line.split(separator: " -> ", maxSplits: 1)
        return Row(phrase: String(parts[0]), result: String(parts[1]))
    }

    /// A few zones of this machine.
    static let zones = PhraseZones(
        names: {
            [
                "Europe/Berlin", "Europe/London", "America/New_York", "America/Los_Angeles", "Asia/Tokyo",
                "Japan",
                "Asia/Singapore", "Singapore", "Australia/West", "EST", "America/Cordoba", "Europe/Cordoba",
            ]
        },
        rules: { try? SystemZones.zone($0 == "Europe/Cordoba" ? "Europe/Madrid" : $0) })

    @Test func `is known by three hundred phrases, a hundred of them refused`() {
        #expect(Self.rows.count >= 300 && Self.rows.count(where: \.isRefused) >= 100)
        #expect(Set(Self.rows.map(\.phrase)).count == Self.rows.count)
    }

    @Test(arguments: rows) func `becomes what was meant, or is refused with the reason`(row: Row) throws {
        let now = Moment(seconds: 1_774_429_620)
        let berlin = try SystemZones.zone("Europe/Berlin")
        var found: String
        do {
            let answer = try PhraseAnswer(row.phrase, now: now, in: berlin, zones: Self.zones)
            found = answer.schedule.members.map { schedule in
                guard case .cron(let expression, let zone) = schedule else { return schedule.text }
                return expression.description + (zone == "Europe/Berlin" ? "" : " \(zone)")
            }.joined(separator: " + ")
        } catch {
            found = "! \(error)"
        }
        if row.isRefused {
            let isSame = found.hasPrefix("! ") && found.contains(row.result.dropFirst(2))
            #expect(isSame, "\(row.phrase): \(found)")
        } else {
            var wanted = row.result
            if wanted.first?.isLetter != true {
                wanted = try wanted.split(separator: " + ").map { part in
                    let words = part.split(separator: " ")
                    let hasZone = words.last?.first?.isLetter == true && words.count > 5
                    let fields = words.dropLast(hasZone ? 1 : 0).joined(separator: " ")
                    let text = try CronExpression(fields).description
                    return text + (hasZone ? " \(words[words.count - 1])" : "")
                }.joined(separator: " + ")
            }
            #expect(found == wanted, "\(row.phrase)")
        }
    }
}
