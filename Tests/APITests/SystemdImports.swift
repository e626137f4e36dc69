import API
import Glibc
import Host
import Ledger
import TestSupport
import Testing
import Tracking

@Suite struct `importing systemd's timers` {
    private static let units = [
        "backup.timer": "[Timer]\nOnCalendar=Mon..Fri 02:30\nPersistent=true\nRandomizedDelaySec=5m\n",
        "backup.service": """
        [Service]
        Type=oneshot
        WorkingDirectory=/srv
        Environment=A=1 "B=two words"
        ExecStart=/usr/bin/restic backup \\
          "/home/my files" 100%%
        """,
        "boot.timer": "[Timer]\nOnBootSec=5min\nOnCalendar=*-*~07/1\nUnit=backup.service\n",
        "odd.timer": "[Timer]\nOnCalendar=daily\n",
        "odd.service": "[Service]\nExecStartPre=/bin/true\nExecStart=/bin/echo $HOME\n",
        "plain.timer": "[Timer]\nOnCalendar=daily Asia/Tokyo\nOnCalendar=*:0/20\n",
        "plain.service": "[Service]\nExecStart=/bin/true\n",
        "alone.timer": "[Timer]\nOnCalendar=hourly\n",
    ]

    private func write(into folder: TemporaryFolder) throws {
        for (name, text) in Self.units { try SmallFile.replace(folder.file(name), with: Array(text.utf8)) }
    }

    @Test func `shows what cron can express, and refuses the rest with the reason`() async throws {
        let run = try CommandRun()
        try write(into: run.folder)
        let answer = try await run.belfry("import systemd . --from 2026-11-21 --json")
        #expect(answer.status == 0, "\(answer.errors)")
        let jobs = try WireCoding.decode([ImportListing].self, from: answer.output.utf8)
        try #require(
            jobs.map(\.name) == ["alone", "backup", "boot", "boot-2", "odd", "plain", "plain-2"])
        #expect(jobs[0].refused?.contains("alone.service is not beside it") == true)
        #expect(jobs[1].refused == nil && jobs[1].expression == "30 2 * * 1-5")
        #expect(jobs[1].command == ["/usr/bin/restic", "backup", "/home/my files", "100%"])
        #expect(jobs[1].cwd == "/srv" && jobs[1].env == ["A": "1", "B": "two words"])
        #expect(jobs[1].notes.isEmpty && jobs[1].spreadMs == 300_000 && jobs[1].catchUp == "latest")
        #expect(jobs[1].next.first?.at == "2026-11-23T02:30:00+00:00" && jobs[1].next.count == 10)
        #expect(jobs[2].refused?.contains("month's end") == true)
        #expect(
            jobs[3].refused == nil && jobs[3].schedule == "startup 5m" && jobs[3].command == jobs[1].command)
        #expect(jobs[4].refused?.contains("ExecStartPre") == true)
        #expect(jobs[5].zone == "Asia/Tokyo" && jobs[5].next.first?.at == "2026-11-22T00:00:00+09:00")
        #expect(jobs[6].expression == "0-59/20 * * * *" && jobs[6].refused == nil)
        let text = try await run.belfry("import systemd . --from 2026-11-21 -v").output
        #expect(text.contains("\n  $ /usr/bin/restic backup '/home/my files' 100%\n"), "\(text)")
    }

    @Test func `adds jobs, and shows which units to disable`() async throws {
        try await House.whileStanding { house in
            try write(into: house.folder)
            let timer = house.folder.file("backup.timer")
            let applied = try await house.belfry("import", "systemd", timer, "--apply")
            #expect(applied.status == 0, "\(applied)")
            #expect(applied.output.contains("systemctl disable --now backup.timer"))
            let shown = try await house.belfry("job", "show", "backup", "--json")
            let job = try WireCoding.decode(WireJob.self, from: shown.output.utf8)
            #expect(job.origin == "import" && job.cwd == "/srv" && job.schedule.text == "30 2 * * 1-5")
            #expect(job.policies["catchUp.mode"] == .string("latest"))
            #expect(job.policies["spreadMs"] == .int(300_000))
        }
    }

    @Test func `adds what counts from an event, with its priority and its user`() async throws {
        try await House.whileStanding { house in
            let units = [
                "poll.timer": "[Timer]\nOnBootSec=15min\nOnUnitActiveSec=1d\n",
                "poll.service":
                    "[Service]\nExecStart=/bin/poll --now\nNice=7\nUser=\(Account.name(of: getuid()))\n",
                "rest.timer": "[Timer]\nOnUnitInactiveSec=1h 30min\nUnit=poll.service\nOnClockChange=yes\n",
                "bad.timer": "[Timer]\nOnUnitActiveSec=soon\nUnit=poll.service\n",
            ]
            for (name, text) in units {
                try SmallFile.replace(house.folder.file(name), with: Array(text.utf8))
            }
            let applied = try await house.belfry("import", "systemd", house.folder.path, "--apply")
            #expect(applied.output.contains("rest-2 ("))
            #expect(applied.output.contains("no schedule reacts to changes"))
            #expect(applied.output.contains("OnUnitActiveSec is not a time span"), "\(applied)")
            func job(_ name: String) async throws -> WireJob {
                let shown = try await house.belfry("job", "show", name, "--json")
                return try WireCoding.decode(WireJob.self, from: shown.output.utf8)
            }
            let first = try await job("poll")
            #expect(first.schedule.kind == "several" && first.schedule.text == "startup 15m; 1d")
            #expect(first.schedule.members?.map(\.kind) == ["startup", "every"])
            #expect(
                first.policies["nice"] == .int(7) && first.policies["user"] == nil
                    && first.command == ["/bin/poll", "--now"])
            let rest = try await job("rest")
            #expect(rest.schedule.kind == "after" && rest.schedule.text == "1h30m")
        }
    }

    @Test(.enabled(if: getuid() == 0, "only root's warden changes users"))
    func `keeps the user where the warden is root's`() async throws {
        try await House.whileStanding { house in
            let units = [
                "mine.timer": "[Timer]\nOnCalendar=daily\n",
                "mine.service": "[Service]\nExecStart=/bin/true\nUser=nobody\n",
            ]
            for (name, text) in units {
                try SmallFile.replace(house.folder.file(name), with: Array(text.utf8))
            }
            let applied = try await house.belfry("import", "systemd", house.folder.path, "--apply")
            #expect(applied.status == 0, "\(applied)")
            let shown = try await house.belfry("job", "show", "mine", "--json")
            let job = try WireCoding.decode(WireJob.self, from: shown.output.utf8)
            #expect(job.policies["user"] == .string("nobody"))
        }
    }

    @Test func `shows what it can't read`() async throws {
        let answer = try await CommandRun().belfry("import systemd /nonexistent")
        #expect(answer.status == 2 && answer.errors.contains("/nonexistent can't be read"))
        let none = try await CommandRun().belfry("import systemd .")
        #expect(none.status == 0 && none.output == "nothing to import\n", "\(none)")
        let missing = try await CommandRun().belfry("import systemd /nonexistent.timer")
        #expect(missing.output.contains("not added: it can't be read"))
    }
}
