import Cron
import Testing
import Timeline

/// OCPS 1.0 to 1.4 and crontab(5): which texts are expressions, and what equals what.
@Suite struct `the grammar` {
    /// Texts of one meaning; the second is the canonical one.
    @Test(arguments: [
        ("* * * * *", "* * * * *"),
        ("  *  * \t*\t* *  ", "* * * * *"),
        ("0 * * * * *", "* * * * *"),
        ("00 00 * * *", "0 0 * * *"),
        ("0 0 01 01 *", "0 0 1 1 *"),
        ("0000 0 * * *", "0 0 * * *"),
        ("1,2,3 * * * *", "1-3 * * * *"),
        ("3,1,2,1 * * * *", "1-3 * * * *"),
        ("1-5,3-9 * * * *", "1-9 * * * *"),
        ("0,30 * * * *", "*/30 * * * *"),
        ("0-59/15 * * * *", "*/15 * * * *"),
        ("10-20/5 3 * * *", "10,15,20 3 * * *"), ("10-25/5 3 * * *", "10-25/5 3 * * *"),
        ("0 0 * * MON,WED,FRI", "0 0 * * 1,3,5"),
        ("5-5 * * * *", "5 * * * *"),
        ("5-9/10 3 * * *", "5 3 * * *"),
        ("*/60 * * * *", "0 * * * *"),
        ("*/90 * * * *", "0 * * * *"),
        ("*/1 * * * *", "* * * * *"),
        ("0 0-23 * * *", "0 0-23 * * *"),
        ("0 */24 * * *", "*/60 0 * * *"),
        ("0 0 1-31 * *", "0 0 * * *"),
        ("0 0 * 1-12 *", "0 0 * * *"),
        ("0 0 * JAN *", "0 0 * 1 *"),
        ("0 0 * jan-MAR *", "0 0 * 1-3 *"),
        ("0 0 * Dec,FEB *", "0 0 * 2,12 *"),
        ("0 0 * */3 *", "0 0 * */3 *"),
        ("0 0 * 1,4,7,10 *", "0 0 * */3 *"),
        ("0 0 * * SUN", "0 0 * * 0"),
        ("0 0 * * 7", "0 0 * * 0"),
        ("0 0 * * 0,7", "0 0 * * 0"),
        ("0 0 * * sat,sun", "0 0 * * 0,6"),
        ("0 0 * * MON-FRI", "0 0 * * 1-5"),
        ("0 0 * * 5-7", "0 0 * * 0,5,6"),
        ("0 0 * * FRI-SUN", "0 0 * * 0,5,6"),
        ("0 0 * * SUN-TUE", "0 0 * * 0-2"),
        ("0 0 * * SUN-SUN", "0 0 * * 0"),
        ("0 0 * * 7-7", "0 0 * * 0"),
        ("0 0 * * 0-7", "0 0 * * *"),
        ("0 0 * * */7", "0 0 * * 0"),
        ("0 0 * * */2", "0 0 * * 0-6/2"),
        ("0 0 ? * MON", "0 0 * * 1"),
        ("0 0 1 * ?", "0 0 1 * *"),
        ("0 0 ? * ?", "0 0 * * *"),
        ("0 0 L * *", "0 0 L * *"),
        ("0 0 L-0 * *", "0 0 L * *"),
        ("0 0 15,L * *", "0 0 15,L * *"),
        ("0 0 L,L-1 * *", "0 0 L,L-1 * *"),
        ("0 0 LW * *", "0 0 LW * *"),
        ("0 0 L-0W * *", "0 0 LW * *"),
        ("0 0 1W * *", "0 0 1W * *"),
        ("0 0 * * 5L", "0 0 * * 5L"),
        ("0 0 * * FRIL", "0 0 * * 5L"),
        ("0 0 * * 5#L", "0 0 * * 5L"),
        ("0 0 * * 7L", "0 0 * * 0L"),
        ("0 0 * * MON#2", "0 0 * * 1#2"),
        ("0 0 * * 7#1", "0 0 * * 0#1"),
        ("0 0 * * 1#1,1#2,1#3,1#4,1#5", "0 0 * * 1"),
        ("0 0 * * 1,1#2", "0 0 * * 1"),
        ("0 0 13 * +5", "0 0 13 * +5"),
        ("0 0 */2 * 1", "0 0 1-31/2 * +1"),
        ("0 0 1-31 * 1", "0 0 * * *"),
        ("0 0 13 * 0-6", "0 0 * * *"),
        ("0 0 * * +MON", "0 0 * * 1"),
        ("0 0 */100,1-7 * MON", "0 0 1-7 * +1"),
        ("0 0 0 1 1 * 2030", "0 0 0 1 1 * 2030"),
        ("0 0 0 1 1 * 1970-2199", "0 0 1 1 *"),
        ("0 0 0 1 1 * */2", "0 0 0 1 1 * 1970-2198/2"),
        ("0 0 0 1 1 * 2030,2031,2032", "0 0 0 1 1 * 2030-2032"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@weekly", "0 0 * * 0"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@hourly", "0 * * * *"),
        (" @daily\t", "0 0 * * *"),
        ("CRON_TZ=Asia/Tokyo 0 0 * * *", "CRON_TZ=Asia/Tokyo 0 0 * * *"),
        ("TZ=Asia/Tokyo   @daily", "CRON_TZ=Asia/Tokyo 0 0 * * *"),
    ]) func `reads texts of one meaning as equal`(text: String, canonical: String) throws {
        let expression = try CronExpression(text)
        #expect(expression.description == canonical)
        #expect(try CronExpression(canonical) == expression)
    }

