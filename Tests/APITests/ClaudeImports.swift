import API
import Engine
import Host
import Prompting
import TestSupport
import Testing
import Tracking

@Suite struct `importing Claude's scheduled tasks` {
    private static let file = """
        {"tasks":[
        {"id":"875bb1c1","cron":"7 9 * * 1-5","prompt":"Summarize the issues.","recurring":true,"createdAt":1790000000000},
        {"id":"b2","cron":"30 14 28 2 *","prompt":"Once.","recurring":false,"durable":true,"agent":"x"},
        {"id":"b3","cron":"every day","prompt":"Never."},
        {"id":"b4","cron":"0 9 * * *"},
        {"id":"b5","prompt":"When?"}]}
        """

    @Test func `shows each with its next times, and names what it does not know`() async throws {
        let run = try CommandRun()
        try SmallFile.replace(run.folder.file("tasks.json"), with: Array(Self.file.utf8))
        let answer = try await run.belfry("import claude tasks.json --from 2026-11-21 --json")
        #expect(answer.status == 0, "\(answer.errors)")
        let jobs = try #require(JSON(parsing: Array(answer.output.utf8)[...])).elements
        try #require(jobs.count == 5)
        #expect(jobs[0]["name"]?.text == "claude-875bb1c1")
        #expect(jobs[0]["prompt"]?.text == "Summarize the issues." && jobs[0]["refused"] == nil)
        let times = (jobs[0]["next"]?.elements ?? []).compactMap { $0["at"]?.text }
        #expect(
            times.map { String($0.prefix(16)) } == [
                "2026-11-23T09:07", "2026-11-24T09:07", "2026-11-25T09:07", "2026-11-26T09:07",
                "2026-11-27T09:07",
                "2026-11-30T09:07", "2026-12-01T09:07", "2026-12-02T09:07", "2026-12-03T09:07",
                "2026-12-04T09:07",
            ])
        #expect(jobs[0]["notes"]?.elements.compactMap(\.text).contains { $0.contains("7 days") } == true)
        #expect(
            jobs[1]["next"]?.elements.compactMap { $0["at"]?.text }.map { String($0.prefix(16)) } == [
                "2027-02-28T14:30"
            ])
        #expect(jobs[1]["notes"]?.elements.compactMap(\.text) == ["its field agent is not imported"])
        #expect(jobs[2]["refused"]?.text == "\"every day\" is no cron expression of five fields")
        #expect(jobs[3]["refused"]?.text == "it has no prompt")
        #expect(jobs[4]["refused"]?.text == "it has no times")
    }

    @Test func `reads what a Stop hook gets, and wants a bot before it adds anything`() async throws {
        let run = try CommandRun()
        let hook =
            #"{"stop_hook_active":false,"background_tasks":[],"session_crons":[{"id":"x","schedule":"*/5 * * * *","recurring":true,"prompt":"Look."}]}"#
        try SmallFile.replace(run.folder.file("hook.json"), with: Array(hook.utf8))
        let shown = try await run.belfry("import claude hook.json --from 2026-11-21")
        #expect(shown.status == 0 && shown.output.contains("claude-x"), "\(shown)")
        let applied = try await run.belfry("import claude hook.json --apply")
        #expect(applied.status == 2 && applied.errors.contains("--bot"), "\(applied)")
        let none = try await run.belfry("import claude none.json")
        #expect(none.status != 0 && none.errors.contains("no scheduled tasks can be read"))
    }

    @Test func `adds each as a prompt of the bot, whatever else is said of it`() async throws {
        try await House.whileStanding { house in
            house.control.activeConfiguration.change {
                $0.bots = ["cc": BotProfile(name: "cc", contact: BotInUse(nil))]
            }
            let tasks =
                #"{"tasks":[{"id":"a1","cron":"7 9 * * 1-5","prompt":"Summarize.","recurring":true,"agent":{"x":[1]}}]}"#
            let path = house.folder.file("tasks.json")
            try SmallFile.replace(path, with: Array(tasks.utf8))
            let applied = try await house.belfry("import", "claude", path, "--bot", "cc", "--apply")
            #expect(applied.status == 0, "\(applied)")
            #expect(applied.output.hasPrefix("claude-a1 (\(path)#1): added\n"), "\(applied)")
            let shown = try await house.belfry("job", "show", "claude-a1", "--json")
            let job = try WireCoding.decode(WireJob.self, from: shown.output.utf8)
            #expect(job.bot == "cc" && job.prompt == "Summarize." && job.origin == "import")
            #expect(job.schedule.kind == "cron" && job.schedule.text == "7 9 * * 1-5")
            #expect(job.policies["catchUp.mode"] == .string("none"))
            let unknown = try await house.belfry("import", "claude", path, "--bot", "dd", "--apply")
            #expect(unknown.status == 1 && unknown.output.contains("not added: "), "\(unknown)")
        }
    }
}
