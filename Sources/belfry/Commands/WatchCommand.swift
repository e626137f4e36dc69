import API
import APIClient
import ArgumentParser
import Glibc
import Host
import TerminalView
import Tracking

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Shows live progress of all runs until q or Ctrl-C.",
        discussion: """
            Shows one row for each run on a terminal, plain lines elsewhere; with --json one live state per line. \
            On a terminal it also shows open questions and, while no run is active, the next jobs. Keys: arrows \
            select, Enter shows the log, c cancels, r repeats or starts, p pauses, / filters, a answers, ? helps. \
            For a single run it also shows what it waits for, the reply of its bot while that is written, and \
            the end, and exits as run --follow does. On a terminal q quits: with 0, or with 130 if the watched \
            run has not ended.

              belfry watch
              belfry watch backup
              belfry watch backup#12 --json
              belfry watch --notify auto      the terminal notifies, also over ssh
            """)

    @Argument(
        help: ArgumentHelp(
            "Show only this run, until it ends; a job's name alone means its newest run.",
            valueName: "job[#n]"))
    var target: RunTarget?
    @OptionGroup var live: LiveOptions
    @Option(
        help: ArgumentHelp(
            "Have the terminal itself notify of failures and questions, or of the end of the run.",
            valueName: "osc9|osc99|osc777|bell|auto"))
    var notify: String?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard let notify, !ShellHook.ways.contains(notify) else { return }
        throw ValidationError("--notify takes one of \(ShellHook.ways.joined(separator: ", "))")
    }

    func run() throws {
        let client = try common.client()
        let notices = notify.map { TerminalNotices($0, Machine.environment) }
        if target == nil, let traits = interactive {
            return try WatchSession(client, traits, notices).run()
        }
        let watcher = try LiveWatcher(client, common, live.progress, osc: live.tab.osc, takesKeys: true)
        guard let run = target else {
            return try watcher.watch(isIdle: try client.ask(Endpoints.live()).isEmpty)
        }
        let known = try client.ask(Endpoints.run(run))
        let end = try watcher.follow(known)
        notices?.notify(of: end.name ?? "\(run)", RunText.state(end))
        throw ExitCode(OutcomeCode.of(end))
    }
}

extension WatchCommand {
    /// How to draw on the terminal a person sits at; nil where there is none, or rows are not redrawn.
    private var interactive: TerminalTraits? {
        let traits = TerminalTraits(
            progress: common.json ? .json : live.progress, color: common.color, taskbar: live.tab.osc,
            isTerminal: StandardOutput.isTerminal, environment: Machine.environment)
        return traits.progress == .live && isatty(STDIN_FILENO) == 1 ? traits : nil
    }
}

struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Prints events as they happen.",
        discussion: """
            Without --since, only new events. If the connection breaks, it resumes without
            a gap.

              belfry events --json --since 0 | jq -r .type
            """)

    @Option(help: ArgumentHelp("Start after this event number (0: from the first event).", valueName: "seq"))
    var since: Int64?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let since, since < 0 { throw ValidationError("--since is a number from 0 up") }
    }

    func run() throws {
        var query = EventsQuery()
        query.since = since
        let feed = try EventFeed(of: common.client(), query: query)
        let screen = common.screen
        var tail = Reconnection()
        while true {
            switch try feed.next(timeout: .seconds(30)) {
            case .event(let event):
                tail.succeeded()
                if common.json {
                    StandardOutput.print(event.data)
                } else {
                    screen.print(
                        try Self.line(WireCoding.decode(WireEvent.self, from: event.data.utf8), screen))
                }
            case .nothing: tail.succeeded()
            case .broken: try tail.wait()
            }
        }
    }

    private static func line(_ event: WireEvent, _ screen: Screen) -> String {
        let why = event.reason.map { RunReason(rawValue: $0)?.words ?? $0 }
        let about = [event.subject, event.channel.map { "channel \($0)" }, why, event.bot]
            .compactMap { $0 }.joined(separator: "  ")
        let who = event.name ?? event.job ?? ""
        return screen.paint("\(event.seq)".padded(to: 6), .dim) + screen.time(event.at) + "  "
            + event.type.padded(to: 18) + "  "
            + PlainText.oneLine([who, about].filter { !$0.isEmpty }.joined(separator: "  "))
    }
}

/// How a command shows live states.
struct LiveOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How to show progress: auto, live, plain, json or quiet.", valueName: "how"))
    var progress: TerminalTraits.Progress = .auto
    @OptionGroup var tab: TabOptions
}

/// What a command sends the terminal beside text.
struct TabOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Whether the terminal is sent progress for its tab and of each run (OSC 9;4 and 7501): auto, always or never.",
            valueName: "when"))
    var osc: TerminalTraits.Wish = .auto
}
