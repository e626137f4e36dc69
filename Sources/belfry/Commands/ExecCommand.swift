import API
import APIClient
import ArgumentParser
import Host
import TerminalView
import Tracking

struct ExecCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec", abstract: "Runs a command as a run: recorded, tracked, and told of.",
        discussion: """
            The daemon's warden runs it, in this folder and with this environment, and its output is copied
            here. It goes on when this terminal is closed; Ctrl-C ends it. Standard input is not passed on.
            Exits as the command did; 124 timed out, 125 for Belfry's own failures, 126 not executable,
            127 not found, 128+n ended by signal n.

              belfry exec --name nightly-build -- make -j4
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: ArgumentHelp("The name to file it under; the command's own otherwise.", valueName: "name"))
    var name: String?
    @Option(help: ArgumentHelp("The bot it belongs to.", valueName: "bot"), completion: Completions.bots)
    var bot: String?
    @Option(help: ArgumentHelp("When to tell the person: always, failure or never.", valueName: "when"))
    var notify: String?
    @Option(help: ArgumentHelp("quiet, or json for live states instead of output.", valueName: "how"))
    var progress: TerminalTraits.Progress = .auto
    @Argument(parsing: .postTerminator, help: "The program and its arguments, after --.")
    var command: [String] = []

    func validate() throws {
        if command.isEmpty { throw ValidationError("say what to run, after --") }
        if let notify, !["always", "failure", "never"].contains(notify) {
            throw ValidationError("--notify is always, failure or never")
        }
    }

    func run() throws {
        var request = ExecRequest(command: command, cwd: FilePath.current, env: Machine.environment)
        request.name = name
        request.bot = bot
        request.notify = notify
        let client = try common.client()
        if common.json || progress == .json {
            let watcher = try LiveWatcher(client, common, .json)
            let run: WireRun = try client.ask(.exec, saying: request)
            throw ExitCode(OutcomeCode.of(try watcher.follow(run)))
        }
        let run: WireRun = try client.ask(.exec, saying: request)
        guard let name = run.name.flatMap(RunName.init) else { throw APIError(.notBelfry) }
        throw ExitCode(try Self.copyOutput(of: name, client))
    }

    private static func copyOutput(of run: RunName, _ client: DaemonClient) throws -> Int32 {
        let signals = TerminalSignals()
        var asked = false
        try Output.copy(of: run, from: client, follow: true) { () throws(APIError) in
            guard let signal = signals.take() else { return }
            // A second time means: now. The run itself is told by then.
            if asked { throw APIError(.connectionLost, "left \(run) to end by itself (signal \(signal))") }
            asked = true
            _ = try client.bytes(.cancelRun(job: run.job, ordinal: run.ordinal))
        }
        let ended: WireRun = try client.ask(.run(job: run.job, ordinal: run.ordinal))
        if ended.state != .completed, ended.exitCode == nil {
            StandardError.print("belfry: \(run) \(RunText.state(ended))")
        }
        return OutcomeCode.of(ended)
    }
}
