import API
import APIClient
import ArgumentParser
import Glibc
import Host
import TerminalView

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Checks a configuration file, shows the active one, or prints its schema.",
        subcommands: [ConfigCheckCommand.self, ConfigShowCommand.self, ConfigSchemaCommand.self])
}

struct ConfigCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Checks a configuration file; exits 2 when it is refused.",
        discussion: """
            belfryd reads the file and asks a running daemon which job names are taken.
            Without a daemon that part is skipped, and a note says so.

              belfry config check
              belfry config check config/belfry.yaml
            """)

    @Argument(
        help: ArgumentHelp("The configuration file, as with --config.", valueName: "file"),
        completion: .file())
    var file: String?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard file == nil || common.config == nil else {
            throw ValidationError("--config and a file exclude each other")
        }
    }

    func run() throws {
        let file = file ?? common.config ?? Paths(common.system ? .system : .user).config
        var arguments = ["--check", "--config", file]
        if common.json { arguments.append("--json") }
        if common.system { arguments.append("--system") }
        if let socket = common.socket { arguments += ["--socket", Paths.absolute(socket)] }
        throw Self.become(arguments)
    }

    /// Turns this process into belfryd, which alone can read the file; its answer and exit code are those of the command.
    ///
    /// - Returns: why it could not.
    static func become(_ arguments: [String]) -> APIError {
        let program = Doctor.daemonProgram
        // Freed by exec, or by the end of the process right after.
        var pointers = unsafe ([program] + arguments).map { unsafe strdup($0) }
        unsafe pointers.append(nil)
        if program.contains("/") { unsafe execv(program, pointers) } else { unsafe execvp(program, pointers) }
        return APIError(
            .internalFault, "can't start \(program) (\(unsafe String(cString: strerror(errno))))",
            hint: "Install belfryd beside belfry.")
    }
}

struct ConfigShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows the active configuration with defaults and without secrets.",
        discussion: """
              belfry config show --json | jq .routes
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        let config = try common.client().ask(Endpoints.config())
        if common.json { return try StandardOutput.print(json: config) }
        let screen = common.screen
        screen.print(screen.paint("file      ", .dim) + (config.file ?? "none; the defaults apply"))
        screen.print(screen.paint("zone      ", .dim) + config.zone)
        for bot in config.bots {
            screen.print(screen.paint("bot       ", .dim) + "\(bot.name) (\(bot.backend))")
        }
        for job in config.jobs {
            let place = job.at.map { ", \($0)" } ?? ""
            screen.print(
                screen.paint("job       ", .dim) + "\(job.name) (\(JobText.schedule(job.schedule))\(place))")
        }
        for channel in config.channels {
            screen.print(screen.paint("channel   ", .dim) + "\(channel.name) (\(channel.kind))")
        }
        for route in config.routes {
            let when = route.isDefault == true ? "default: what matters" : route.when.joined(separator: ", ")
            let conditions = (route.match ?? []) + (route.during ?? [])
            let about = conditions.isEmpty ? "" : " (\(conditions.joined(separator: ", ")))"
            screen.print(
                screen.paint("route     ", .dim) + when + about + " -> " + route.to.joined(separator: ", "))
        }
    }
}

struct ConfigSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Prints the JSON Schema of the configuration file.",
        discussion: """
            Editors with a YAML language server complete and check the file by it. The
            first line of the manual names the schema:

              belfry config schema >~/.config/belfry/belfry.schema.json
            """)

    func run() throws { throw ConfigCheckCommand.become(["--schema"]) }
}

struct ReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Reloads the configuration and shows what changed.",
        discussion: """
            A configuration with an error is refused as a whole (exit 2); the active one
            stays.

              belfry config check && belfry reload
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        let difference = try common.client().ask(Endpoints.reload())
        if common.json { return try StandardOutput.print(json: difference) }
        let screen = common.screen
        for (what, changes) in [
            ("job", difference.jobs), ("bot", difference.bots), ("channel", difference.channels),
        ] {
            for name in changes.added { screen.print(screen.paint("+ \(what) \(name)", .green)) }
            for name in changes.changed { screen.print(screen.paint("~ \(what) \(name)", .yellow)) }
            for name in changes.removed { screen.print(screen.paint("- \(what) \(name)", .red)) }
        }
        if difference.routes { screen.print(screen.paint("~ routes", .yellow)) }
        for part in difference.parts ?? [] { screen.print(screen.paint("~ \(part)", .yellow)) }
        if difference.isEmpty { screen.print("Nothing changed.") }
        for warning in difference.warnings ?? [] { StandardError.print(prose: "belfry: warning: \(warning)") }
    }
}
