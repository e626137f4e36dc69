import API
import Host
import Ledger
import TestSupport
import Testing
import Tracking

/// What `import --json` says of a job.
struct ImportListing: Decodable {
    struct Time: Decodable {
        var at: String
        var belfry: Bool
        var original: Int?
        var differs: Bool
    }
    var name: String
    var place: String
    var expression: String?
    var schedule: String
    var zone: String
    var command: [String]?
    var shell: String?
    var cwd: String?
    var env: [String: String]
    var user: String?
    var nice: Int?
    var spreadMs: Int?
    var catchUp: String?
    var overlap: String?
    var notes: [String]
    var refused: String?
    var added: Bool
    var next: [Time]
}

@Suite struct `importing a crontab` {
    private static let crontab = """
        # comment
        SHELL=/bin/bash
        MAILTO=ops
        GREETING = "good  day"
        0,30 2 * * * /usr/local/bin/backup --all
        @reboot start-me
        0 9 * * MON mail -s x root%Dear%all
        5-1 * * * * x
        """

    private func listing(_ arguments: String, input: String) async throws -> [ImportListing] {
        let answer = try await CommandRun().belfry("import crontab \(arguments) --json", input: input)
        #expect(answer.status == 0, "\(answer.errors)")
        return try WireCoding.decode([ImportListing].self, from: answer.output.utf8)
    }

    @Test func `shows each line as a job, or the reason why not`() async throws {
        let jobs = try await listing("- --from 2026-11-21", input: Self.crontab)
        try #require(jobs.map(\.name) == ["backup", "start-me", "mail", "x"])
        #expect(jobs[0].command == ["/bin/bash", "-c", "/usr/local/bin/backup --all"])
        #expect(jobs[0].place == "-:5" && jobs[0].expression == "0,30 2 * * *" && jobs[0].refused == nil)
        #expect(jobs[0].env == ["SHELL": "/bin/bash", "GREETING": "good  day"])
        #expect(jobs[0].notes.contains { $0.contains("no mail") })
        #expect(jobs[0].next.count == 10)
        #expect(jobs[0].next.allSatisfy { !$0.differs && $0.original == 1 })
        #expect(jobs[0].catchUp == "none" && jobs[0].overlap == "allow", "as cron does")
        #expect(jobs[1].refused == nil && jobs[1].next.isEmpty)
        #expect(jobs[1].notes.contains { $0.contains("once after each boot") })
        #expect(jobs[2].command?.last?.contains("<<'END_OF_INPUT'\nDear\nall\n") == true)
        #expect(jobs[3].refused?.contains("lies after") == true)
        #expect(jobs.allSatisfy { !$0.added })
    }

