import Cron
import Testing

@Suite struct `the words of an expression` {
    @Test(arguments: [
        ("* * * * *", "Every minute"),
        ("*/5 * * * *", "Every 5 minutes"),
        ("0 * * * *", "Every hour"),
        ("30 * * * *", "At minute 30 of every hour"),
        ("30 2 * * *", "At 02:30 every day"),
        ("0 9,13,17 * * *", "At 09:00, 13:00 and 17:00 every day"),
        ("0 9-17 * * 1-5", "Every hour from 09:00 through 17:00 on Monday through Friday"),
        ("*/15 9-16 * * 1-5", "Every 15 minutes from 09:00 through 16:45 on Monday through Friday"),
        ("* 9-10 * * *", "Every minute from 09:00 through 10:59 every day"),
        ("0 */2 * * *", "Every 2 hours from 00:00 every day"),
        ("0 */5 * * *", "Every 5 hours from 00:00 through 20:00 every day"),
        ("0 0 * * 0", "At 00:00 on Sunday"),
        ("0 0 * * 6,0", "At 00:00 on Saturday and Sunday"),
        ("0 0 * * 5-7", "At 00:00 on Friday through Sunday"),
        ("0 0 1 * *", "At 00:00 on day 1 of the month"),
        ("0 0 1,15 * *", "At 00:00 on days 1 and 15 of the month"),
        ("0 12 L * *", "At 12:00 on the last day of the month"),
        ("0 12 L-2 * *", "At 12:00 on the 2nd day before the last day of the month"),
        ("0 12 15W * *", "At 12:00 on the working day nearest to day 15 of the month"),
        ("0 12 LW * *", "At 12:00 on the last working day of the month"),
        ("0 12 * * 5L", "At 12:00 on the last Friday of the month"),
        ("0 12 * * 2#2", "At 12:00 on the 2nd Tuesday of the month"),
        ("0 0 1 1 *", "At 00:00 on day 1 in January"),
        ("0 0 29 2 *", "At 00:00 on day 29 in February"),
        ("0 6 * 6-8 *", "At 06:00 in June through August"),
        ("0 0 1 */3 *", "At 00:00 on day 1 in January, April, July and October"),
        ("0 0 0 1 1 * 2030", "At 00:00 on day 1 in January in 2030"),
        ("0 0 0 1 1 * */2", "At 00:00 on day 1 in January in every 2nd year from 1970 through 2198"),
        ("*/10 * * * * *", "Every 10 seconds"),
        ("* * * * * *", "Every second"),
        ("15 30 2 * * *", "At 02:30:15 every day"),
        ("30 * * * * *", "At second 30 of every minute"),
        ("CRON_TZ=Asia/Tokyo 30 2 * * *", "At 02:30 every day, Asia/Tokyo time"),
    ]) func `say what it means`(text: String, words: String) throws {
        #expect(try CronExpression(text).words == words)
    }

    @Test(arguments: [
        ("*/45 * * * *", "At minutes 0 and 45 of every hour"),
        ("*/7 * * * *", "At every 7th minute from 0 through 56 of every hour"),
        ("*/90 * * * *", "Every hour"),
        ("5-59/15 * * * *", "At minutes 5, 20, 35 and 50 of every hour"),
        ("0 0 */2 * *", "At 00:00 on every 2nd day from 1 through 31 of the month"),
        ("*/45 9-17 * * *", "At minutes 0 and 45 of the hours 9 through 17 every day"),
    ]) func `do not call an uneven step regular`(text: String, words: String) throws {
        #expect(try CronExpression(text).words == words)
    }

    @Test(arguments: [
        ("0 12 13 * 5", "At 12:00 on day 13 of the month OR on Friday"),
        ("0 12 13 * +5", "At 12:00 on day 13 of the month AND only when that is a Friday"),
        (
            "0 12 */2 * 1",
            "At 12:00 on every 2nd day from 1 through 31 of the month AND only when that is a Monday"
        ),
        ("0 12 */100,1-7 * MON", "At 12:00 on days 1 through 7 of the month AND only when that is a Monday"),
        ("0 0 31 2 MON", "At 00:00 on day 31 OR on Monday in February"),
        ("0 0 30 2 *", "Never: no date matches on day 30 in February"),
    ]) func `say OR and AND and never`(text: String, words: String) throws {
        #expect(try CronExpression(text).words == words)
    }
}
