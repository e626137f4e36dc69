import TestSupport
import Testing

@testable import Cron

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
        ("0 0 1 1 *", "At 00:00 on 1 January"),
        ("0 0 1,15 5 *", "At 00:00 on 1 and 15 May"),
        ("0 0 1-7 5 *", "At 00:00 on 1 through 7 May"),
        ("0 9 1W * *", "At 09:00 on the first working day of the month"),
        ("*/30 22-23,0-5 * * *", "Every 30 minutes from 22:00 through 05:30 every day"),
        ("0 22-23,0-5 * * *", "Every hour from 22:00 through 05:00 every day"),
        (
            "*/30 22-23,0-5 * * 1",
            "Every 30 minutes from 00:00 through 05:30 and from 22:00 through 23:30 on Monday"
        ),
        (
            "*/15 8-11,14-17 * * *",
            "Every 15 minutes from 08:00 through 11:45 and from 14:00 through 17:45 every day"
        ),
        ("0 0 29 2 *", "At 00:00 on 29 February"),
        ("0 6 * 6-8 *", "At 06:00 in June through August"),
        ("0 0 1 */3 *", "At 00:00 on the 1st of January, April, July and October"),
        ("0 0 1 */5 *", "At 00:00 on the 1st of January, June and November"),
        ("30 4 1 1,7 *", "At 04:30 on the 1st of January and July"),
        ("0 9 2,15 6-9 *", "At 09:00 on the 2nd and 15th of each month from June through September"),
        ("0 9 1-7 6,8 *", "At 09:00 on the 1st through 7th of June and August"),
        ("0 0 0 1 1 * 2030", "At 00:00 on 1 January in 2030"),
        ("0 0 0 1 1 * */2", "At 00:00 on 1 January in every 2nd year from 1970 through 2198"),
        ("*/10 * * * * *", "Every 10 seconds"),
        ("* * * * * *", "Every second"),
        ("15 30 2 * * *", "At 02:30:15 every day"),
        ("30 * * * * *", "At second 30 of every minute"),
        ("CRON_TZ=Asia/Tokyo 30 2 * * *", "At 02:30 every day, Asia/Tokyo time"),
    ]) func `show what it means`(text: String, words: String) throws {
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
        ("0 12 13 * 5", "At 12:00 on day 13 of the month or on Friday"),
        ("0 12 13 * +5", "At 12:00 on day 13 of the month and only when that is a Friday"),
        (
            "0 12 */2 * 1",
            "At 12:00 on every 2nd day from 1 through 31 of the month and only when that is a Monday"
        ),
        ("0 12 */100,1-7 * MON", "At 12:00 on the Mondays among days 1-7 of the month"),
        ("0 0 27-31 5 +1-3", "At 00:00 in May, on the Mondays to Wednesdays among days 27-31"),
        ("0 0 1,2,15 * +1,5", "At 00:00 on the Mondays and Fridays among days 1, 2 and 15 of the month"),
        ("0 0 27-31 5 1-3", "At 00:00 in May, on days 27 through 31 or on Monday through Wednesday"),
        ("0 0 31 2 MON", "At 00:00 in February, on day 31 or on Monday"),
        ("0 0 30 2 *", "Never: no date matches on 30 February"),
    ]) func `join two kinds of days, or show that none comes`(text: String, words: String) throws {
        #expect(try CronExpression(text).words == words)
    }
}

@Suite struct `the notes of an expression` {
    @Test(
        arguments: [
            (
                "0 0 31 * *",
                "nothing runs in February, April, June, September and November, which have no day 31"
            ),
            ("0 0 30 * *", "nothing runs in February, which has no day 30"),
            ("0 0 29 * *", "nothing runs in February, except in leap years"),
            ("0 0 29 2 *", "29 February comes in leap years only"),
            (
                "0 0 */2 * *",
                "the count starts again each month: the 31st is followed by the 1st; "
                    + "only the phrase \"every 2 days\" counts through"
            ),
            ("0 0 31 * 1", nil),
            ("0 0 28 * *", nil), ("0 0 1,31 * *", nil), ("0 0 31 1 *", nil), ("0 0 30 2 *", nil),
            ("0 0 L * *", nil), ("0 0 1,15 * *", nil), ("* * * * *", nil),
        ] as [(String, String?)]) func `say which dates do not come`(text: String, note: String?) throws
    {
        #expect(try CronExpression(text).notes == [note].compactMap { $0 })
    }
}

