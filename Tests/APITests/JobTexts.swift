import API
import APIClient
import Engine
import Host
import Ledger
import TestSupport
import Testing
import Timeline
import Tracking

@Suite struct `a job as text` {
    /// Runs `belfry job edit` with a script in place of an editor; `$1` is the file.
    private func edit(
        _ house: House, _ job: String, by script: String, variable: String = "VISUAL",
        onTerminal: Bool = false
    ) async throws -> House.Answer {
        let path = house.folder.file("editor")
        try SmallFile.replace(path, with: Array("#!/bin/sh\n\(script)\n".utf8), mode: 0o700)
        let environment = ["VISUAL": "", "EDITOR": "", "TMPDIR": house.folder.path].merging(
            [variable: "'\(path)'"]) { $1 }
        guard onTerminal else {
            return try await house.belfry(["job", "edit", job], environment: environment)
        }
        // Enter is typed once; then the terminal is at its end.
        let command = "'\(try BuiltProgram.path("belfry"))' job edit \(job)"
        return try await house.run(
            "/bin/sh", ["-c", "echo | script -qec \"$1\" /dev/null", "sh", command], environment: environment)
    }

    private func job(_ house: House, _ name: String) async throws -> WireJob {
        try await blocking { try house.client.ask(Endpoints.job(name)) }
    }

