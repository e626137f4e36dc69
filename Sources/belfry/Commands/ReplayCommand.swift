import API
import APIClient
import ArgumentParser
import Glibc
import Timeline

/// What changed rules would have made of what has happened.
struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Shows which notices changed rules would have sent, held or left out.",
        discussion: """
            Evaluates each event in the ledger twice: with the active configuration and
            with the file named by --config. It only reads, with or without a daemon.

              belfry replay --since 7d --config new.yaml
              belfry replay --since 2d --config new.yaml --json | jq .channels
            """)

    @Option(help: ArgumentHelp("Events since this time, or within a duration such as 7d.", valueName: "time"))
    var since = "7d"
    @Option(help: ArgumentHelp("How many of the newest differences to list (default: 50).", valueName: "n"))
    var limit: Int?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard common.config != nil else {
            throw ValidationError("name the changed configuration with --config")
        }
    }

    func run() throws {
        let file = common.config ?? ""
        var arguments = ["replay", "--since", try SinceArgument.moment(since).iso8601, "--config", file]
        // Where a daemon answers, its files count, and its ledger; the file that is named is no daemon's yet.
        var daemon = common
        daemon.config = nil
        if let status: WireStatus = try? daemon.client().ask(Endpoints.status()) {
            arguments += ["--state", status.state]
            if unsafe access(status.config, F_OK) == 0 { arguments += ["--against", status.config] }
        }
        if let limit { arguments += ["--limit", "\(limit)"] }
        if common.json { arguments.append("--json") }
        if common.system { arguments.append("--system") }
        throw ConfigCheckCommand.become(arguments)
    }
}