/// Whoever reads a sentence must not be able to mean two things by it.
@Suite struct `the words of two expressions` {
    /// Expressions in which one field after the other runs through what can be said of it.
    private static func texts(_ maker: inout RandomExpressions) -> [String] {
        func steps(_ low: Int, _ high: Int, _ firsts: [Int], _ widest: Int) -> [String] {
            firsts.flatMap { first in
                [first + 1, first + 2, (first + high) / 2, high - 1, high].filter {
                    $0 >= first && $0 <= high
                }
                .flatMap { last in (1...widest).map { "\(first)-\(last)/\($0)" } }
            }
        }
        let minutes =
            steps(0, 59, [0, 1, 5, 30, 58], 16) + ["*", "*/45", "0", "30", "0,1", "0,59", "7,8,9,11"]
        let hours =
            steps(0, 23, [0, 1, 2, 5, 8, 12, 22], 12) + ["*", "0", "9", "23", "9,17", "0,23", "8,9,10,20"]
        let days =
            steps(1, 31, [1, 2, 15, 30], 16) + ["*", "L", "L-1", "L-2,3", "LW", "L-1W", "15W", "1,15"]
        let weekdays = (1...126).map { bits in
            (0..<7).filter { bits >> $0 & 1 == 1 }.map(String.init).joined(separator: ",")
        }
        let months = (1...4094).filter { _ in maker.number(0, 4) == 0 }.map { bits in
            (1...12).filter { bits >> ($0 - 1) & 1 == 1 }.map(String.init).joined(separator: ",")
        }
        var texts: [String] = []
        for minute in minutes {
            for hour in ["*", "9", "9-17", "9,13", "*/2", "1-21/4"] {
                texts.append("\(minute) \(hour) * * *")
            }
            for rest in ["* *", "0 *", "* 9", "*/5 9-17"] { texts.append("\(minute) \(rest) * * *") }
            texts.append("5,50 \(minute) 3 * * *")
        }
        for hour in hours {
            for minute in ["0", "30", "0,30", "*", "*/15", "3-18/5"] {
                texts.append("\(minute) \(hour) * * *")
            }
        }
        for day in days {
            for weekday in ["*", "1", "+1", "5L", "+5L", "1#2", "1,3#1"] {
                texts.append("0 9 \(day) * \(weekday)")
            }
        }
        for weekday in weekdays {
            for day in ["*", "13", "1-7", "L"] {
                texts += ["0 9 \(day) * \(weekday)", "0 9 \(day) * +\(weekday)", "0 9 \(day) 2 \(weekday)"]
            }
        }
        for month in months { texts.append("0 9 1 \(month) *") }
        for years in steps(1970, 2199, [1970, 1971, 2030, 2199], 20) { texts.append("0 0 9 1 1 * \(years)") }
        return texts
    }

    @Test func `differ where the expressions do`() throws {
        var maker = RandomExpressions(random: SeededGenerator(seed: 10))
        var said: [String: CronExpression] = [:]
        for text in Self.texts(&maker) + (0..<5000).map({ _ in maker.expression() }) {
            let expression = try CronExpression(text)
            guard !expression.neverFires else { continue }
            let words = expression.words
            if let other = said[words] {
                #expect(other.plan.masks == expression.plan.masks, "\(other.text) and \(text): \(words)")
            }
            said[words] = expression
        }
        #expect(said.count > 6_000)
    }
}

@Suite struct `a name that was mistyped` {
    static let names = ["backup", "disk-check", "digest", "a"]

    @Test(arguments: [
        ("bakcup", "backup"), ("backu", "backup"), ("backups", "backup"), ("disk_chek", "disk-check"),
        ("digets", "digest"),
    ])
    func `is corrected when little is wrong`(typed: String, meant: String) {
        #expect(NearestName.hint(typed, among: Self.names) == "Did you mean \"\(meant)\"?")
    }

    @Test(arguments: [
        ("berlin", "Europe/Berlin"), ("berln", "Europe/Berlin"), ("new yrk", "America/New_York"),
        ("Europe/Berln", "Europe/Berlin"), ("springfield", nil),
    ])
    func `is corrected to the zone of its town`(typed: String, meant: String?) {
        let zones = ["America/New_York", "Asia/Tokyo", "Europe/Berlin"]
        #expect(NearestName.ofZone(typed, among: zones) == meant)
    }

    @Test(arguments: ["restore", "", "backup", "xyz"])
    func `is left alone when nothing is like it, or nothing is wrong`(typed: String) {
        let hint = NearestName.of(typed, among: Self.names)
        #expect(hint == nil || hint == "a" && typed.count <= 1)
    }
}