    @Test(arguments: [
        ("* * * * *", "0-59 * * * *", true), ("0 0-23 * * *", "0 * * * *", false),
        ("0 0 13 * 5", "0 0 13 * +5", false), ("0 0 1 * *", "0 0 2 * *", false),
        ("0 0 * * *", "CRON_TZ=UTC 0 0 * * *", false), ("*/60 3 * * *", "0 3 * * *", false),
        ("0 0 * * 1-5", "0 0 * * MON,TUE,WED,THU,FRI", true),
    ]) func `compares meanings, the class of the job included`(left: String, right: String, isEqual: Bool)
        throws
    {
        #expect(try (CronExpression(left) == CronExpression(right)) == isEqual)
    }

    @Test(arguments: [
        ("22-2 * * * *", "*/60,1,2,22-59 * * * *"), ("0 22-2 * * *", "0 0-2,22,23 * * *"),
        ("0 23-1/2 * * *", "0 1,23 * * *"), ("0 0 25-3 * *", "0 0 1-3,25-31 * *"),
        ("0 0 * NOV-FEB *", "0 0 * 1,2,11,12 *"), ("0 0 * * FRI-MON", "0 0 * * 0,1,5,6"),
        ("0 0 * * 5-1", "0 0 * * 0,1,5,6"), ("5/15 3 * * *", "5-50/15 3 * * *"),
        ("0 2/6 * * *", "0 2-20/6 * * *"), ("0 0 * * MON/2", "0 0 * * 1-5/2"),
        ("0 0 1W,15W * *", "0 0 1W,15W * *"), ("0 0 l * *", "0 0 L * *"), ("0 0 15w * *", "0 0 15W * *"),
        ("0 0 lw * *", "0 0 LW * *"), ("0 0 * * 5l", "0 0 * * 5L"), ("0 0 * january monday", "0 0 * 1 1"),
        ("? ? * * *", "* * * * *"),
    ]) func `leniently reads what other programs write`(text: String, canonical: String) throws {
        #expect(throws: CronError.self) { try CronExpression(text) }
        let lenient = CronOptions(isLenient: true)
        let expression = try CronExpression(text, options: lenient)
        #expect(try expression == CronExpression(canonical, options: lenient), "\(expression)")
    }

