import API
import APIClient
import ArgumentParser
import Ledger
import Tracking

struct JobCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job", abstract: "Adds, changes, shows and pauses jobs.",
        subcommands: [
            JobAddCommand.self, JobEditCommand.self, JobListCommand.self, JobShowCommand.self,
            JobRemoveCommand.self, JobPauseCommand.self, JobResumeCommand.self, JobNextCommand.self,
            JobHistoryCommand.self,
        ])
}

/// The name of a job, completed by the shell.
struct JobArgument: ParsableArguments {
    @Argument(help: ArgumentHelp("The job's name.", valueName: "job"), completion: Completions.jobs)
    var name: String
}

struct JobAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Adds a job.",
        discussion: """
            Without a schedule the job runs only when you start it: belfry run NAME.

              belfry job add backup --cron "30 2 * * *" --timeout 2h -- restic backup /home
              belfry job add fetch --cron "@hourly" --attempts 3 --backoff 1m -- fetch-mail
              belfry job add disk --every 15m --spread 5m --shell 'df -h / | tail -1'
              belfry job add report --words "every weekday at 9:30" -- ./report
              belfry job add sync --every 5m --overlap queue-one --catch-up none -- ./sync
              belfry job add once --at 2030-01-31T08:00 -- ./party
              belfry job add poll --after 30s -- ./poll
              belfry job add open --cron "30 8 * * 1-5" --cron "0 10 * * 6" -- ./open
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The job's name: a-z, 0-9, '.', '_' and '-'.")
    var name: String
    @OptionGroup var options: JobOptions

    func validate() throws {
        if options.command.isEmpty && options.fields.values["shell"] == nil {
            throw ValidationError("nothing to run; give --shell TEXT, or a command after --")
        }
        if options.when.zone != nil, !options.when.isLocal {
            throw ValidationError("--zone needs --cron, --at or --words")
        }
    }

    func run() throws {
        var draft = try options.draft()
        draft.name = name
        if draft.schedule == nil { draft.schedule = WireSchedule(kind: "manual", text: "") }
        // A command typed here means the folder it was typed in.
        draft.fields["cwd"] = .string(FilePath.current)
        let job = try common.client().ask(Endpoints.addJob(body: draft))
        try JobText.confirm("Added", job, common)
    }
}

struct JobEditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Changes a job made by job add.",
        discussion: """
            Options that are not given keep their values. Jobs from a file are changed in
            the file (exit 5).

              belfry job edit backup --cron "0 3 * * *"
              belfry job edit backup --concurrency disk=2 --priority 10
              belfry job edit disk --every 5m --spread none
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument
    @OptionGroup var options: JobOptions

    func run() throws {
        let client = try common.client()
        var draft = try options.draft()
        if let zone = options.when.zone, draft.schedule == nil {
            let current = try client.ask(Endpoints.job(job.name))
            guard let moved = current.schedule.moved(to: zone) else {
                throw APIError(.badValue, "--zone needs --cron: \"\(job.name)\" has no expression")
            }
            draft.schedule = moved
        }
        guard draft != JobDraft() else {
            throw APIError(.badRequest, "nothing to change", hint: "See: belfry job edit --help")
        }
        try JobText.confirm("Changed", try client.ask(Endpoints.editJob(job.name, body: draft)), common)
    }
}

extension WireSchedule {
    /// A draft of the same expressions and calendars in another zone; nil: there are none.
    fileprivate func moved(to zone: String) -> WireSchedule? {
        guard let members else {
            return ["cron", "calendar"].contains(kind)
                ? WireSchedule(kind: kind, text: text, zone: zone) : nil
        }
        let moved = members.map { $0.moved(to: zone) }
        guard moved.contains(where: { $0 != nil }) else { return nil }
        return WireSchedule(several: zip(members, moved).map { $1 ?? $0 })
    }
}

struct JobRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Removes a job made by job add; its runs are kept.",
        discussion: """
            Jobs from a file must be removed from the file (exit 5).

              belfry job rm backup
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument

    func run() throws {
        try common.client().ask(Endpoints.removeJob(job.name))
        if !common.json { StandardOutput.print("Removed \(job.name).") }
    }
}

struct JobPauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pauses a job: its slots are skipped until it is resumed.",
        discussion: """
            Active runs continue. The job stays paused across restarts, reloads and edits.

              belfry job pause backup --note "until the new disk is in"
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument
    @Option(help: ArgumentHelp("The reason, shown with the job.", valueName: "text"))
    var note: String?

    func run() throws {
        let job = try common.client().ask(
            Endpoints.pauseJob(job.name, body: PauseRequest(note: note)))
        try JobText.confirm("Paused", job, common)
    }
}

struct JobResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Resumes a paused job.",
        discussion: """
            Slots skipped during the pause are not caught up.

              belfry job resume backup
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument

    func run() throws {
        let job = try common.client().ask(Endpoints.resumeJob(job.name))
        try JobText.confirm("Resumed", job, common)
    }
}
