import API
import APIClient
import ArgumentParser
import TerminalView

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Reloads the configuration and shows what changed.",
        discussion: """
            A configuration with an error is refused as a whole (exit 2); the active one stays.

              belfry config check && belfry reload
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        let difference = try common.client().ask(Endpoints.reload())
        guard !common.json else {
            StandardOutput.print(try WireCoding.text(difference))
            return
        }
        let screen = common.screen
        for (what, changes) in [
            ("job", difference.jobs), ("bot", difference.bots), ("channel", difference.channels),
        ] {
            for name in changes.added { screen.print(screen.paint("+ \(what) \(name)", .green)) }
            for name in changes.changed { screen.print(screen.paint("~ \(what) \(name)", .yellow)) }
            for name in changes.removed { screen.print(screen.paint("- \(what) \(name)", .red)) }
        }
        if difference.routes { screen.print(screen.paint("~ routes", .yellow)) }
        if difference.isEmpty { screen.print("Nothing changed.") }
        for warning in difference.warnings ?? [] { StandardError.print("belfry: warning: \(warning)") }
    }
}
