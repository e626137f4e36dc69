import API
import ArgumentParser
import Host
import Tracking

struct HookCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hook", abstract: "Lets coding agents ask you through Belfry.",
        discussion: """
            Adds Belfry to the hooks of Claude Code or Codex. Then what an agent asks for
            permission is a question on your desktop, after 10s on your other channels, too,
            and what it reports is a message of the bot named after its folder. The answer
            "allow for 1 h" counts for exactly the same call, and each use is listed by:
            belfry questions --all. Without an answer the agent asks as usual.

              belfry hook install claude --dry-run
              belfry hook install claude
              belfry hook remove claude
            """,
        subcommands: [HookInstallCommand.self, HookRemoveCommand.self])
}

struct HookInstallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Adds Belfry to the hooks of an agent.",
        discussion: """
            Edits ~/.claude/settings.json or ~/.codex/hooks.json; other hooks stay.

              belfry hook install claude
              belfry hook install codex --dry-run
            """)

    @OptionGroup var options: HookOptions

    func run() throws {
        let settings = try HookSettings(of: options.agent)
        try options.apply(
            settings.installed, to: settings, done: "Belfry is a hook of \(options.agent.rawValue) now",
            nothing: "Belfry is a hook of \(options.agent.rawValue) already")
    }
}

struct HookRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Takes Belfry out of the hooks of an agent.",
        discussion: """
              belfry hook remove claude
            """)

    @OptionGroup var options: HookOptions

    func run() throws {
        let settings = try HookSettings(of: options.agent)
        try options.apply(
            settings.removed, to: settings, done: "Belfry is no hook of \(options.agent.rawValue) any more",
            nothing: "Belfry is no hook of \(options.agent.rawValue)")
    }
}

/// Whose hooks, and whether they are only shown.
struct HookOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The agent: claude or codex.", valueName: "agent"))
    var agent: CodingAgent
    @Flag(help: "Print the settings as they would become, and change nothing.")
    var dryRun = false

    func apply(_ json: JSON, to settings: HookSettings, done: String, nothing: String) throws {
        if dryRun { return StandardOutput.print(HookSettings.text(of: json)) }
        guard settings.isNews(json) else { return StandardOutput.print("\(nothing) (\(settings.path)).") }
        try settings.write(json)
        StandardOutput.print("\(done) (\(settings.path)).")
    }
}
