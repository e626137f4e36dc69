import API
import APIClient
import ArgumentParser

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
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The job's name: a-z, 0-9, '.', '_' and '-'.")
    var name: String
    @OptionGroup var fields: JobFields

    func validate() throws {
        if fields.command.isEmpty && fields.shell == nil {
            throw ValidationError("nothing to run; give --shell TEXT, or a command after --")
        }
        let when = fields.when
        if when.zone != nil, when.cron == nil, when.at == nil, when.words == nil {
            throw ValidationError("--zone needs --cron, --at or --words")
        }
    }

    func run() throws {
        var draft = try fields.draft()
        draft.name = name
        if draft.schedule == nil { draft.schedule = WireSchedule(kind: "manual", text: "") }
        // A command typed here means the folder it was typed in.
        draft.cwd = FilePath.current
        let job = try common.client().ask(Endpoints.addJob(body: draft))
        try JobText.confirm("Added", job, common)
    }
}