    @Test(arguments: [
        ("0 0 12 * * ?", "0 12 * * *"), ("0 15 10 ? * MON-FRI", "15 10 * * 1-5"),
        ("0 15 10 ? * 2-6", "15 10 * * 1-5"), ("0 15 10 ? * 1", "15 10 * * 0"),
        ("0 15 10 ? * 7", "15 10 * * 6"), ("0 15 10 L * ?", "15 10 L * *"),
        ("0 15 10 ? * 6L", "15 10 * * 5L"),
        ("0 15 10 ? * 6#3", "15 10 * * 5#3"), ("0 15 10 ? * L", "15 10 * * 6"),
        ("0 0 12 1/5 * ?", "0 12 1-31/5 * *"), ("0 15 10 * * ? 2035", "0 15 10 * * * 2035"),
        ("0 15 10 LW * ?", "15 10 LW * *"), ("0 0/5 14,18 * * ?", "*/5 14,18 * * *"),
    ]) func `reads Quartz, where 1 is Sunday`(text: String, canonical: String) throws {
        let found = try CronExpression(text, options: CronOptions(dialect: .quartz)).description
        let wanted = try CronExpression(canonical).description
        let fixed = try CronExpression(canonical, options: CronOptions(jobClass: .fixed)).description
        #expect(found == wanted || found == fixed)
    }

    @Test(arguments: ["0 12 * * ?", "0 0 12 * * *", "0 0 12 ? * ?", "0 0 12 ? * 0", "0 0 12 ? * 8"])
    func `refuses what Quartz refuses`(text: String) {
        #expect(throws: CronError.self) { try CronExpression(text, options: CronOptions(dialect: .quartz)) }
    }

    @Test func `chooses the values of H by the seed, for ever the same`() throws {
        func read(_ text: String, _ seed: String) throws -> String {
            try CronExpression(text, options: CronOptions(seed: seed)).description
        }
        // Computed apart from this code; these never change.
        #expect(try read("H H * * *", "backup") == read("H H * * *", "backup"))
        #expect(try read("H H * * *", "backup") == "47 23 * * *")
        #expect(try read("H(0-9) 3 * * *", "backup").hasSuffix(" 3 * * *"))
        let seeds = (0..<500).map { "job-\($0)" }
        let minutes = try seeds.map {
            try CronExpression("H 0 * * *", options: CronOptions(seed: $0)).description
        }
        #expect(Set(minutes).count > 50)
        for seed in seeds {
            let day = try #require(Int(read("0 0 H * *", seed).split(separator: " ")[2]))
            #expect((1...28).contains(day))
            let windowed = try #require(Int(read("H(10-19) 0 * * *", seed).split(separator: " ")[0]))
            #expect((10...19).contains(windowed))
            let steps = try CronExpression("H/15 1 * * *", options: CronOptions(seed: seed))
            let range = Moment(seconds: 3600)..<Moment(seconds: 7200)
            #expect(steps.count(in: range, zone: .utc) == 4)
            #expect(
                try CronExpression("H/90 1 * * *", options: CronOptions(seed: seed)).count(
                    in: range, zone: .utc) == 1)
        }
        let daily = CronOptions(seed: "backup", spreadsMacros: true)
        #expect(try CronExpression("@daily", options: daily).description == "47 23 * * *")
        #expect(throws: CronError.self) { try CronExpression("H * * * *") }
    }

    @Test func `knows a zone by asking`() throws {
        let knows = { (name: String) in name == "Asia/Tokyo" }
        #expect(try CronExpression("TZ=Asia/Tokyo 0 0 * * *", knowsZone: knows).zoneName == "Asia/Tokyo")
        #expect(throws: CronError.self) { try CronExpression("TZ=Mars/Olympus 0 0 * * *", knowsZone: knows) }
    }
}
