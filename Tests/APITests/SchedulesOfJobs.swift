import API
import Ledger
import TestSupport
import Testing
import Timeline
import Tracking

@Suite struct `schedules by the command line` {
    /// Adds a job with these flags and answers with it.
    private func added(_ house: House, _ name: String, _ flags: String...) async throws -> WireJob {
        let answer = try await house.belfry(["job", "add", name] + flags + ["--json", "--", "true"])
        try #require(answer.status == 0, "\(answer.errors)")
        return try WireCoding.decode(WireJob.self, from: answer.output.utf8)
    }

    @Test func `may be of every kind, and are shown as they were understood`() async throws {
        try await House.whileStanding { house in
            let grid = try await added(house, "grid", "--every", "90m")
            #expect(grid.schedule.kind == "every" && grid.schedule.text == "1h30m")
            let from = try #require(grid.schedule.from?.moment)
            #expect(grid.nextAt?.moment == from + .seconds(5400))
            let old = try await added(house, "old", "--every", "1d", "--from", "2026-01-01T06:00Z")
            #expect(old.schedule.from?.moment.iso8601 == "2026-01-01T06:00:00Z")
            #expect(old.nextAt?.moment.iso8601.hasSuffix("T06:00:00Z") == true)

            let after = try await added(house, "poll", "--after", "30s", "--spread", "1h")
            #expect(after.schedule.kind == "after" && after.schedule.text == "30s")
            let once = try await added(house, "once", "--at", "2094-06-01T08:00", "--zone", "Europe/Berlin")
            #expect(once.schedule.kind == "at" && once.nextAt?.moment.iso8601 == "2094-06-01T06:00:00Z")
            #expect(once.schedule.text == "2094-06-01T08:00:00+02:00")
            #expect(try await added(house, "start", "--startup").schedule.kind == "startup")
            let late = try await added(house, "late", "--startup", "--delay", "15m")
            #expect(late.schedule.text == "15m" && late.schedule.words == "Once, 15 minutes after each boot")
            let alone = try await house.belfry(
                "job", "add", "x", "--every", "1h", "--delay", "5m", "--", "true")
            #expect(alone.status == 2 && alone.errors.contains("--delay needs --startup"), "\(alone)")
            #expect(try await added(house, "boot", "--cron", "@reboot").schedule.kind == "startup")

            let said = try await added(
                house, "said", "--words", "every weekday at 9:30", "--zone", "Asia/Tokyo")
            #expect(said.schedule.kind == "cron" && said.schedule.text == "30 9 * * 1-5")
            #expect(said.schedule.zone == "Asia/Tokyo")
            let city = try await added(house, "city", "--words", "every day at 8:30 in Tokyo")
            #expect(city.schedule.zone == "Asia/Tokyo" && city.schedule.text == "30 8 * * *")
            #expect(city.schedule.phrase == "every day at 8:30 in Tokyo")
            let both = try await house.belfry(
                "job", "add", "both", "--words", "every day at 9 in Tokyo", "--zone", "Europe/Berlin", "--",
                "true")
            #expect(both.status == 2 && both.errors.contains("names the time zone Asia/Tokyo"), "\(both)")
            let times = try await added(house, "times", "--words", "every day at 9, 13:00 and 17:30")
            #expect(times.schedule.members?.map(\.text) == ["0 9,13 * * *", "30 17 * * *"])
            let soon = try await added(house, "soon", "--words", "in 20 minutes")
            #expect(soon.schedule.kind == "at" && soon.nextAt != nil)

            let list = try await house.belfry("job", "list")
            #expect(list.output.contains("every 1h30m") && list.output.contains("after 30s"))
        }
    }

    @Test func `in words that count days or weeks keep their zone, their first day and their time of day`()
        async throws
    {
        try await House.whileStanding { house in
            let club = try await added(
                house, "club", "--words", "every other friday at 5pm from 2026-11-27", "--zone",
                "Europe/Berlin")
            #expect(club.schedule.kind == "calendar" && club.schedule.zone == "Europe/Berlin")
            #expect(club.schedule.text == "2w fri 17:00 from 2026-11-27")
            let shown = try await house.belfry("job", "show", "club").output
            #expect(shown.contains("every 2w fri 17:00 from 2026-11-27 Europe/Berlin"), "\(shown)")
            #expect(shown.contains("Every 2 weeks on Friday at 17:00, counted from 2026-11-27"))
            let next = try await house.belfry("job", "next", "club", "-n", "30").output.split(separator: "\n")
            #expect(next.count == 30 && next.allSatisfy { $0.contains("T17:00:00+0") }, "\(next)")

            let cold = try await house.belfry("job", "edit", "club", "--zone", "America/New_York", "--json")
            let moved = try WireCoding.decode(WireJob.self, from: cold.output.utf8).schedule
            #expect(moved.text == club.schedule.text && moved.zone == "America/New_York")

            // Without a first day it is the next one that fits, and stays it.
            let days = try await added(house, "days", "--words", "every 3 days at 08:00")
            #expect(days.schedule.text.hasPrefix("3d 08:00 from 2"))
            let edited = try await house.belfry("job", "edit", "days", "--timeout", "5m", "--json")
            #expect(try WireCoding.decode(WireJob.self, from: edited.output.utf8).schedule == days.schedule)
        }
    }

