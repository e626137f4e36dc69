import API
import APIClient
import ArgumentParser

struct JobEditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Changes a job made by job add.",
        discussion: """
            Options that are not given keep their values. Jobs from a file are changed in
            the file (exit 5).

              belfry job edit backup --cron "0 3 * * *"
              belfry job edit backup --concurrency disk=2 --priority 10
              belfry job edit disk --every 5m --spread 0s
            """)

    @OptionGroup var common: CommonOptions
    @OptionGroup var job: JobArgument
    @OptionGroup var fields: JobFields

    func run() throws {
        let client = try common.client()
        var draft = try fields.draft()
        if let zone = fields.when.zone, draft.schedule == nil {
            let current = try client.ask(Endpoints.job(job.name))
            guard ["cron", "calendar"].contains(current.schedule.kind) else {
                throw APIError(.badValue, "--zone needs --cron: \"\(job.name)\" has no expression")
            }
            draft.schedule = WireSchedule(
                kind: current.schedule.kind, text: current.schedule.text, zone: zone)
        }
        guard draft != JobDraft() else {
            throw APIError(.badRequest, "nothing to change", hint: "See: belfry job edit --help")
        }
        try JobText.confirm("Changed", try client.ask(Endpoints.editJob(job.name, body: draft)), common)
    }
}