    @Test(arguments: ["VISUAL", "EDITOR"])
    func `is changed in an editor`(variable: String) async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "a", "--every", "1h", "--env", "SECRET=x", "--", "true")
            let before = try await job(house, "a")
            let changed = try await edit(
                house, "a", by: "sed -i 's/    command:.*/    shell: echo hi\\n    nice: 5/' \"$1\"",
                variable: variable)
            #expect(changed.status == 0, "\(changed.errors)")
            #expect(changed.output.hasPrefix("Changed a (revision 2): next at "))
            let after = try await job(house, "a")
            #expect(after.shell == "echo hi" && after.policies["nice"] == .int(5))
            // The schedule is as it was, and so is its grid.
            #expect(after.schedule == before.schedule && after.env == ["SECRET"])
            let left = try Folder.names(in: house.folder.path).filter { $0.hasPrefix("belfry-edit") }
            #expect(left.isEmpty)
        }
    }

    @Test func `that is left as it is makes no revision`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "a", "--every", "1h", "--", "true")
            for script in [
                "true", "echo '# a thought' >\"$1.new\"; cat \"$1\" >>\"$1.new\"; mv \"$1.new\" \"$1\"",
            ] {
                let answer = try await edit(house, "a", by: script)
                #expect(answer.status == 0 && answer.output == "a is unchanged.\n", "\(answer.errors)")
            }
            #expect(try await job(house, "a").revision == 1)
            let failed = try await edit(house, "a", by: "echo 'jobs: {}' >\"$1\"; exit 1")
            #expect(failed.status == 2 && failed.errors.contains("\"a\" is unchanged"))
        }
    }

    @Test func `that is refused is opened again with the reason`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "a", "--cron", "0 3 * * *", "--", "true")
            // Wrong first; then what was shown is kept, and the fault corrected.
            let answer = try await edit(
                house, "a",
                by: """
                    if grep -q 'It was refused' "$1"; then
                        cp "$1" seen; sed -i 's/0 25/0 5/' "$1"
                    else
                        sed -i 's/0 3 /0 25 /' "$1"
                    fi
                    """, onTerminal: true)
            #expect(answer.status == 0, "\(answer)")
            #expect(answer.output.contains("Press Enter to edit again, Ctrl-C to stop."))
            #expect(try await job(house, "a").schedule.text == "0 5 * * *")
            let seen = try SmallFile.text(house.folder.file("seen")).split(separator: "\n")
            let reason = try #require(seen.first { $0.contains("25 is outside") })
            // The line that it names is the line of the file that is shown.
            let number = try #require(seen.firstIndex { $0.contains("0 25 * * *") && !$0.hasPrefix("#") }) + 1
            #expect(reason.hasPrefix("#   line \(number): "), "\(reason)")
        }
    }

    @Test func `that is saved although it was refused is kept for the user`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "a", "--cron", "0 3 * * *", "--", "true")
            let answer = try await edit(house, "a", by: "sed -i 's/0 3 /0 25 /' \"$1\"")
            #expect(answer.status == 2)
            #expect(answer.errors.contains("25 is outside"))
            let path = try #require(
                answer.errors.split { " \n".contains($0) }.last { $0.contains("/belfry-edit-") })
            #expect(try SmallFile.text(String(path.dropLast())).contains("0 25 * * *"))
            #expect(try await job(house, "a").revision == 1)
        }
    }

    @Test func `that an editor without a terminal breaks is refused once`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "a", "--", "true")
            // Without an end it would go on for ever: the third call leaves the text as it is.
            let answer = try await edit(
                house, "a", by: "echo x >>calls; [ $(wc -l <calls) -gt 2 ] || echo '    nise: 5' >>\"$1\"")
            #expect(answer.status == 2 && answer.errors.contains("unknown key \"nise\""), "\(answer)")
            #expect(answer.errors.contains("Your text is kept in \(house.folder.path)/belfry-edit-"))
            #expect(try SmallFile.text(house.folder.file("calls")) == "x")
        }
    }

    @Test func `of another revision is refused`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "a", "--", "true")
            let error = try await blocking {
                let text = try house.client.ask(Endpoints.jobText("a"))
                _ = try house.client.ask(Endpoints.setJobText("a", body: text))
                let other = WireJobText(
                    text: "jobs: { a: { schedule: manual, shell: date } }", revision: (text.revision ?? 0) + 1
                )
                return #expect(throws: APIError.self) {
                    try house.client.ask(Endpoints.setJobText("a", body: other))
                }
            }
            #expect(error?.code == .changedMeanwhile)
        }
    }

    @Test func `keeps its name, and of a file stays there`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "a", "--", "true")
            let renamed = try await edit(house, "a", by: "sed -i 's/  a:/  b:/' \"$1\"")
            #expect(renamed.status == 2 && renamed.errors.contains("a job keeps its name"))
            let schedule = ScheduleSpec(kind: .manual, text: "", zone: "UTC")
            let spec = JobSpec(name: "theirs", action: .shell("true"), schedule: schedule)
            _ = try await house.control.slots.change([.put(spec, origin: .file, place: "belfry.yaml:7")])
            let refused = try await edit(house, "theirs", by: "touch opened")
            #expect(refused.status == 5)
            #expect(refused.errors.contains("belfry.yaml:7") && !refused.errors.contains("kept in"))
        }
    }

    @Test func `is exported with the moment it counts from`() async throws {
        try await House.whileStanding { house in
            let none = try await house.belfry("job", "export")
            #expect(none.output == "jobs: {}\n" && none.errors.isEmpty)
            let schedule = ScheduleSpec(kind: .manual, text: "", zone: "UTC")
            let spec = JobSpec(name: "theirs", action: .shell("true"), schedule: schedule)
            _ = try await house.control.slots.change([.put(spec, origin: .file, place: "belfry.yaml:7")])
            let filed = try await house.belfry("job", "export")
            #expect(filed.output == "jobs: {}\n" && filed.errors == "All jobs are in files already.\n")
            _ = try await house.belfry("job", "add", "a", "--every", "1h", "--env", "K=v", "--", "true")
            _ = try await house.belfry("job", "add", "b", "--cron", "0 3 * * *", "--shell", "date")
            let from = try #require(try await job(house, "a").schedule.from)
            let all = try await house.belfry("job", "export")
            #expect(
                all.output == """
                    jobs:
                      a:
                        schedule: { every: 1h, from: "\(from.moment.iso8601)" }
                        command: ["true"]
                        env:
                          K: v
                        cwd: \(house.folder.path)
                      b:
                        schedule: { cron: "0 3 * * *", zone: UTC }
                        shell: date
                        cwd: \(house.folder.path)

                    """)
            let one = try await house.belfry("job", "export", "b", "--json")
            let texts = try WireCoding.decode([WireJobText].self, from: one.output.utf8)
            #expect(texts.count == 1 && texts[0].text.contains("shell: date") && texts[0].revision == 1)
            #expect(try await house.belfry("job", "export", "nix").status == 4)
        }
    }
}