    @Test func `prints a line for each job, and each note once`() async throws {
        let input = """
            MAILTO=ops
            0 2 * * * /usr/local/bin/backup --all
            */5 * * * * for i in 1 2; do /opt/bin/poll $i; done
            @reboot start-me
            0 2 * * * nobody%knows
            0 0 * x
            """
        let run = try CommandRun()
        let short = try await run.belfry("import crontab - --user-form", input: input)
        #expect(
            short.output == """
                NAME      TIMES        COMMAND
                backup    0 2 * * *    /usr/local/bin/backup --all
                poll      */5 * * * *  for i in 1 2; do /opt/bin/poll $i; done
                start-me  @reboot      start-me
                nobody    0 2 * * *    nobody ...
                job       0 0 * x      not added: expected 5 time fields, found 4

                note: no mail is sent (MAILTO): first add a channel, belfry channel add mail; what it prints is kept: belfry run logs JOB
                note (start-me): cron runs it whenever cron starts; Belfry runs it once after each boot
                note (nobody): the text after % became a here-document

                4 of 5 can be added; add them with --apply. -v shows all of each job.

                """, "\(short.output)")
        // How the lines are read matters only where there are any.
        let nothing = try await run.belfry("import crontab -", input: "# nothing\n")
        #expect(nothing.output == "nothing to import\n" && nothing.errors.isEmpty, "\(nothing.errors)")
        let read = try await run.belfry("import crontab -", input: "0 2 * * * backup\n")
        #expect(read.errors.hasPrefix("note: read without a user column; "), "\(read.errors)")
        let all = try await run.belfry("import crontab - --user-form -v --from 2026-11-21", input: input)
        #expect(all.output.contains("\n  catch-up: none\n  overlap: allow\n"), "\(all.output)")
        #expect(all.output.contains("\n    2026-11-21T02:00:00+00:00\n"))
    }

    @Test func `prints the command of the line, not the shell around it`() async throws {
        let input = "SHELL=/bin/bash\n0 2 * * * cd /srv && ./tidy\n0 3 * * * mail root%Hello\n"
        let short = try await CommandRun().belfry("import crontab - --user-form", input: input)
        #expect(
            short.output.hasPrefix(
                """
                NAME  TIMES      COMMAND
                tidy  0 2 * * *  cd /srv && ./tidy
                mail  0 3 * * *  mail root ...

                """), "\(short.output)")
        let all = try await CommandRun().belfry("import crontab - --user-form -v", input: input)
        #expect(all.output.contains("\n  $ /bin/bash -c 'cd /srv && ./tidy'\n"), "\(all.output)")
    }

    @Test(arguments: ["", "# nothing\nSHELL=/bin/sh\n"]) func `says that there is nothing`(input: String)
        async throws
    {
        let run = try CommandRun()
        for flags in ["", "--apply", "-v"] {
            let answer = try await run.belfry("import crontab - --user-form \(flags)", input: input)
            #expect(answer.output == "nothing to import\n" && answer.status == 0, "\(answer)")
        }
        #expect(try await run.belfry("import crontab - --json", input: input).output == "[]\n")
    }

    @Test func `marks where Debian's cron would do something else`() async throws {
        // The machine's zone is UTC here, so a zone of the line's own is what differs.
        let jobs = try await listing(
            "- --user-form --from 2026-11-21", input: "CRON_TZ=Asia/Tokyo\n0 9 * * * x\n")
        let times = try #require(jobs.first?.next)
        #expect(jobs.first?.zone == "Asia/Tokyo")
        #expect(times.first?.at == "2026-11-21T18:00:00+09:00" && times.first?.belfry == false)
        #expect(times.contains { $0.at == "2026-11-22T09:00:00+09:00" && $0.belfry && $0.original == 0 })
        #expect(!times.contains { !$0.differs })
        let text = try await CommandRun().belfry(
            "import crontab - --from 2026-11-21", input: "CRON_TZ=Asia/Tokyo\n0 9 * * * x\n")
        #expect(text.output.contains("<< only the original") && text.output.contains("<< only Belfry"))
        #expect(text.output.ranges(of: "<< only").count == 3)
        #expect(text.output.contains("\n    and 16 more; -v shows all\n"), "\(text.output)")
        let all = try await CommandRun().belfry(
            "import crontab - -v --from 2026-11-21", input: "CRON_TZ=Asia/Tokyo\n0 9 * * * x\n")
        #expect(all.output.ranges(of: "<< only").count == 19)
        #expect(text.errors.contains("--system-form"))
        let unknown = try await listing("-", input: "CRON_TZ=Mars/Base\n0 9 * * * x\n")
        #expect(unknown.first?.refused == "CRON_TZ: unknown time zone \"Mars/Base\"")
    }

    @Test func `shows what a zone of the lines' own changes once`() async throws {
        let crontab = """
            CRON_TZ=Asia/Tokyo
            0 9 * * * /bin/one
            0 10 * * * /bin/two
            0 11 * * * /bin/three
            CRON_TZ=America/Lima
            0 9 * * * /bin/four
            CRON_TZ=UTC
            0 9 * * * /bin/five

            """
        let text = try await CommandRun().belfry("import crontab - --from 2026-11-21", input: crontab).output
        #expect(
            text.contains(
                "\none, two, three differ from the original by the zone Asia/Tokyo; one, for example:\n"
                    + "    2026-11-21T18:00:00+09:00  << only the original\n"), "\(text)")
        #expect(text.contains("\nfour differs from the original by the zone America/Lima:\n"), "\(text)")
        #expect(text.ranges(of: " the original by ").count == 2 && text.ranges(of: "<< only").count == 6)
        #expect(text.ranges(of: "-v shows all\n").count == 2)
    }

    @Test func `reads the system's form, and leaves other users' jobs alone`() async throws {
        let line = "17 * * * * nobody /bin/x\n"
        let jobs = try await listing("-", input: line)
        #expect(jobs.first?.refused?.hasPrefix("it runs as nobody") == true)
        let forced = try await listing("- --user-form", input: line)
        #expect(forced.first?.shell == "nobody /bin/x" && forced.first?.refused == nil)
        let both = try await CommandRun().belfry("import crontab - --user-form --system-form")
        #expect(both.status == 2)
        let missing = try await CommandRun().belfry("import crontab /nonexistent")
        #expect(missing.status == 2)
    }

    @Test func `are one each where their lines are equal, with times of their own zone`() async throws {
        let line = "30 2 * * * /usr/bin/backup\n"
        let text = line + line + "CRON_TZ=Asia/Tokyo\n" + line + "CRON_TZ=No/Zone\n" + line
        let jobs = try await listing("- --user-form", input: text)
        #expect(jobs.map(\.name) == ["backup", "backup-2", "backup-3", "backup-4"])
        #expect(jobs.map(\.zone).prefix(3) == ["UTC", "UTC", "Asia/Tokyo"])
        let times = jobs.map { $0.next.map(\.at) }
        #expect(times[0] == times[1] && times[0] != times[2] && times[0].count == 10)
        #expect(jobs.map { $0.refused != nil } == [false, false, false, true])
    }

    @Test func `adds jobs with their origin, and shows which lines to disable`() async throws {
        try await House.whileStanding { house in
            let path = house.folder.file("crontab")
            try SmallFile.replace(path, with: Array(Self.crontab.utf8))
            let applied = try await house.belfry("import", "crontab", path, "--apply")
            #expect(applied.status == 1, "a line was refused")
            #expect(applied.output.contains("backup (\(path):5): added\n"), "\(applied)")
            #expect(applied.output.contains("start-me (\(path):6): added\n"))
            #expect(applied.output.contains("x (\(path):8): not added: "))
            #expect(applied.output.contains("disable lines 5-7 of \(path)"))
            let list = try await house.belfry("job", "list", "--json")
            let jobs = try WireCoding.decode([WireJob].self, from: list.output.utf8)
            #expect(
                jobs.map(\.name) == ["backup", "mail", "start-me"]
                    && jobs.allSatisfy { $0.origin == "import" })

            let edited = try await house.belfry("job", "edit", "mail", "--timeout", "1h", "--json")
            let job = try WireCoding.decode(WireJob.self, from: edited.output.utf8)
            #expect(job.origin == "import")
            let backup = try await house.belfry("job", "show", "backup", "--json")
            let policies = try WireCoding.decode(WireJob.self, from: backup.output.utf8).policies
            #expect(policies["catchUp.mode"] == .string("none") && policies["overlap"] == .string("allow"))
            // A second import adds nothing twice.
            let again = try await house.belfry("import", "crontab", path, "--apply", "--json")
            let results = try WireCoding.decode([ImportListing].self, from: again.output.utf8)
            #expect(results.allSatisfy { !$0.added && $0.refused != nil } && again.status == 1)
        }
    }

    @Test func `of thousands of lines stays readable`() async throws {
        let long = "echo " + String(repeating: "x", count: 200)
        let input =
            "MAILTO=ops\n" + (0..<3000).map { "\($0 % 60) 3 * * * \(long)\n@reboot b\($0)\n" }.joined()
        let answer = try await CommandRun().belfry("import crontab - --user-form", input: input)
        let lines = answer.output.split(separator: "\n")
        #expect(answer.status == 0 && lines.allSatisfy { $0.count <= 200 })
        #expect(lines.contains { $0.contains("and 2995 more): cron runs it whenever cron starts") })
    }

    @Test func `reads past a mark of the encoding, and adds no line with a zero byte`() async throws {
        let jobs = try await listing("- --user-form", input: "\u{FEFF}A=1\n0 3 * * * good\n0 4 * * * ba\0d\n")
        try #require(jobs.count == 2)
        #expect(jobs[0].refused == nil && jobs[0].env == ["A": "1"] && jobs[0].shell == "good")
        #expect(jobs[1].refused == "it, or a setting above it, holds a zero byte")
    }

    @Test func `changes nothing when no daemon answers`() async throws {
        let answer = try await CommandRun().belfry(
            "import crontab - --apply --socket /nonexistent", input: "@daily x\n")
        #expect(answer.status == 3)
    }
}
