import API
import APIClient
import ArgumentParser
import Delivery
import Glibc
import Host
import Ledger
import Performing
import TerminalView

struct ExecCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exec", abstract: "Runs a command with history, progress and notifications.",
        discussion: """
              belfry exec --name nightly-build -- make -j4
              belfry exec --notify-after 30s -- make test

            The command runs in this folder with this environment. Input, output, signals and the exit code pass \
            through unchanged. Its output goes to pipes unless --pty gives it a terminal. Progress that it sends \
            to a terminal (OSC 9;4 and 7501) becomes the run's, and is sent in the form that this terminal takes.

            Without a daemon, or if it does not answer within 5 s, the command still runs and the next \
            daemon adds the run to its history. Restarting the daemon does not disturb a running command.

            belfry exec returns when the command ends. Output that background processes of the command print \
            later still arrives: the reader of a pipe waits for it, a terminal or file receives it as it comes. \
            With --pty such output goes to the run's log only.

            With --attach PID it follows a process that is already running: the run ends when the process \
            does, with its exit code. Kernels before 6.15 give that to its parent only: then the run \
            completes with the reason exitUnknown. Canceling the run leaves the process alone.

              belfry exec --name dump --notify always --attach 4711

            Exit codes: the command's own; 124 timed out, 126 not executable, 127 not found, 128+n ended by \
            signal n. 125 means that Belfry failed, not the command: output could not be written (a full disk), \
            even if the command succeeded; the name belongs to a job; the daemon that was named does not answer. \
            2 means a wrong option; nothing was run.

              belfry exec --pty -- htop
              pg_dump shop | belfry exec --name upload --notify always -- to-tape
            """)

    @OptionGroup(title: "Run") var options: ExecRunOptions
    @OptionGroup(title: "Notifications") var notices: ExecNoticeOptions
    @Argument(parsing: .postTerminator, help: "The program and its arguments, after --.")
    var command: [String] = []
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if options.attach != nil {
            guard command.isEmpty, !options.pty else {
                throw ValidationError("--attach follows a running process; it takes no command and no --pty")
            }
        } else if command.first?.isEmpty ?? true {
            throw ValidationError("no command: write it after --, as in: belfry exec -- make")
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
        let attachment = try options.attach.map { try Attachment(pid: $0) }
        let words = try attachment?.words() ?? command
        var request = ExecRequest(command: words, cwd: FilePath.current, env: Machine.environment)
        request.name = options.name ?? attachment?.name
        request.bot = options.bot
        request.notify = notices.notify
        request.notifyAfterMs = notices.notifyAfter?.milliseconds
        request.umask = Self.umask
        if let runner = try daemon(for: request) {
            try follow(runner)
        } else {
            try follow(try WardenRunner(request))
        }
    }

    private func follow(_ runner: DaemonRunner) throws {
        let display = display
        let loop = try ExecLoop(runner, display: display, hasTerminal: options.pty)
        let end = try ended(by: loop)
        // The warden's report is enough unless the daemon's is shown.
        let known = display.showsEnd ? runner.finish() : nil
        loop.leave(detail: known.flatMap(RunText.detail))
        _ = loop.leaveRest()
        throw Self.exit(end, runner, missing: loop.missing)
    }

    private func follow(_ runner: WardenRunner) throws {
        let loop = try ExecLoop(runner, display: display, hasTerminal: options.pty)
        let end = try ended(by: loop)
        runner.finish(end, leavesRest: loop.leaveRest())
        loop.leave(detail: nil)
        throw Self.exit(end, runner, missing: loop.missing)
    }

    /// How the command ended; a terminal that keeps commands apart is shown where it begins and ends.
    private func ended(by loop: ExecLoop) throws -> ExecEnd {
        guard options.attach == nil else { return try loop.run().ofFollowed }
        let traits = TerminalTraits(
            progress: options.progress, taskbar: options.tab.osc, isTerminal: StandardError.isTerminal,
            environment: Machine.environment)
        guard traits.showsContexts, !printsLives else { return try loop.run() }
        let context = CommandContext(id: UniqueID.v4())
        StandardError.write(context.begin(command, folder: FilePath.current))
        do {
            let end = try loop.run()
            StandardError.write(context.finish(end.ofContext))
            return end
        } catch {
            StandardError.write(context.finish(.unknown))
            throw error
        }
    }

    private static func exit(
        _ end: ExecEnd, _ runner: any ExecRunner, missing: APIError?
    ) -> any Error {
        switch end {
        case .ended(let record):
            let why: String? =
                switch record.cause {
                case .timeout: "timed out"
                case .lost: "is lost: its warden died"
                case .canceled, .exited: nil
                }
            if let why { StandardError.print("belfry: \(runner.name) \(why)") }
        case .refused(_, let text): StandardError.print("belfry: \(text)")
        case .withdrawn(let run): StandardError.print("belfry: \(runner.name) \(RunText.state(run))")
        case .interrupted: break
        case .lost: StandardError.print("belfry: the warden died; the outcome of \(runner.name) is unknown")
        }
        // A reader of the output must not take a part for the whole.
        return missing.map(ExecFailure.init) ?? ExitCode(end.code)
    }

    /// The daemon that will record the run; nil: there is none, or it does not answer, and none was named.
    ///
    /// The machine's daemon runs commands as its own user, so it is asked only when it is named. So far it was
    /// asked for its status alone: a command that runs without it can't be run by it, too, however late it answers.
    private func daemon(for request: ExecRequest) throws(APIError) -> DaemonRunner? {
        if common.socket != nil || common.system || common.config != nil {
            return try DaemonRunner(try common.client(), request)
        }
        do throws(APIError) {
            return try DaemonRunner(
                try DaemonClient.first(
                    of: Array(Paths.socketsToTry().prefix(1)), timeout: try Patience.wished()), request)
        } catch {
            switch error.code {
            case .noDaemon: return nil
            case .noAnswer, .timedOut, .tooBusy, .connectionLost, .stopping:
                StandardError.print(
                    "belfry: \(error.message); "
                        + "the command runs without it and is recorded when it next starts")
                return nil
            default: throw error
            }
        }
    }

    private var printsLives: Bool { common.json || options.progress == .json }

    private var display: ExecDisplay {
        let showsRow = !printsLives && !options.pty
        return ExecDisplay(
            row: showsRow ? ExecRow(options.progress, color: common.color, osc: options.tab.osc) : nil,
            tab: printsLives || !options.pty ? nil : ExecTab(options.progress, osc: options.tab.osc),
            printsLives: printsLives, removing: options.tab.osc == .never ? .all : .nothing)
    }

    private static var umask: UInt32 {
        let mask = Glibc.umask(0o077)
        Glibc.umask(mask)
        return mask
    }
}

