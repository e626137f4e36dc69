import Cron
import Testing

@Suite struct `a calendar event of systemd` {
    @Test(arguments: [
        ("minutely", "* * * * *"), ("hourly", "0 * * * *"), ("daily", "0 0 * * *"), ("Weekly", "0 0 * * 1"),
        ("monthly", "0 0 1 * *"), ("yearly", "0 0 1 1 *"), ("annually", "0 0 1 1 *"),
        ("quarterly", "0 0 1 1,4,7,10 *"), ("semiannually", "0 0 1 1,7 *"),
        ("*-*-* 02:30:00", "30 2 * * *"), ("02:30", "30 2 * * *"), ("*-*-* *:*:00", "* * * * *"),
        ("*:0/15", "0-59/15 * * * *"), ("*-*-* *:00/10:00", "0-59/10 * * * *"),
        ("08..17:05", "5 8-17 * * *"), ("*-*-* 0/6:00:00", "0 0-23/6 * * *"), ("*:5/90", "5 * * * *"),
        ("Mon..Fri 09:30", "30 9 * * 1-5"), ("Mon-Fri 09:30", "30 9 * * 1-5"),
        ("Sat,Sun 10:00", "0 10 * * 0,6"),
        ("Mon,Wed..Fri *-*-* 10:00", "0 10 * * 1,3,4,5"), ("Monday..Sunday 10:00", "0 10 * * *"),
        ("Thu,Fri 2026-*-1,5 11:12:13", "13 12 11 1,5 * +4,5 2026"), ("Wed *-1", "0 0 1 * +3"),
        ("Wed *-*-1 12:00", "0 12 1 * +3"), ("*-*~01 00:00", "0 0 L * *"), ("*-02~03", "0 0 L-2 2 *"),
        ("12-24 18:00", "0 18 24 12 *"), ("26-01-05", "0 0 0 5 1 * 2026"), ("*-*-1..7 3:0", "0 3 1-7 * *"),
        ("*-*-* 00:00:30", "30 0 0 * * *"), ("12:00:00.000", "0 12 * * *"), ("*:*:0/10", "0-59/10 * * * * *"),
        ("2026..2028-01-01", "0 0 0 1 1 * 2026-2028"), ("Mon, 12:00", "0 12 * * 1"), ("Fri", "0 0 * * 5"),
    ])
    func `becomes the expression with the same times`(text: String, fields: String) throws {
        let event = try CalendarEvent(text)
        #expect(event.fields == fields && event.zoneName == nil)
        #expect(throws: Never.self) { try CronExpression(event.fields) }
    }

    @Test(arguments: [
        ("daily UTC", "0 0 * * *", "UTC"), ("Mon..Fri 9:30 Europe/Berlin", "30 9 * * 1-5", "Europe/Berlin"),
        ("*-*-* 12:00 America/Argentina/Ushuaia", "0 12 * * *", "America/Argentina/Ushuaia"),
    ])
    func `keeps its zone`(text: String, fields: String, zone: String) throws {
        let event = try CalendarEvent(text)
        #expect(event.fields == fields && event.zoneName == zone)
    }

    @Test(arguments: [
        ("", "", CronFault.Kind.empty), ("noon", "noon", .notUnderstood), ("25:00", "25", .outOfRange),
        ("*-13-01", "13", .outOfRange), ("Fri..Mon 10:00", "Fri..Mon", .notUnderstood),
        ("*-*~07/1", "07/1", .notExpressible), ("12:00:00.5", "00.5", .notExpressible),
        ("17..8:00", "17..8", .notUnderstood), ("*:*/5", "*", .notUnderstood), ("*:0/0", "0", .notUnderstood),
        ("@1234", "@1234", .notUnderstood), ("12:00 extra", "extra", .notUnderstood),
        ("1,,2:00", "", .notUnderstood), ("Mon..Fri..Sat 10:00", "Fri..Sat", .notUnderstood),
    ])
    func `is refused with the place where it has no form`(text: String, part: String, kind: CronFault.Kind) {
        let error = #expect(throws: CronError.self) { try CalendarEvent(text) }
        let fault = error?.faults.first
        #expect(fault?.kind == kind, "\(text)")
        let place = fault.map { Array(text.utf8)[$0.range] } ?? []
        #expect(String(decoding: place, as: UTF8.self) == part, "\(text)")
    }
}

@Suite struct `a time span of systemd` {
    @Test(
        arguments: [
            ("5min", .seconds(300)), ("1d", .seconds(86_400)), ("6000", .seconds(6000)),
            ("12h", .seconds(43_200)),
            ("1h 30min", .seconds(5400)), ("2 weeks", .seconds(1_209_600)), ("1month", .seconds(2_630_016)),
            ("500ms", .milliseconds(500)), ("1y", .seconds(31_557_600)), ("0", .zero),
            ("1h30s", .seconds(3630)),
            ("", nil), ("min", nil), ("5 parsecs", nil), ("infinity", nil), ("-5min", nil), ("1.5h", nil),
            ("99999999999", nil), ("101y", nil),
        ] as [(String, Duration?)]) func `is a duration, or none`(text: String, duration: Duration?)
    {
        #expect(TimeSpan(text)?.duration == duration)
    }
}

@Suite struct `a unit file` {
    @Test func `has settings in sections, lists that can be taken back, and lines that continue`() {
        let unit = UnitFile(
            """
            # comment
            [Unit]
            Description=Say = hello
            [Timer]
            OnCalendar=daily
            OnCalendar=
            OnCalendar = Mon 12:00\r
            Persistent=true
            [Service]
            ExecStart=/bin/echo \\
            ; in between
              one \\
              two
            nonsense
            """)
        #expect(unit.value("Unit", "Description") == "Say = hello")
        #expect(unit.all("Timer", "OnCalendar").map(\.value) == ["Mon 12:00"])
        #expect(unit.all("Timer", "OnCalendar").map(\.line) == [7])
        #expect(unit.value("Service", "ExecStart") == "/bin/echo one two")
        #expect(unit.all("Service", "ExecStart").map(\.line) == [10])
        #expect(unit.value("Service", "OnCalendar") == nil && unit.settings.count == 4)
    }

    @Test func `clears only what stands above, and ends with a line that continues`() {
        let unit = UnitFile("[Timer]\nA=1\nB=1\nA=\nA=2\nA=3\nB=\n[Other]\nA=4\nC=a \\\n  b \\\n# c")
        #expect(unit.all("Timer", "A").map(\.value) == ["2", "3"] && unit.all("Timer", "B").isEmpty)
        #expect(unit.value("Other", "A") == "4" && unit.value("Other", "C") == "a b")
        let long = UnitFile("[S]\nA=" + String(repeating: "a\\\n", count: 20_000) + "a")
        #expect(long.value("S", "A")?.utf8.count == 40_001)
    }
}
