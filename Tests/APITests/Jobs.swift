import API
import APIClient
import Engine
import Ledger
import TestSupport
import Testing
import Timeline
import Tracking

@Suite struct `jobs over the socket` {
    @Test func `are added, changed, paused, shown and removed by the command line`() async throws {
        try await House.whileStanding { house in
            let added = try await house.belfry(
                "job", "add", "backup", "--cron", "30 2 * * *", "--zone", "Europe/Berlin", "--timeout", "2h",
                "--json", "--", "/bin/echo", "two words")
            #expect(added.status == 0, "\(added.errors)")
            let job = try WireCoding.decode(WireJob.self, from: added.output.utf8)
            #expect(job.name == "backup" && job.origin == "cli" && job.revision == 1)
            #expect(job.command == ["/bin/echo", "two words"])
            #expect(job.cwd == house.folder.path)
            #expect(job.policies["timeoutMs"] == .int(7_200_000))
            #expect(job.schedule.zone == "Europe/Berlin")
            #expect(job.nextAt != nil && job.paused == .no)

            let edited = try await house.belfry("job", "edit", "backup", "--zone", "UTC", "--json")
            let changed = try WireCoding.decode(WireJob.self, from: edited.output.utf8)
            #expect(changed.revision == 2)
            #expect(changed.schedule.text == "30 2 * * *" && changed.schedule.zone == "UTC")
            #expect(changed.policies["timeoutMs"] == .int(7_200_000))

            #expect(try await house.belfry("job", "pause", "backup", "--note", "holiday").status == 0)
            let shown = try await house.belfry("job", "show", "backup")
            #expect(shown.output.contains("holiday"))
            #expect(shown.output.contains("/bin/echo 'two words'"))
            let list = try await house.belfry("job", "list", "--json")
            let jobs = try WireCoding.decode([WireJob].self, from: list.output.utf8)
            #expect(jobs.map(\.name) == ["backup"])
            #expect(jobs.first?.paused.isPaused == true && jobs.first?.nextAt == nil)
            let resumed = try await house.belfry("job", "resume", "backup")
            #expect(resumed.output.contains("02:30:00"))

            let slots = try await house.belfry("job", "next", "backup", "-n", "3", "--json")
            #expect(try WireCoding.decode([Timestamp].self, from: slots.output.utf8).count == 3)

            #expect(try await house.belfry("job", "rm", "backup").status == 0)
            #expect(try await house.belfry("job", "list", "--json").output == "[]\n")
        }
    }