/// What the run is called, and how it is shown.
struct ExecRunOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The run's name in the history (default: the command's name).", valueName: "name"))
    var name: String?
    @Option(
        help: ArgumentHelp("The bot that the run belongs to.", valueName: "bot"), completion: Completions.bots
    )
    var bot: String?
    @Option(
        help: ArgumentHelp(
            "How to show progress on standard error: auto, live, plain or quiet; json prints live states instead of output.",
            valueName: "how"))
    var progress: TerminalTraits.Progress = .auto
    @OptionGroup var tab: TabOptions
    @Flag(
        help: """
            Give the command a terminal: for editors, shells, and programs that format their output for a terminal.
            """
    )
    var pty = false

    @Option(help: ArgumentHelp("Follow this process instead of running a command.", valueName: "pid"))
    var attach: Int32?

    func validate() throws {
        for (flag, name) in [("--name", name), ("--bot", bot)] {
            if let name, let fault = JobName.fault(in: name) {
                let near = JobName.near(name).map { "; write \($0)" } ?? ""
                throw ValidationError("\(flag) \"\(name)\": \(fault)\(near)")
            }
        }
    }
}

/// When it notifies.
struct ExecNoticeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "When to notify: always, failure, never, or outcomes such as completed,failed (default: decided by the routes).",
            valueName: "when"), completion: .list(["always", "failure", "never"]))
    var notify: String?
    @Option(
        help: ArgumentHelp(
            "Notify when it ends, if it took at least this long (default: 10s, where no route is configured).",
            valueName: "duration"), transform: DurationArgument.read)
    var notifyAfter: DurationArgument?

    func validate() throws {
        if let notify, NotifyWish(rawValue: notify) == nil {
            let outcomes = NotifyWish.outcomes.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--notify is always, failure or never, or some of: \(outcomes)")
        }
        if notifyAfter != nil, let notify, notify != "always" {
            throw ValidationError("--notify-after and --notify \(notify) exclude each other")
        }
    }
}
