import API
import Engine
import Host
import Ledger
import Timeline
import Tracking

/// What a bot does with jobs: its own tasks, and those of the configuration that it may run.
enum TaskTools {
    static let all = [schedule, list, pause, resume, cancel, update, runJob]

    /// So many tasks of its own a bot may have.
    private static let most = 50
    private static let listed = 100
    private static let longestPrompt = 20_000

    private static let name = ToolParameter(
        "name", .text(limit: 63), "The task's name, as list_tasks shows it.", isRequired: true)
    private static let prompt = ToolParameter(
        "prompt", .text(limit: longestPrompt),
        "What you are to be asked then: write it so that it stands alone.",
        isRequired: true)
    private static let times = [
        ToolParameter(
            "cron", .text(limit: 300), "When: a cron expression of five fields, such as 0 9 * * 1-5."),
        ToolParameter("words", .text(limit: 300), "When, in words, such as every weekday at 9:30."),
        ToolParameter("at", .text(limit: 100), "When, once: ISO 8601, such as 2026-12-01T09:00."),
        ToolParameter(
            "zone", .text(limit: 60), "The time zone of it, such as Europe/Paris; the person's if left out."),
    ]

    // MARK: Its own tasks

    private static let schedule = BotTool(
        "schedule_task",
        "Schedules a task: at its times you are asked its prompt, and the person gets your reply. Give one of cron, words and at.",
        [prompt]
            + [
                ToolParameter(
                    "name", .text(limit: 63), "What it is called: small letters, digits, dots and dashes.")
            ]
            + times
    ) { request throws(APIError) in
        let bot = request.user.bot.name
        guard let schedule = try time(of: request.arguments) else {
            throw APIError(.badValue, "the task has no time", hint: "Give one of cron, words and at.")
        }
        let own = try await jobs(of: request.user, request.daemon, most: most + 1) { $0.spec.bot == bot }
        guard own.count < most else {
            throw APIError(
                .badValue, "you have \(own.count) tasks already", hint: "Cancel one with cancel_task.")
        }
        var draft = JobDraft()
        draft.name =
            request.arguments.text("name") ?? "\(bot.prefix(50))-\(UniqueID.v4().suffix(6))"
        draft.schedule = schedule
        draft.fields["bot"] = .string(bot)
        draft.fields["prompt"] = request.arguments.text("prompt").map { .string($0) }
        let job = try await request.daemon.addJob(draft)
        guard job.nextAt != nil || schedule.kind == "words" && job.schedule.kind == "startup" else {
            try await request.daemon.removeJob(job.name)
            throw APIError(.badSchedule, "the schedule never fires", hint: "Give a time in the future.")
        }
        return "scheduled as \(job.name): \(job.when)"
    }

    private static let list = BotTool(
        "list_tasks", "Lists your tasks, each with its name, its times and its prompt.", isRepeatable: true
    ) { request throws(APIError) in
        let found = try await jobs(of: request.user, request.daemon, most: listed + 1)
        guard !found.isEmpty else { return "there are no tasks" }
        var lines: [String] = []
        for entry in found.prefix(listed) {
            let job = try await request.daemon.shown(entry.record.name)
            lines.append(job.line(isOfOthers: request.user.hasAllTasks))
        }
        if found.count > listed { lines.append("… and more: only \(listed) are listed") }
        return lines.joined(separator: "\n")
    }

    private static let pause = BotTool(
        "pause_task", "Holds a task still until it is resumed.",
        [name, ToolParameter("note", .text(limit: 200), "Why, for the person.")], isRepeatable: true
    ) { request throws(APIError) in
        let job = try await own(request)
        _ = try await request.daemon.pauseJob(job.name, note: request.arguments.text("note"))
        return "\(job.name) is paused"
    }

    private static let resume = BotTool(
        "resume_task", "Lets a paused task run again.", [name], isRepeatable: true
    ) { request throws(APIError) in
        let job = try await own(request)
        return "\(job.name) runs again: \(try await request.daemon.resumeJob(job.name).when)"
    }

    private static let cancel = BotTool("cancel_task", "Removes a task; its results stay.", [name]) {
        request throws(APIError) in
        let job = try await own(request)
        try await request.daemon.removeJob(job.name)
        return "\(job.name) is removed"
    }

    private static let update = BotTool(
        "update_task", "Changes the prompt or the times of a task. Give at most one of cron, words and at.",
        [name, ToolParameter("prompt", .text(limit: longestPrompt), prompt.about)] + times
    ) { request throws(APIError) in
        let job = try await own(request)
        var draft = JobDraft()
        draft.schedule = try time(of: request.arguments)
        if let prompt = request.arguments.text("prompt") {
            guard job.spec.prompt != nil else {
                throw APIError(.badValue, "\(job.name) asks no bot: it has no prompt to change")
            }
            draft.fields["prompt"] = .string(prompt)
        }
        guard draft.schedule != nil || draft.fields["prompt"] != nil else {
            throw APIError(.badValue, "there is nothing to change", hint: "Give a prompt or a time.")
        }
        let changed = try await request.daemon.editJob(job.name, draft)
        return "\(job.name) is changed: \(changed.when)"
    }

