import API
import APIClient
import ArgumentParser
import Host
import Ledger
import Tracking

struct JobCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job", abstract: "Adds, changes, shows and pauses jobs.",
        subcommands: [
            JobAddCommand.self, JobEditCommand.self, JobListCommand.self, JobShowCommand.self,
            JobRunCommand.self, JobRemoveCommand.self, JobPauseCommand.self, JobResumeCommand.self,
            JobNextCommand.self, JobHistoryCommand.self, JobExportCommand.self,
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
              belfry job add backup --words "every day at 2:30" -- restic backup /home
              belfry job add disk --every 15m --shell 'df -h / | tail -1'

            Without a schedule the job runs only when you start it: belfry run NAME. More
            examples:

              belfry job add fetch --cron "@hourly" --attempts 3 --backoff 1m -- fetch-mail
              belfry job add check --cron "0 3 * * *" --timeout 2h --notify failed -- check
              belfry job add sync --every 5m --overlap queue-one --catch-up none -- ./sync
              belfry job add once --at 2030-01-31T08:00 -- ./party
              belfry job add poll --after 30s -- ./poll
              belfry job add open --cron "30 8 * * 1-5" --cron "0 10 * * 6" -- ./open
              belfry job add news --cron "0 8 * * *" --bot sage --prompt "Any news?"
              belfry job add ping --every 5m --url https://example.org/health --expect 200
              belfry job add load --every 1h --env LEVEL=3 --nice 10 --cwd /srv -- ./load
            """)

    @Argument(help: "The job's name: a-z, 0-9, '.', '_' and '-'.")
    var name: String
    @OptionGroup var options: JobOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if options.command.isEmpty && JobFields.actions.allSatisfy({ options.fields.values[$0] == nil }) {
            throw ValidationError(
                "nothing to run: write the command after --, as in: belfry job add \(JobText.quoted(name)) -- CMD; or give --shell TEXT, --prompt TEXT or --url ADDRESS"
            )
        }
        if options.when.zone != nil, !options.when.isLocal {
            throw ValidationError("--zone needs --cron, --at or --words")
        }
    }

    func run() throws {
        if let fault = JobName.faultOfNew(name) {
            throw APIError(
                .badValue, "\(Quoted.of(name)) is not a valid job name: \(fault)",
                hint: JobName.near(name).map { "Write \($0)." })
        }
        var draft = try options.draft()
        draft.name = name
        if draft.schedule == nil { draft.schedule = WireSchedule(kind: "manual", text: "") }
        // A command typed here means the folder it was typed in.
        if draft.fields["cwd"] == nil, draft.fields["prompt"] == nil, draft.fields["url"] == nil {
            draft.fields["cwd"] = .string(FilePath.current)
        }
        let job = try common.client().ask(Endpoints.addJob(body: draft))
        try JobText.confirm("Added", job, common)
    }
}

struct JobEditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Changes a job made by job add.",
        discussion: """
              belfry job edit backup
              belfry job edit backup --cron "0 3 * * *"

            Without options it opens the job as YAML in $VISUAL or $EDITOR. Options that
            are not given keep their values; --env adds variables to those the job has, and
            an empty --env, --cwd, --user, --nice, --umask, --stdin or --notify removes
            what is set. Jobs from a file are changed in the file (exit 5). More examples:

              belfry job edit backup --concurrency disk=2 --priority 10
              belfry job edit backup --notify failed,recovered
              belfry job edit disk --every 5m --spread none
            """)

    @OptionGroup var job: JobArgument
    @OptionGroup var options: JobOptions
    @OptionGroup var common: CommonOptions

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
        guard draft != JobDraft() else { return try openEditor(client) }
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

extension JobEditCommand {
    private func openEditor(_ client: DaemonClient) throws {
        guard let changed = try JobEditor(client: client, name: job.name).edit() else {
            if !common.json { StandardOutput.print("\(job.name) is unchanged.") }
            return
        }
        try JobText.confirm("Changed", changed, common)
    }
}

struct JobExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Prints jobs as YAML that a configuration file accepts.",
        discussion: """
            Without a name it prints every job that is not in a file, including the values
            of its environment variables. To move a job to a file, put it there, remove it
            here, and reload.

              belfry job export backup >>~/.config/belfry/jobs.d/mine.yaml
              belfry job export --json | jq -r '.[].text'
            """)

    @Argument(help: ArgumentHelp("The jobs' names.", valueName: "job"), completion: Completions.jobs)
    var names: [String] = []
    @OptionGroup var common: CommonOptions

    func run() throws {
        let client = try common.client()
        let all = names.isEmpty ? try client.ask(Endpoints.jobs()) : []
        let chosen = names.isEmpty ? all.filter { $0.origin != "file" }.map(\.name) : names
        if chosen.isEmpty, !all.isEmpty { StandardError.print("All jobs are in files already.") }
        var query = JobTextQuery()
        query.anchored = true
        let texts = try chosen.map { try client.ask(Endpoints.jobText($0, query: query)) }
        if common.json { return try StandardOutput.print(json: texts) }
        guard !texts.isEmpty else { return StandardOutput.print("jobs: {}") }
        // Each has a line `jobs:` of its own, of which a file has one.
        let bodies = texts.map { $0.text.drop { $0 != "\n" }.dropFirst() }
        StandardOutput.write(Array(("jobs:\n" + bodies.joined()).utf8))
    }
}

struct JobRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Removes a job made by job add; its runs are kept.",
        discussion: """
            Jobs from a file must be removed from the file (exit 5).

              belfry job rm backup
            """, aliases: ["remove", "delete"])

    @OptionGroup var job: JobArgument
    @OptionGroup var common: CommonOptions

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

    @OptionGroup var job: JobArgument
    @Option(help: ArgumentHelp("The reason, shown with the job.", valueName: "text"))
    var note: String?
    @OptionGroup var common: CommonOptions

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

    @OptionGroup var job: JobArgument
    @OptionGroup var common: CommonOptions

    func run() throws {
        let job = try common.client().ask(Endpoints.resumeJob(job.name))
        try JobText.confirm("Resumed", job, common)
    }
}
