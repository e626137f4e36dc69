import API
import ArgumentParser
import Host
import Tracking

struct HookCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hook", abstract: "Lets coding agents ask you through Belfry.",
        discussion: """
            Adds Belfry to the hooks of Claude Code or Codex. An agent's requests for
            permission then become questions on your desktop, and after 10s on your other
            channels; what it reports becomes messages of the bot named after its folder.
            The answer "allow for 1 h" counts for exactly the same call, and each use is
            listed by: belfry questions --all. Without an answer the agent asks as usual.

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
            Edits ~/.claude/settings.json or ~/.codex/hooks.json; other hooks are kept.
            What stood there before is kept beside it, for: belfry hook remove.

            With --url Claude sends each event to the daemon itself, and no program is run.
            That needs a listener (listen: in the configuration) and a token with the scope
            publish, in the variable BELFRY_TOKEN of Claude's environment.

              belfry hook install claude
              belfry hook install codex --dry-run
              export BELFRY_TOKEN=$(belfry token add claude --scope publish)
              belfry hook install claude --url http://127.0.0.1:8427
            """)

    @Option(
        help: ArgumentHelp("Send events to the daemon's listener at this address.", valueName: "url"))
    var url: String?
    @Option(help: ArgumentHelp("The variable that holds the token.", valueName: "name"))
    var tokenVariable = "BELFRY_TOKEN"
    @OptionGroup var options: HookOptions

    func validate() throws {
        guard let url else { return }
        guard options.agent == .claude else { throw ValidationError("--url is for claude only") }
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw ValidationError("--url is an address such as http://127.0.0.1:8791")
        }
        let isName = tokenVariable.utf8.allSatisfy { byte in
            (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5F
        }
        guard isName, !tokenVariable.isEmpty else {
            throw ValidationError("--token-variable is a name such as BELFRY_TOKEN")
        }
    }

    private var call: HookSettings.Call {
        guard let url else { return .program }
        let base = url.hasSuffix("/") ? String(url.dropLast()) : url
        return .address(
            url: base + HookSettings.addressPath + options.agent.rawValue, token: tokenVariable)
    }

    func run() throws {
        let settings = try HookSettings(of: options.agent, call: call)
        try options.apply(
            settings.installed, to: settings, by: { () throws(APIError) in try settings.install() },
            done: "Belfry is a hook of \(options.agent.rawValue) now",
            nothing: "Belfry is a hook of \(options.agent.rawValue) already")
    }
}

struct HookRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Removes Belfry from the hooks of an agent.",
        discussion: """
              belfry hook remove claude
            """)

    @OptionGroup var options: HookOptions

    func run() throws {
        let settings = try HookSettings(of: options.agent)
        try options.apply(
            settings.removed, to: settings, by: { () throws(APIError) in try settings.remove() },
            done: "Belfry is no hook of \(options.agent.rawValue) any more",
            nothing: "Belfry is no hook of \(options.agent.rawValue)")
    }
}

/// Whose hooks, and whether they are only shown.
struct HookOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The agent: claude or codex.", valueName: "agent"))
    var agent: CodingAgent
    @Flag(help: "Print the resulting settings without changing anything.")
    var dryRun = false

    func apply(
        _ json: JSON, to settings: HookSettings, by change: () throws(APIError) -> Void, done: String,
        nothing: String
    ) throws {
        if dryRun { return StandardOutput.print(HookSettings.text(of: json)) }
        guard settings.isNews(json) else { return StandardOutput.print("\(nothing) (\(settings.path)).") }
        try change()
        StandardOutput.print("\(done) (\(settings.path)).")
    }
}