    @Test func `may have several schedules`() async throws {
        try await House.whileStanding { house in
            let added = try await house.belfry(
                "job", "add", "open", "--cron", "30 8 * * 1-5", "--cron", "0 10 * * 6", "--every", "2h",
                "--zone", "Europe/Berlin", "--json", "--shell", "true")
            #expect(added.status == 0, "\(added.errors)")
            let job = try WireCoding.decode(WireJob.self, from: added.output.utf8)
            #expect(job.schedule.kind == "several")
            #expect(job.schedule.text == "30 8 * * 1-5; 0 10 * * 6; 2h")
            #expect(job.schedule.members?.map(\.kind) == ["cron", "cron", "every"])
            #expect(job.schedule.members?[2].from != nil && job.schedule.zone == "Europe/Berlin")
            let shown = try await house.belfry("job", "show", "open")
            #expect(shown.output.contains("30 8 * * 1-5 Europe/Berlin; 0 10 * * 6 Europe/Berlin; every 2h"))
            #expect(
                shown.output.contains(
                    "At 08:30 on Monday through Friday; at 10:00 on Saturday; every 2 hours"))

            let edited = try await house.belfry("job", "edit", "open", "--zone", "UTC", "--json")
            let changed = try WireCoding.decode(WireJob.self, from: edited.output.utf8)
            #expect(changed.schedule.members?.map(\.zone) == ["UTC", "UTC", nil])
            #expect(changed.schedule.members?[2].from == job.schedule.members?[2].from)

            _ = try await house.belfry(
                "job", "edit", "open", "--words", "weekdays at 9, 13:00 and 17:30", "--zone", "UTC")
            let phrase = try await blocking { [client = house.client] in try client.ask(Endpoints.job("open"))
            }
            #expect(phrase.schedule.members?.map(\.text) == ["0 9,13 * * 1-5", "30 17 * * 1-5"])
            let slots = try await house.belfry("job", "next", "open", "-n", "15", "--json")
            let times = try WireCoding.decode([Timestamp].self, from: slots.output.utf8).map(\.moment)
            #expect(times == times.sorted() && Set(times).count == 15)
            #expect(Set(times.map { $0.iso8601.dropFirst(11).prefix(5) }) == ["09:00", "13:00", "17:30"])
        }
    }

    @Test func `are refused with schedules that do not go together`() async throws {
        try await House.whileStanding { house in
            let flags = try await house.belfry(
                "job", "add", "a", "--cron", "0 9 * * *", "--after", "15m", "--shell", "true")
            #expect(flags.status == 2)
            #expect(
                flags.errors.contains(
                    "--after counts from the end of the last run and can't be combined with --cron"))
            let twice = try await house.belfry(
                "job", "add", "a", "--cron", "0 9 * * *", "--cron", "0 9 * * *", "--shell", "true")
            #expect(twice.status == 2)
            #expect(twice.errors.contains("this schedule is in the list already"), "\(twice.errors)")
            var draft = JobDraft()
            draft.name = "a"
            draft.fields["shell"] = .string("true")
            for member in [WireSchedule(kind: "after", text: "15m"), WireSchedule(several: [])] {
                draft.schedule = WireSchedule(several: [WireSchedule(kind: "every", text: "1h"), member])
                let asked = draft
                let refused = try await blocking { [client = house.client] in
                    #expect(throws: APIError.self) { try client.ask(Endpoints.addJob(body: asked)) }
                }
                #expect(refused?.code == .badSchedule || refused?.code == .badValue)
            }
        }
    }

    @Test func `are not denied before those of the files are loaded`() async throws {
        try await House.whileStanding(loading: Loading(isDone: false, timeout: .zero)) { house in
            let client = house.client
            var query = RunsQuery()
            query.job = "early"
            let refused = try await blocking { [query] in
                [
                    #expect(throws: APIError.self) { try client.bytes(Endpoints.job("early")) },
                    #expect(throws: APIError.self) { try client.bytes(Endpoints.jobs()) },
                    #expect(throws: APIError.self) { try client.bytes(Endpoints.runs(query: query)) },
                    #expect(throws: APIError.self) { try client.bytes(Endpoints.config()) },
                    #expect(throws: APIError.self) { try client.bytes(Endpoints.readiness()) },
                ].map { $0?.code }
            }
            #expect(refused == Array(repeating: .starting, count: 5))
            let status = try await blocking { try client.ask(Endpoints.status()) }
            #expect(status.problems.contains { $0.kind == "starting" })
            _ = try await house.control.takeUpJobs()
            #expect(try await blocking { try client.ask(Endpoints.jobs()) }.isEmpty)
        }
    }

    @Test func `are refused in a zone that does not exist, with the one that was meant`() async throws {
        try await House.whileStanding { house in
            let refused = try await house.belfry(
                "job", "add", "a", "--cron", "0 3 * * *", "--zone", "Berlin", "--shell", "true")
            #expect(refused.status == 2)
            #expect(refused.errors == "belfry: no zone \"Berlin\". Did you mean \"Europe/Berlin\"?\n")
        }
    }

    @Test func `are refused with a duration above 100 years, by name`() async throws {
        try await House.whileStanding { house in
            for option in ["--timeout", "--every", "--spread"] {
                let refused = try await house.belfry("job", "add", "a", option, "40000d", "--shell", "true")
                #expect(refused.status == 2)
                #expect(
                    refused.errors.hasPrefix(
                        "belfry: the value '40000d' is invalid for '\(option)': "
                            + "the duration is longer than 100 years"))
            }
        }
    }

    @Test func `belong to a bot that is described, where any is`() async throws {
        try await House.whileStanding { house in
            #expect(
                try await house.belfry("job", "add", "free", "--bot", "anyone", "--shell", "true").status == 0
            )
            house.control.activeConfiguration.change { $0.bots = ["ops": BotProfile(name: "ops")] }
            let refused = try await house.belfry("job", "add", "b", "--bot", "opps", "--shell", "true")
            #expect(refused.status == 4)
            #expect(refused.errors == "belfry: no bot \"opps\". Did you mean \"ops\"?\n")
            let edited = try await house.belfry("job", "edit", "free", "--bot", "nobody")
            #expect(
                edited.errors.hasSuffix("no bot \"nobody\". Describe it under bots: in the configuration.\n"))
            // What it has stays, and the bot of those without one is always there.
            #expect(try await house.belfry("job", "edit", "free", "--timeout", "5s").status == 0)
            #expect(try await house.belfry("job", "edit", "free", "--bot", "belfry").status == 0)
            #expect(try await house.belfry("job", "add", "c", "--bot", "ops", "--shell", "true").status == 0)
        }
    }

    @Test func `show the import they came from, and what a pause does`() async throws {
        try await House.whileStanding { house in
            let schedule = ScheduleSpec(kind: .manual, text: "", zone: "UTC")
            let spec = JobSpec(name: "old", action: .shell("true"), schedule: schedule)
            _ = try await house.control.add(spec, origin: .imported)
            #expect(try await house.belfry("job", "show", "old").output.contains("belfry import\n"))
            #expect(
                try await house.belfry("job", "pause", "old").output
                    == "Paused old (revision 1): its slots are skipped until belfry job resume old.\n")
        }
    }

    @Test func `of files are not to be edited: the hint for a taken name shows where`() async throws {
        try await House.whileStanding { house in
            let schedule = ScheduleSpec(kind: .manual, text: "", zone: "UTC")
            let spec = JobSpec(name: "theirs", action: .shell("true"), schedule: schedule)
            _ = try await house.control.slots.change([.put(spec, origin: .file, place: "belfry.yaml:7")])
            let refused = try await house.belfry("job", "add", "theirs", "--shell", "true")
            #expect(refused.status == 5)
            #expect(
                refused.errors
                    == "belfry: there is a job \"theirs\" already, at belfry.yaml:7. "
                    + "Change it there, then: belfry reload\n")
        }
    }

    @Test func `are listed however many there are`() async throws {
        try await House.whileStanding { house in
            let names = (0..<SlotKeeper.page * 2).map { "job-\($0)" }
            _ = try await house.control.slots.change(
                names.map { name in
                    let schedule = ScheduleSpec(kind: .cron, text: "0 0 * * *", zone: "UTC")
                    return .put(
                        JobSpec(name: name, action: .shell("true"), schedule: schedule), origin: .cli,
                        place: nil)
                })
            let run = try await house.belfry("run", "job-1999")
            #expect(run.status == 0, "\(run.errors)")
            let list = try await house.belfry("job", "list", "--json")
            let jobs = try WireCoding.decode([WireJob].self, from: list.output.utf8)
            #expect(jobs.map(\.name) == names.sorted())
            #expect(jobs.allSatisfy { $0.nextAt != nil && ($0.lastRun != nil) == ($0.name == "job-1999") })
        }
    }

    @Test func `are refused with the contract's sentences and codes`() async throws {
        try await House.whileStanding { house in
            _ = try await house.belfry("job", "add", "backup", "--", "true")
            let typo = try await house.belfry("job", "show", "bakcup")
            #expect(typo.status == 4)
            #expect(typo.errors == "belfry: no job \"bakcup\". Did you mean \"backup\"?\n")
            let asJSON = try await house.belfry("job", "show", "bakcup", "--json")
            let error = try WireCoding.decode(APIError.self, from: asJSON.errors.utf8)
            #expect(error.code == .noSuchJob && asJSON.status == 4)

            let twice = try await house.belfry("job", "add", "backup", "--", "true")
            #expect(twice.status == 5)
            let reserved = try await house.belfry("job", "add", "show", "--", "true")
            #expect(reserved.status == 2)
            #expect(reserved.errors.contains("a subcommand of belfry run has this name"))
            for name in ["pause", "resume"] {
                let later = try await house.belfry("job", "add", name, "--", "true")
                #expect(later.status == 2 && later.errors.contains("a subcommand of belfry run"), "\(name)")
            }
            let broken = try await house.belfry("job", "add", "x", "--cron", "0 25 * * *", "--", "true")
            #expect(broken.status == 2)
            #expect(broken.errors.contains("^^ hour: 25 is outside 0-23"))
            let zone = try await house.belfry(
                "job", "add", "x", "--cron", "0 2 * * *", "--zone", "Mars/Base", "--", "true")
            #expect(zone.status == 2 && zone.errors.contains("Mars/Base"))
            #expect(try await house.belfry("job", "edit", "backup").status == 2)
            #expect(try await house.belfry("reload").errors == "belfry: belfry.yaml:3:1: no\n")
            #expect(try await house.belfry("reload").status == 2)
        }
    }

    @Test(arguments: [
        ["nodes"], ["drain", "a"], ["runs", "--node", "a"],
    ])
    func `show what is not in this version`(arguments: [String]) async throws {
        try await House.whileStanding { house in
            let answer = try await house.belfry(arguments)
            #expect(answer.status == 2)
            #expect(answer.errors.contains("not in this version"))
            #expect(answer.output.isEmpty)
        }
    }
}
