import API
import APIClient
import ArgumentParser

struct JobListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the jobs.",
        discussion: """
              belfry job list
              belfry job list --json | jq -r '.[] | select(.paused) | .name'
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        let jobs = try common.client().ask(Endpoints.jobs())
        try common.screen.list(jobs, asJSON: common.json) { screen in
            screen.print(
                JobText.table(jobs, screen), empty: "No jobs. Add one: belfry job add NAME --cron EXPR -- CMD"
            )
        }
    }
}
