import Cron
import Ledger
import Settings
import Testing
import Timeline

@Suite struct `the schedule of a job` {
    private func job(_ schedule: String) -> String {
        "jobs:\n  a:\n    schedule: \(schedule)\n    shell: date"
    }

    @Test func `is pointed at inside its quotes`() {
        #expect(
            refusal(job("\"0 25 * * *\"")) == """
                belfry.yaml:3:18: jobs.a.schedule: hour: 25 is outside 0-23
                      schedule: "0 25 * * *"
                                   ^^
                """)
    }

    @Test func `is pointed at inside a map`() {
        let shown = refusal(job("{ zone: UTC, cron: '0 0 * * 1-Funday' }"))
        #expect(shown.contains("belfry.yaml:3:"))
        #expect(shown.contains("jobs.a.schedule.cron: "))
        #expect(marked(shown) == "Funday")
    }

    @Test func `shows every fault of an expression`() {
        let shown = refusal(job("\"61 25 * * *\"")).split(separator: "\n").filter {
            $0.hasPrefix("belfry.yaml")
        }
        #expect(shown.count == 2)
        #expect(shown.first?.hasPrefix("belfry.yaml:3:16: ") == true)
        #expect(shown.last?.hasPrefix("belfry.yaml:3:19: ") == true)
    }

    @Test func `is refused in a zone that does not exist`() {
        let shown = refusal(job("{ cron: '0 0 * * *', zone: Europe/Berlim }"))
        #expect(shown.contains("jobs.a.schedule.zone: there is no time zone \"Europe/Berlim\""))
        #expect(marked(shown) == "Europe/Berlim")
        do throws(SettingsError) {
            _ = try read("zone: Berlin") {
                $0.phraseZones = PhraseZones(names: { ["Europe/Berlin"] }, rules: { _ in nil })
            }
            Issue.record("not refused")
        } catch {
            #expect(error.description.contains("no time zone \"Berlin\"; did you mean \"Europe/Berlin\"?"))
        }
        #expect(marked(refusal("zone: ../etc/passwd")) == "../etc/passwd")
        #expect(marked(refusal(job("\"CRON_TZ=Mars/Base 0 0 * * *\""))) == "Mars/Base")
    }

    @Test func `is refused when it is missing`() {
        #expect(
            refusal("jobs:\n  a: { shell: date }").contains(
                "belfry.yaml:2:3: jobs.a: this job has no schedule; "
                    + "write schedule: { cron: \"30 2 * * *\" } or schedule: manual"))
        #expect(
            refusal(job("{ zone: UTC }")).contains("jobs.a.schedule: the schedule says nothing about when"))
        #expect(refusal(job("")).contains("belfry.yaml:3:"))
    }

    private func spec(_ schedule: String) throws -> ScheduleSpec? {
        try read(job(schedule)).jobs.first?.spec.schedule
    }

    @Test func `may be of every kind`() throws {
        let zone = "Europe/Vienna"
        #expect(try spec("{ every: 90m }") == ScheduleSpec(kind: .every, text: "1h30m", zone: zone))
        let grid = try spec("{ every: 2d, from: 2026-01-01T06:00 }")
        #expect(grid?.anchor?.iso8601 == "2026-01-01T05:00:00Z")
        #expect(try spec("{ after: 30s }") == ScheduleSpec(kind: .after, text: "30s", zone: zone))
        #expect(
            try spec("{ at: 2030-06-01T08:00 }")
                == ScheduleSpec(kind: .at, text: "2030-06-01T08:00:00+02:00", zone: zone))
        let atSea = try spec("{ at: '2030-06-01 08:00', zone: UTC }")
        #expect(atSea == ScheduleSpec(kind: .at, text: "2030-06-01T08:00:00+00:00", zone: "UTC"))
        for startup in ["startup", "'@reboot'", "{ startup: true }"] {
            #expect(try spec(startup) == ScheduleSpec(kind: .startup, text: "", zone: zone))
        }
        #expect(
            try spec("{ startup: true, delay: 15m }")
                == ScheduleSpec(kind: .startup, text: "15m", zone: zone))
        #expect(try spec("'@every 15m'") == ScheduleSpec(kind: .every, text: "15m", zone: zone))
        #expect(
            try spec("{ words: every weekday at 9:30 }")
                == ScheduleSpec(
                    kind: .cron, text: "30 9 * * 1-5", zone: zone, phrase: "every weekday at 9:30"))
        #expect(try spec("{ words: every 90 seconds }")?.kind == .every)
        let city = try read(job("{ words: every day at 9 in utc }")).jobs.first?.spec.schedule
        #expect(city?.zone == "UTC" && city?.text == "0 9 * * *")
    }

    @Test(arguments: [
        ("{ every: 15m, cron: '0 0 * * *' }", "a schedule has one of cron, every", ""),
        ("{ every: 15 }", "\"15\" is not a duration", "15"),
        ("{ every: 500ms }", "an interval is at least 1s", "500ms"),
        ("{ every: 15m, gap: skip }", "has no meaning beside every; add time: \"17:00\"", "skip"),
        ("{ after: 15m, from: 2026-01-01 }", "has no meaning beside after", "2026-01-01"),
        ("{ every: 15m, from: yesterday }", "\"yesterday\" is not a time", ""),
        ("{ at: 2030-13-01T00:00 }", "is not a time", ""),
        ("{ every: 15m, delay: 5m }", "has no meaning beside every", "5m"),
        ("{ every: 2d, time: 08:00, delay: 5m }", "has no meaning beside every", "5m"),
        ("{ startup: true, delay: 15 }", "add a unit: 15s, 15m or 15h", "15"),
        ("{ startup: 5m }", "write { startup: true, delay: 5m }", "5m"),
        ("{ startup: false }", "\"false\" is not known here", "false"),
        ("{ words: tomorrow at 8 }", "depends on when this file is read; write at:", "tomorrow at 8"),
        ("{ words: every other day at 6pm }", "add it, such as from 2026-11-27", "every other day at 6pm"),
        ("{ words: every weekday at nonsense }", "jobs.a.schedule.words: ", "nonsense"),
        (
            "{ words: every day at 9 in utc, zone: Europe/Vienna }", "the phrase names the time zone UTC",
            "Europe/Vienna"
        ),
        ("{ evry: 15m }", "unknown key \"evry\"; did you mean \"every\"?", "evry"),
    ])
    func `is refused with the place of what is wrong`(schedule: String, reason: String, place: String) {
        let shown = refusal(job(schedule))
        #expect(shown.contains("belfry.yaml:3:"))
        #expect(shown.contains(reason), "\(shown)")
        if !place.isEmpty { #expect(marked(shown) == place) }
    }

    @Test func `may be several`() throws {
        let zone = "Europe/Vienna"
        let nightly = ScheduleSpec(kind: .cron, text: "30 2 * * *", zone: zone)
        let grid = ScheduleSpec(kind: .every, text: "15m", zone: zone)
        let noon = ScheduleSpec(kind: .cron, text: "0 12 * * 0", zone: "UTC", gap: "skip")
        #expect(
            try spec(
                "[ '30 2 * * *', { every: 15m }, { cron: '0 12 * * 0', zone: UTC, gap: skip }, startup ]")
                == ScheduleSpec(
                    several: [nightly, grid, noon, ScheduleSpec(kind: .startup, text: "", zone: zone)],
                    zone: zone))
        #expect(try spec("[ '30 2 * * *' ]") == nightly)
        let phrase = try #require(try spec("{ words: 'at 9, 13:00 and 17:30', gap: skip }"))
        #expect(phrase.kind == .several && phrase.phrase == "at 9, 13:00 and 17:30")
        let times = ["0 9,13 * * *", "30 17 * * *"].map {
            ScheduleSpec(kind: .cron, text: $0, zone: zone, gap: "skip")
        }
        #expect(phrase.members == times)
        let mixed = try spec("[ { words: 'at 9 and 17:30', gap: skip }, { every: 15m } ]")
        #expect(mixed?.members?.map(\.text) == ["0 9 * * *", "30 17 * * *", "15m"])
    }

    @Test(arguments: [
        ("[]", "the list is empty; write a schedule, or manual", ""),
        ("[ '30 2 * * *', [startup] ]", "schedule[1]: a list of schedules can't hold another list", ""),
        ("[ '30 2 * * *', { after: 15m } ]", "schedule[1]: after counts from the end of the last run", ""),
        ("[ manual, '30 2 * * *' ]", "schedule[0]: manual can't stand beside another schedule", "manual"),
        ("[ '30 2 * * *', '61 2 * * *' ]", "schedule[1]: minute: 61 is outside 0-59", "61"),
        ("[ '30 2 * * *', '30 2 * * *' ]", "schedule[1]: this schedule is in the list already", "30 2 * * *"),
        (
            "[ \((1...17).map { "'\($0) 2 * * *'" }.joined(separator: ", ")) ]",
            "schedule[16]: a job has at most 16 schedules", "17 2 * * *"
        ),
    ])
    func `is refused where a list has no meaning`(schedule: String, reason: String, place: String) {
        let shown = refusal(job(schedule))
        #expect(shown.contains("belfry.yaml:3:"))
        #expect(shown.contains(reason), "\(shown)")
        if !place.isEmpty { #expect(marked(shown) == place) }
    }

    @Test func `is doubted where it counts days from one that nobody named`() throws {
        func doubts(_ schedule: String) throws -> [String] {
            try read(job(schedule)).warnings.map(\.description)
        }
        let doubt = try doubts("{ every: 2w, weekday: fri, time: \"17:00\" }")
        #expect(doubt.count == 1)
        #expect(doubt.first?.hasPrefix("belfry.yaml:3:") == true, "\(doubt)")
        #expect(doubt.first?.contains("add from: with a day on which it runs") == true, "\(doubt)")
        for sure in [
            "{ every: 2w, weekday: fri, time: 17:00, from: 2026-11-27 }",
            "{ every: 1w, weekday: fri, time: 17:00 }", "{ every: 1d, time: 17:00 }",
        ] {
            #expect(try doubts(sure).isEmpty, "\(sure)")
        }
    }

    @Test func `may count days and weeks of the calendar`() throws {
        let zone = "Europe/Vienna"
        #expect(
            try spec("{ every: 2w, weekday: fri, time: \"17:00\", from: 2026-11-27 }")
                == ScheduleSpec(kind: .calendar, text: "2w fri 17:00 from 2026-11-27", zone: zone))
        #expect(
            try spec("{ every: 2d, time: 08:00, zone: UTC, gap: skip, fold: both }")
                == ScheduleSpec(kind: .calendar, text: "2d 08:00", zone: "UTC", gap: "skip", fold: "both"))
        #expect(try spec("{ every: 14d, weekday: Friday, time: '17:00:30' }")?.text == "2w fri 17:00:30")
        #expect(
            try spec("{ every: 2w, time: 17:00, from: 2026-11-27 }")?.text == "2w fri 17:00 from 2026-11-27")
        #expect(
            try spec("{ words: every other friday at 5pm from 2026-11-27, fold: last }")
                == ScheduleSpec(
                    kind: .calendar, text: "2w fri 17:00 from 2026-11-27", zone: zone, fold: "last",
                    phrase: "every other friday at 5pm from 2026-11-27"))
        #expect(try spec("{ every: 2w }") == ScheduleSpec(kind: .every, text: "14d", zone: zone))
    }

    @Test(arguments: [
        ("{ every: 36h, time: 08:00 }", "\"36h\" is not whole days or weeks; write 2d or 2w", "36h"),
        ("{ every: 2 months, time: 08:00 }", "for months cron: \"0 8 1 */2 *\"", "2 months"),
        (
            "{ every: 999999999w, weekday: fri, time: 17:00 }",
            "\"999999999w\" is longer than 100 years; write 1d to 36600d, or 1w to 5228w", "999999999w"
        ),
        (
            "{ every: 2d, time: 17:00, from: 9999-12-31 }",
            "9999-12-31 is outside the years 1970 to 2199", "9999-12-31"
        ),
        ("{ every: 2w, weekday: fri }", "the time of day is missing; add time: \"17:00\"", "fri"),
        ("{ every: 2w, time: 17:00 }", "the day of the week is missing; add weekday: fri", "2w"),
        ("{ every: 10d, weekday: fri, time: 17:00 }", "a day of the week needs whole weeks", "fri"),
        ("{ every: 2w, weekday: frii, time: 17:00 }", "did you mean \"fri\"?", "frii"),
        ("{ every: 2w, weekday: fridya, time: 17:00 }", "did you mean \"friday\"?", "fridya"),
        ("{ every: 2w, weekdy: fri, time: 17:00 }", "did you mean \"weekday\"?", "weekdy"),
        ("{ every: 2d, time: 5pm }", "\"5pm\" is not a time of day; write two digits each", "5pm"),
        ("{ every: 2d, time: 08:00, from: 2026-11-27T08:00 }", "is not a date", "2026-11-27T08:00"),
        (
            "{ every: 2w, weekday: fri, time: 17:00, from: 2026-11-26 }",
            "2026-11-26 is a Thursday; write 2026-11-27", "2026-11-26"
        ),
        ("{ cron: '0 8 * * *', time: 08:00 }", "has no meaning beside cron", "08:00"),
    ])
    func `that counts days or weeks is refused with the place of what is wrong`(
        schedule: String, reason: String, place: String
    ) {
        let shown = refusal(job(schedule))
        #expect(shown.contains("belfry.yaml:3:"))
        #expect(shown.contains(reason), "\(shown)")
        #expect(marked(shown) == place, "\(shown)")
    }

    @Test func `has gap and fold words of its own`() {
        #expect(refusal(job("{ cron: '0 0 * * *', gap: all }")).contains("known here: run-after, skip"))
        #expect(refusal(job("{ cron: '0 0 * * *', gap: run }")).contains("did you mean \"run-after\"?"))
        #expect(
            refusal(job("{ cron: '0 0 * * *', fold: frist }")).contains("did you mean \"first\"?"))
    }
}

/// The part of the shown line that stands over the first carets.
func marked(_ shown: String) -> String {
    let lines = shown.split(separator: "\n", omittingEmptySubsequences: false)
    guard let carets = lines.firstIndex(where: { $0.contains("^") && $0.allSatisfy { " \t^".contains($0) } }),
        carets > 0
    else { return "" }
    return String(zip(lines[carets], lines[carets - 1]).filter { $0.0 == "^" }.map(\.1))
}