    @Test func `in words say how their limits are understood, when they are made and when they are shown`()
        async throws
    {
        try await House.whileStanding { house in
            let phrase = "every hour between 9 and 17"
            let note = "17:00 is not included; \"through\" would include it"
            let added = try await house.belfry("job", "add", "office", "--words", phrase, "--", "true")
            #expect(added.output.hasSuffix("\nnote: \(note)\n"), "\(added)")
            let shown = try await house.belfry("job", "show", "office").output
            #expect(shown.contains(phrase) && shown.contains(note), "\(shown)")
            let job = try await house.belfry("job", "show", "office", "--json").output
            let schedule = try WireCoding.decode(WireJob.self, from: job.utf8).schedule
            #expect(schedule.phrase == phrase && schedule.note == note)
        }
    }

    @Test func `are changed by one edit, and leave the rest as it is`() async throws {
        try await House.whileStanding { house in
            _ = try await added(
                house, "job", "--every", "15m", "--catch-up", "all", "--burst", "7", "--within", "2h",
                "--spread", "10m")
            let edited = try await house.belfry("job", "edit", "job", "--every", "20m", "--json")
            let job = try WireCoding.decode(WireJob.self, from: edited.output.utf8)
            #expect(job.schedule.text == "20m")
            #expect(job.policies["catchUp.mode"] == .string("all"))
            #expect(job.policies["catchUp.burst"] == .int(7))
            #expect(job.policies["catchUp.withinMs"] == .int(7_200_000))
            #expect(job.policies["spreadMs"] == .int(600_000))
            #expect((0..<600_000).contains(try #require(job.policies["spreadOffsetMs"]?.int)))
            let shown = try await house.belfry("job", "show", "job").output
            #expect(
                shown.contains("catch-up: all (within 2 h, at most 7)")
                    && shown.contains("spread: 10 min (this job starts "))
            let calm = try await house.belfry("job", "edit", "job", "--spread", "none", "--json")
            let policies = try WireCoding.decode(WireJob.self, from: calm.output.utf8).policies
            #expect(policies["spreadMs"] == nil)
        }
    }

    @Test func `are previewed with offsets and what a change of the clock does`() async throws {
        try await House.whileStanding { house in
            // The day on which the clocks of Berlin go forward.
            _ = try await added(house, "night", "--cron", "30 2 * 3 0L", "--zone", "Europe/Berlin")
            let shown = try await house.belfry("job", "next", "night", "-n", "2").output
            #expect(shown.contains("T03:00:00+02:00"), "\(shown)")
            #expect(shown.contains("moved from 02:30, which the clock skips"))
            _ = try await added(house, "calm", "--every", "1h", "--spread", "10m")
            #expect(
                try await house.belfry("job", "next", "calm").output.contains("this job's part of its spread")
            )
            _ = try await added(house, "asked")
            #expect(try await house.belfry("job", "next", "asked").output.contains("No upcoming slot"))
        }
    }

    @Test(arguments: [
        (["--every", "15"], "15"), (["--every", "100ms"], "at least 1s"), (["--after", "0s"], "at least 1s"),
        (["--at", "soon"], "soon"),
        (["--at", "2020-01-01T00:00Z"], "is in the past: the job would never run"),
        (["--words", "every weekday at nonsense"], "nonsense"),
        (["--after", "15m", "--cron", "* * * * *"], "can't be combined with --cron"),
        (["--from", "2026-01-01T00:00Z"], "--every"), (["--every", "15m", "--zone", "UTC"], "--zone"),
        (["--burst", "5"], "catch-up all"), (["--catch-up", "all", "--burst", "0"], "1 to 5000"),
        (["--catch-up", "some"], "none, latest or all"),
        (["--at", "2030-01-01", "--zone", "Mars/Base"], "Mars/Base"),
    ])
    func `are refused with a reason`(flags: [String], reason: String) async throws {
        try await House.whileStanding { house in
            let answer = try await house.belfry(["job", "add", "x"] + flags + ["--", "true"])
            #expect(answer.status == 2)
            #expect(answer.errors.contains(reason), "\(answer.errors)")
            #expect(try await house.belfry("job", "list", "--json").output == "[]\n")
        }
    }

    @Test func `of one name made at the same time make one job`() async throws {
        try await House.whileStanding { house in
            let codes = try await withThrowingTaskGroup(of: Int32.self) { group in
                for number in 1...4 {
                    group.addTask {
                        try await house.belfry("job", "add", "mine", "--shell", "echo \(number)").status
                    }
                }
                return try await group.reduce(into: [Int32]()) { $0.append($1) }
            }
            #expect(codes.sorted() == [0, 5, 5, 5])
            #expect(try await house.belfry("job", "show", "mine", "--json").output.contains("\"revision\":1"))
        }
    }
}
