import API
import Testing

@Suite struct `cron on the command line` {
    let run: CommandRun

    init() throws { run = try CommandRun() }

    @Test func `names what comes next, and what came before, nearest first`() async throws {
        let next = try await run.belfry(
            #"cron next "30 2 * * *" --zone Europe/Berlin --from 2026-03-28T00:00Z -n 3"#)
        #expect(
            next.output == """
                2026-03-28T02:30:00+01:00
                2026-03-29T03:00:00+02:00
                2026-03-30T02:30:00+02:00

                """)
        #expect(
            next.status == 0
                && next.errors.hasPrefix("note: 02:30 does not exist in Europe/Berlin on 29 March"))
        let previous = try await run.belfry(#"cron prev "0 0 29 2 *" --from 2026-01-01 -n 2"#)
        #expect(previous.output == "2024-02-29T00:00:00+00:00\n2020-02-29T00:00:00+00:00\n")
        let skipping = try await run.belfry(
            #"cron next "30 2 * * *" --zone Europe/Berlin --from 2026-03-28T12:00Z -n 1 --gap skip"#)
        #expect(skipping.output == "2026-03-30T02:30:00+02:00\n")
        let never = try await run.belfry(#"cron prev "0 0 31 2 *""#)
        #expect(never.status == 0 && never.output.isEmpty)
    }

    private struct Listing: Decodable {
        struct Remark: Decodable, Equatable {
            var kind: String
            var field: String?
            var start: Int
            var end: Int
            var message: String
        }
        var expression: String
        var zone: String
        var words: String?
        var occurrences: [String]
        var warnings: [Remark]
    }

    @Test func `prints the same in JSON, warnings with their places`() async throws {
        let answer = try await run.belfry(
            #"cron prev "*/45 2 * * *" --zone UTC --from 2026-01-01T00:00Z -n 1 --json"#)
        let listing = try WireCoding.decode(Listing.self, from: answer.output.utf8)
        #expect(listing.expression == "*/45 2 * * *" && listing.zone == "UTC")
        #expect(listing.occurrences == ["2025-12-31T02:45:00+00:00"])
        #expect(listing.warnings.map(\.kind) == ["unevenStep"])
        #expect(listing.warnings.first?.field == "minute")
        #expect(listing.warnings.first.map { $0.start..<$0.end } == 0..<4)
    }

    private struct Refused: Decodable {
        struct Fault: Decodable {
            var kind: String
            var field: String?
            var start: Int?
            var end: Int?
            var message: String
            var fix: String?
            var errors: [Fault]?
        }
        var error: Fault
    }

    @Test(arguments: ["next", "prev", "explain"])
    func `shows in JSON where the faults are, and in text draws them`(verb: String) async throws {
        let answer = try await run.belfry(#"cron \#(verb) "61 25 * * *" --json"#)
        #expect(answer.status == 2 && answer.output.isEmpty)
        let error = try WireCoding.decode(Refused.self, from: answer.errors.utf8).error
        #expect(error.field == "minute" && error.start == 0 && error.end == 2)
        #expect(error.message.hasPrefix("minute: 61 is outside") && !error.message.contains("\n"))
        #expect(error.errors?.map(\.field) == ["minute", "hour"])
        #expect(error.errors?.map(\.kind) == ["outOfRange", "outOfRange"])
        let text = try await run.belfry(#"cron \#(verb) "61 25 * * *""#)
        #expect(text.errors.hasPrefix("belfry: the expression is refused:\n61 25 * * *\n^^ minute: "))
        #expect(text.errors.contains("\n   ^^ hour: "))
    }

    @Test func `explains with three occurrences and what the clock changes do`() async throws {
        let text = try await run.belfry(#"cron explain "30 2 * * MON-FRI,SUN" --zone Europe/Berlin"#)
        let lines = text.output.split(separator: "\n")
        #expect(lines.first == "At 02:30 on Monday through Friday and Sunday")
        #expect(lines.filter { $0.contains("T02:30:00+") || $0.contains("T03:00:00+") }.count == 3)
        #expect(
            lines.contains {
                $0.hasPrefix("note: ") && $0.contains("02:30 does not exist in Europe/Berlin on ")
            })
        let answer = try await run.belfry(#"cron explain "@daily" --zone Asia/Tokyo --json"#)
        let listing = try WireCoding.decode(Listing.self, from: answer.output.utf8)
        #expect(
            listing.words == "At 00:00 every day" && listing.occurrences.count == 3
                && listing.warnings.isEmpty)
        #expect(try await run.belfry(#"cron explain "0 25 * * *""#).status == 2)
    }

    @Test func `explains what is easily overlooked, and what H stands for`() async throws {
        let short = try await run.belfry(#"cron explain "0 0 31 * *""#)
        #expect(
            short.output.contains("\nnote: nothing runs in February, April, June, September and November"))
        let leap = try await run.belfry(#"cron explain "0 0 29 2 *""#)
        #expect(
            leap.output.hasPrefix("At 00:00 on 29 February\n") && leap.output.contains("leap years only\n"))
        let step = try await run.belfry(#"cron explain "0 0 */2 * *" --json"#)
        #expect(step.output.contains(#""notes":["the count starts again each month"#))
        let bare = try await run.belfry(#"cron explain "H 2 * * *""#)
        #expect(bare.status == 2 && bare.errors.contains("--seed NAME"), "\(bare.errors)")
        let seeded = try await run.belfry(#"cron explain "H 2 * * *" --seed backup"#)
        #expect(seeded.output.contains("\nnote: with the seed \"backup\" this is "), "\(seeded.output)")
    }

    @Test func `turns phrases into schedules, or shows what it did not understand`() async throws {
        let said = try await run.belfry(#"cron words "every weekday at 9:30""#)
        #expect(said.output.hasPrefix("30 9 * * 1-5\nAt 09:30 on Monday through Friday\n  20"))
        let lines = said.output.split(separator: "\n")
        #expect(lines.count == 5 && lines.dropFirst(2).allSatisfy { $0.hasSuffix("T09:30:00+00:00") })
        #expect(said.status == 0)
        let city = try await run.belfry(#"cron words "every day at 8:30 in Tokyo""#)
        #expect(
            city.output.hasPrefix("CRON_TZ=Asia/Tokyo 30 8 * * *\nAt 08:30 every day, Asia/Tokyo time\n")
                && city.output.contains("+09:00\n"), "\(city.output)")
        let both = try await run.belfry(#"cron words "every day at 9 in Tokyo" --zone Europe/Berlin"#)
        #expect(both.status == 2 && both.errors.contains("names the time zone Asia/Tokyo"))
        let slip = try await run.belfry(#"cron words "every day at 9 in Berln""#)
        #expect(slip.status == 1 && slip.errors.contains("did you mean Europe/Berlin?"), "\(slip.errors)")
        let several = try await run.belfry(#"cron words "at 9, 13:00 and 17:30""#)
        #expect(several.output.hasPrefix("0 9,13 * * *\n30 17 * * *\nAt 09:00 and 13:00 every day\n"))
        #expect(several.output.contains("\nnote: every day, as no day is named\n"))
        #expect(several.output.hasSuffix("give job add one --cron for each\n"))
        let severalAsJSON = try await run.belfry(#"cron words "at 9, 13:00 and 17:30" --json"#)
        #expect(severalAsJSON.output.contains(#""expressions":["0 9,13 * * *","30 17 * * *"]"#))
        #expect(!severalAsJSON.output.contains(#""expression":"#))
        let often = try await run.belfry(#"cron words "every 1.5 hours""#)
        #expect(often.output.contains("\nEvery 1 hour 30 minutes, counted from now\n"))
        let german = try await run.belfry(#"cron words "jeden Tag um 9""#)
        #expect(german.status == 1 && german.errors.contains("in English only"))
        let grid = try await run.belfry(#"cron words "every other day at 6pm" --zone UTC"#)
        #expect(grid.output.hasPrefix("calendar zone=UTC 2d 18:00 from 2") && grid.status == 0)
        #expect(grid.output.contains("\nEvery 2 days at 18:00, counted from 2"))
        let limits = try await run.belfry(#"cron words "every 15 minutes between 9am and 5pm""#)
        #expect(limits.output.hasPrefix("*/15 9-16 * * *\n"))
        #expect(limits.output.hasSuffix("\nnote: 17:00 is not included; \"through\" would include it\n"))
        let refused = try await run.belfry(#"cron words "every weekday at 9:30 sharpish""#)
        #expect(refused.status == 1 && refused.output.isEmpty)
        #expect(refused.errors.contains("\n                      ^^^^^^^^ "))
        let asJSON = try await run.belfry(#"cron words "sharpish" --json"#)
        #expect(asJSON.status == 1 && asJSON.output.contains(#""kind":"notUnderstood""#))
    }

    @Test func `answers lines in their order`() async throws {
        let answer = try await run.belfry(
            "cron next --stdin --zone UTC -n 1",
            input: """
                {"id":7,"expr":"@daily","from":"2026-01-01T00:00Z","n":2}
                { "id" : "a\\"b \\u00e9" , "expr" : "0 12 * * *", "zone":"Asia/Tokyo", "from":"2026-01-01" }

                {"id":null,"expr":"0 0 29 2 *","from":"2026-01-01","direction":"prev"}
                {"expr":"22-2 * * * *","from":"2026-01-01T00:00Z","lenient":true,"other":[1.5e3]}
                {"expr":"58-1 * * * *","from":"2026-01-01T00:00Z","lenient":true,"other":1.5e3}
                {"id":1,"expr":"0 0 31 2 *"}
                """)
        let lines = answer.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 6)
        #expect(
            lines[0]
                == #"{"id":7,"occurrences":["2026-01-02T00:00:00+00:00","2026-01-03T00:00:00+00:00"]}"#)
        #expect(lines[1] == #"{"id":"a\"b \u00e9","occurrences":["2026-01-01T12:00:00+09:00"]}"#)
        #expect(lines[2] == #"{"id":null,"occurrences":["2024-02-29T00:00:00+00:00"]}"#)
        #expect(lines[3].contains(#""kind":"badJSON""#))
        #expect(lines[4] == #"{"id":null,"occurrences":["2026-01-01T00:01:00+00:00"]}"#)
        #expect(lines[5] == #"{"id":1,"occurrences":[]}"#)
        #expect(answer.status == 0)
    }

    @Test(arguments: [
        (#"{"id":1,"expr":"0 25 * * *"}"#, #""kind":"outOfRange","field":"hour","start":2,"end":4"#),
        (#"{"id":1,"expr":"61 25 * * *"}"#, #""errors":[{"kind":"outOfRange","field":"minute""#),
        (#"{"id":1}"#, #""message":"expr is missing""#),
        (#"{"id":1,"expr":"@daily","zone":"Mars/Base"}"#, #""kind":"unknownZone""#),
        (#"{"id":1,"expr":"TZ=Mars/Base @daily"}"#, #""kind":"unknownZone""#),
        (#"{"id":1,"expr":"@daily","from":"soon"}"#, #""kind":"badMoment""#),
        (#"{"id":1,"expr":"@daily","n":0}"#, #""kind":"outOfRange""#),
        (#"{"id":1,"expr":"@daily","direction":"up"}"#, #""kind":"notUnderstood""#),
    ])
    func `refuses a line with kind and place`(line: String, part: String) async throws {
        let answer = try await run.belfry("cron next --stdin", input: line + "\n")
        #expect(answer.output.hasPrefix(#"{"id":1,"error":{"#), "\(answer.output)")
        #expect(answer.output.contains(part), "\(answer.output)")
    }

    @Test(arguments: [
        "x", "[]", "{", #"{"id":1"#, #"{"id":01,"expr":"@daily"}"#, #"{"id":1,"expr":"@daily"} x"#,
        #"{"id":1,"expr":5}"#, #"{"id":"a,"expr":"@daily"}"#, #"{"id":1,"expr":"\ud800"}"#, "{\"id\":\u{1}}",
    ])
    func `refuses what is no JSON object of its kind`(line: String) async throws {
        let answer = try await run.belfry("cron prev --stdin", input: line)
        #expect(answer.output.hasPrefix(#"{"id":null,"error":{"kind":"badJSON""#), "\(answer.output)")
    }

    @Test func `checks lines, and fails when one is refused`() async throws {
        let good = try await run.belfry(
            "cron check --stdin", input: #"{"id":1,"expr":"*/45 * * * *"}"# + "\n")
        #expect(good.status == 0)
        #expect(
            good.output.hasPrefix(#"{"id":1,"warnings":[{"kind":"unevenStep","field":"minute","start":0"#))
        let bad = try await run.belfry("cron check --stdin", input: #"{"id":1,"expr":"* * * *"}"#)
        #expect(bad.status == 1 && bad.output.contains(#""kind":"fieldCount""#))
    }

    @Test func `answers twenty thousand lines whole, through many blocks`() async throws {
        let input = (0..<20_000).map { #"{"id":\#($0),"expr":"\#($0 % 60) * * * *","n":1}"# }
        let answer = try await run.belfry(
            "cron next --stdin --zone Europe/Berlin --from 2026-01-01T00:59:30",
            input: input.joined(separator: "\n"))
        let lines = answer.output.split(separator: "\n")
        #expect(lines.count == 20_000)
        #expect(lines.last == #"{"id":19999,"occurrences":["2026-01-01T01:19:00+01:00"]}"#)
        #expect(lines.enumerated().allSatisfy { $1.hasPrefix(#"{"id":\#($0),"occurrences":["#) })
    }

    @Test func `explains and checks what is an event or an interval`() async throws {
        let grid = try await run.belfry(#"cron explain "@every 90m" --zone UTC"#)
        #expect(grid.output.hasPrefix("Every 1 hour 30 minutes, counted from ") && grid.status == 0)
        #expect(grid.output.contains("\nnote: "))
        let startup = try await run.belfry(#"cron explain "@reboot" --json"#)
        #expect(startup.output.contains(#""canonical":"@reboot""#) && startup.status == 0)
        for text in ["@reboot", " @every  15m"] {
            #expect(try await run.belfry("cron check \"\(text)\"").output == text + "\n")
            let line = try await run.belfry("cron check --stdin", input: "{\"id\":1,\"expr\":\"\(text)\"}")
            #expect(line.output == "{\"id\":1,\"warnings\":[]}\n" && line.status == 0)
        }
        let zero = try await run.belfry(#"cron check "@every 0s""#)
        #expect(zero.status == 1 && zero.errors.contains("\n       ^^ "), "\(zero.errors)")
        let next = try await run.belfry(#"cron next "@every 15m""#)
        #expect(next.status == 2 && next.errors.contains("as the schedule of a job"))
    }

    @Test func `reports that nothing comes any more`() async throws {
        let next = try await run.belfry(#"cron next "0 0 0 1 1 * 2020" --zone UTC --from 2026-01-01"#)
        #expect(next.output.isEmpty && next.status == 0)
        #expect(next.errors == "belfry: it does not fire after 2026-01-01T00:00:00+00:00\n")
        let previous = try await run.belfry(#"cron prev "0 0 0 1 1 * 2020" --zone UTC --from 2019-01-01"#)
        #expect(previous.errors == "belfry: it does not fire before 2019-01-01T00:00:00+00:00\n")
        #expect(
            try await run.belfry(#"cron explain "0 0 0 1 1 * 2020""#).output.hasSuffix("not fire any more\n"))
    }

    @Test(arguments: [
        ("cron next 0 2 a.txt b.txt", "put quotes around it"), (#"cron prev "@daily" -n -5"#, "from 1 up"),
        (#"cron next "@daily" --zone europe/berlin"#, #"Did you mean "Europe/Berlin"?"#),
        (#"cron next "@daily" --zone "new york""#, #"Did you mean "America/New_York"?"#),
        (#"cron words "every day at 9" --zone Europe/Berln"#, #"Did you mean "Europe/Berlin"?"#),
        (#"cron check "@daily" --zone Mars"#, "timedatectl list-timezones"),
        (#"cron next "@daily" --gap never"#, "'run-after' and 'skip'"),
        (#"cron next "@daily" --dialect windows"#, "'unix' and 'quartz'"),
    ])
    func `suggests a fix for common mistakes`(arguments: String, fix: String) async throws {
        let answer = try await run.belfry(arguments)
        #expect(answer.status == 2 && answer.errors.contains(fix), "\(answer.errors)")
    }

    @Test func `accepts a phrase without quotes`() async throws {
        #expect(try await run.belfry("cron words every weekday at 9:30").output.hasPrefix("30 9 * * 1-5\n"))
    }

    @Test func `accepts an expression or lines, not both and not neither`() async throws {
        for arguments in ["cron next", "cron check", "cron explain", #"cron prev "@daily" --stdin"#] {
            #expect(try await run.belfry(arguments).status == 2)
        }
    }
}
