import API
import APIClient
import ArgumentParser
import Glibc
import Host
import TerminalView
import Tracking
import WardenProtocol

struct ExecCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec", abstract: "Runs a command as a run: recorded, tracked, and told of.",
        discussion: """
            It runs in this folder with this environment; its input, output, signals and exit code are passed \
            through, as if it stood here alone. It writes to pipes unless --pty gives it a terminal.

            Without a daemon it runs all the same, and the next daemon takes the run into its history. \
            A daemon that is restarted meanwhile changes nothing.

            It returns when the command ends. What processes that the command left behind print later still \
            arrives: a pipe's reader waits for it, a terminal or a file gets it as it comes. With --pty such \
            output goes to the run's log alone.

            Exits as the command did; 124 timed out, 126 not executable, 127 not found, 128+n ended by signal n. \
            What fails by Belfry and not by the command is 125, whatever it is: output that can't be written \
            (a full disk), also when the command itself succeeded, a name that a job has, no daemon where one \
            was named. A wrong option is 2, and nothing was done.

              belfry exec --name nightly-build -- make -j4
              belfry exec --pty -- htop
              pg_dump shop | belfry exec --name upload --notify always -- to-tape
            """)

    @OptionGroup var common: CommonOptions
    @Option(help: ArgumentHelp("The name to file it under; the command's own otherwise.", valueName: "name"))
    var name: String?
    @Option(help: ArgumentHelp("The bot it belongs to.", valueName: "bot"), completion: Completions.bots)
    var bot: String?
    @Option(
        help: ArgumentHelp(
            "When to tell the person: always, failure or never; as the routes say otherwise.",
            valueName: "when"), completion: .list(["always", "failure", "never"]))
    var notify: String?
    @Option(
        help: ArgumentHelp(
            "How far it is, on standard error: auto, live, plain or quiet; or json for live states instead of output.",
            valueName: "how"))
    var progress: TerminalTraits.Progress = .auto
    @Flag(
        help: "Give it a terminal, of the size of this one: for editors, shells, and what prints more nicely."
    )
    var pty = false
    @Argument(parsing: .postTerminator, help: "The program and its arguments, after --.")
    var command: [String] = []

    func validate() throws {
        if command.first?.isEmpty ?? true { throw ValidationError("say what to run, after --") }
        if let notify, !["always", "failure", "never"].contains(notify) {
            throw ValidationError("--notify is always, failure or never")
        }
        for (flag, name) in [("--name", name), ("--bot", bot)] {
            if let name, let fault = CommandName.fault(in: name) {
                throw ValidationError("\(flag) \"\(name)\" \(fault)")
            }
        }
    }

    func run() throws {
        do {
            try start()
        } catch let code as ExitCode {
            throw code
        } catch let failure as ExecFailure {
            throw failure
        } catch let error as APIError {
            throw ExecFailure(error)
        } catch {
            throw ExecFailure(APIError(.internalFault, "\(error)"))
        }
    }

    private func start() throws {
        ExecStreams.fill()
        var request = ExecRequest(command: command, cwd: FilePath.current, env: Machine.environment)
        request.name = name
        request.bot = bot
        request.notify = notify
        request.umask = Self.umask
        if let client = try daemon() {
            try follow(try DaemonOffice(client, request))
        } else {
            try follow(try OwnWarden(request))
        }
    }

    private func follow(_ office: DaemonOffice) throws {
        let loop = try ExecLoop(office, row: row, tellsLives: tellsLives, hasTerminal: pty)
        let end = try loop.run()
        // Nobody waits for the daemon's word when the warden's own is enough.
        let known = tellsLives || row != nil ? office.finish() : nil
        loop.leave(detail: known.flatMap(RunText.detail))
        _ = loop.leaveRest()
        throw Self.exit(end, office, missing: loop.missing)
    }

    private func follow(_ office: OwnWarden) throws {
        let loop = try ExecLoop(office, row: row, tellsLives: tellsLives, hasTerminal: pty)
        let end = try loop.run()
        office.finish(end, leavesRest: loop.leaveRest())
        loop.leave(detail: nil)
        throw Self.exit(end, office, missing: loop.missing)
    }

    private static func exit(
        _ end: ExecEnd, _ office: any ExecOffice, missing: APIError?
    ) -> any Error {
        switch end {
        case .ended(let record):
            let why: String? =
                switch record.cause {
                case .timeout: "timed out"
                case .lost: "is lost: its warden died"
                case .canceled, .exited: nil
                }
            if let why { StandardError.print("belfry: \(office.name) \(why)") }
        case .refused(_, let text): StandardError.print("belfry: \(text)")
        case .withdrawn(let run): StandardError.print("belfry: \(office.name) \(RunText.state(run))")
        case .interrupted: break
        case .lost: StandardError.print("belfry: the warden died; the outcome of \(office.name) is unknown")
        }
        // Whoever reads the output must not take a part of it for the whole.
        return missing.map(ExecFailure.init) ?? ExitCode(end.code)
    }

    /// The daemon that will record it; nil: there is none, and none was named.
    ///
    /// The machine's daemon runs commands as its own user, so it is asked only when it is named.
    private func daemon() throws(APIError) -> DaemonClient? {
        if common.socket != nil || common.system || common.config != nil { return try common.client() }
        do throws(APIError) {
            return try DaemonClient.first(of: Array(Paths.socketsToTry().prefix(1)))
        } catch {
            guard error.code == .noDaemon else { throw error }
            return nil
        }
    }

    private var tellsLives: Bool { common.json || progress == .json }

    private var row: ExecRow? { tellsLives || pty ? nil : ExecRow(progress, color: common.color) }

    private static var umask: UInt32 {
        let mask = Glibc.umask(0o077)
        Glibc.umask(mask)
        return mask
    }
}