    // MARK: Jobs of the file

    private static let runJob = BotTool(
        "run_job", "Runs a job of the person's configuration now, and reports how it ended.",
        [
            ToolParameter("name", .text(limit: 63), "The job's name.", isRequired: true),
            ToolParameter(
                "wait", .whole(0...600), "How many seconds to wait for its end; 60 if left out."),
        ], isRepeatable: true
    ) { request throws(APIError) in
        let name = request.arguments.text("name") ?? ""
        let entry = try await request.daemon.control.slots.entry(named: name)
        guard let job = entry?.record, job.origin == .file, request.user.mayRun(name) else {
            let known = request.user.jobs.map { $0.joined(separator: ", ") }
            throw APIError(
                .noSuchJob, "there is no job \"\(CleanText.line(name, limit: 63))\" that you may run",
                hint: known.map { "You may run: \($0)." } ?? "Ask the person for its name.")
        }
        let run = try await request.daemon.runJob(name, API.RunRequest(key: "tool-" + request.key))
        let wait = request.arguments.whole("wait") ?? 60
        let watch = RunWatch(request.daemon)
        let ends = try await watch.ends(of: [run.id ?? ""], within: .seconds(wait)) { rows in
            for row in rows {
                let live = await request.daemon.control.board.state(of: row.id)
                request.report(WireToolProgress(live, of: row.name))
            }
        }
        guard let end = ends.first, end.state.isEnded else { return "\(run.name ?? name) is under way" }
        let output = watch.output(of: end, limit: 8192)
        return "\(end.name) \(end.sentence)" + (output.isEmpty ? "" : "\n\(output)")
    }

    // MARK: Parts

    /// When the task is to run; nil: the call does not say.
    private static func time(of arguments: ToolArguments) throws(APIError) -> WireSchedule? {
        let given = ["cron", "words", "at"].filter { arguments.text($0) != nil }
        guard given.count <= 1 else {
            throw APIError(
                .badValue, "\(given.joined(separator: " and ")) are given", hint: "Give one of them.")
        }
        guard let kind = given.first, let text = arguments.text(kind) else {
            guard arguments.text("zone") == nil else {
                throw APIError(.badValue, "zone: is given without a time")
            }
            return nil
        }
        return WireSchedule(kind: kind, text: text, zone: arguments.text("zone"))
    }

    /// The task that the call names, which the caller may deal with.
    ///
    /// One of somebody else is as none: its name is not confirmed.
    private static func own(_ request: ToolRequest) async throws(APIError) -> JobRecord {
        let name = request.arguments.text("name") ?? ""
        let job = try await request.daemon.control.slots.entry(named: name)?.record
        guard let job, request.user.hasAllTasks || job.spec.bot == request.user.bot.name else {
            throw APIError(
                .noSuchJob, "you have no task \"\(CleanText.line(name, limit: 63))\"",
                hint: "See list_tasks.")
        }
        return job
    }

    /// The jobs that the caller may deal with, by name.
    private static func jobs(
        of user: ToolUser, _ daemon: DaemonHandler, most: Int, where fits: (JobRecord) -> Bool = { _ in true }
    ) async throws(APIError) -> [ScheduledJob] {
        var found: [ScheduledJob] = []
        var last = ""
        while found.count < most {
            let page = try await daemon.reading(await daemon.control.slots.entries(after: last))
            guard let end = page.last else { break }
            found += page.filter {
                (user.hasAllTasks || $0.record.spec.bot == user.bot.name) && fits($0.record)
            }
            last = end.record.name
        }
        return Array(found.prefix(most))
    }
}

extension SlotKeeper {
    /// The job of that name; nil: there is none, or the ledger can't be read now.
    fileprivate func entry(named name: String) async throws(APIError) -> ScheduledJob? {
        do throws(LedgerError) { return try await entry(name) } catch { throw APIError(error) }
    }
}

extension WireJob {
    /// When it runs: `at 09:30 on weekdays; next at 2026-11-26T09:30:00Z`.
    fileprivate var when: String {
        let words = schedule.words ?? schedule.text
        let next = nextAt.map { "next at \($0.moment.iso8601)" } ?? "no time is to come"
        return [words, next].filter { !$0.isEmpty }.joined(separator: "; ")
    }

    /// A line of the list of tasks.
    fileprivate func line(isOfOthers: Bool) -> String {
        var parts = [name, when]
        if isOfOthers { parts.insert("of \(bot)", at: 1) }
        if paused != .no { parts.append("paused") }
        if let last = lastRun { parts.append("last \(last.state)") }
        parts.append(prompt.map { "prompt: " + CleanText.line($0, limit: 100) } ?? kind)
        return parts.joined(separator: " | ")
    }
}
