import API
import APIClient
import ArgumentParser
import Glibc
import Host
import TerminalView
import Timeline

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Shows daemon health and the next run.",
        discussion: """
            Exits 0 if a daemon answers; use doctor to check for problems.

              belfry status
              belfry status --wait 10s
              belfry status --json | jq -r .nextAt
            """)

    @Option(
        help: ArgumentHelp(
            "Wait for the daemon to start, at most this long (for example 10s).", valueName: "duration"),
        transform: DurationArgument.readSeconds)
    var wait: DurationArgument?

    @OptionGroup var common: CommonOptions

    func run() throws {
        let client = try client()
        if common.json {
            StandardOutput.print(String(decoding: try client.bytes(Endpoints.status()), as: UTF8.self))
            return
        }
        let status = try client.ask(Endpoints.status())
        let screen = common.screen
        for line in Self.lines(status, screen) { screen.print(line, hang: 9) }
        StatusText.print(status.problems, on: screen)
    }

    /// The client of a daemon that answers; with `--wait` one that may still be starting.
    private func client() throws -> DaemonClient {
        guard let wait else { return try common.client() }
        let clock = try SystemClock()
        let end = clock.sinceBoot + wait.duration
        while true {
            do throws(APIError) {
                let client = try common.client()
                let status = try client.ask(Endpoints.status())
                // The warden is started once the daemon answers.
                if status.warden != nil || clock.sinceBoot >= end { return client }
                usleep(50_000)
            } catch {
                guard Self.mayPass(error), clock.sinceBoot < end else { throw error }
                usleep(50_000)
            }
        }
    }

    /// Whether a daemon that starts, or restarts, explains the error.
    private static func mayPass(_ error: APIError) -> Bool {
        [.noDaemon, .connectionLost, .stopping].contains(error.code)
    }

    private static func lines(_ status: WireStatus, _ screen: Screen) -> [String] {
        let uptime =
            status.uptimeMs.map { .milliseconds($0) } ?? max(.zero, screen.now - status.since.moment)
        let age = DisplayDuration.text(uptime)
        let mark =
            status.problems.allSatisfy(\.isWarning)
            ? screen.paint("ok", .green) : screen.paint("needs a look", .yellow)
        var lines = ["belfryd \(status.version), pid \(status.pid), up \(age): \(mark)"]
        func add(_ name: String, _ text: String) {
            lines.append(screen.paint(name.padded(to: 9), .dim) + text)
        }
        add("config", PlainText.oneLine(status.config))
        add("state", PlainText.oneLine(status.state))
        if let warden = status.warden {
            add("warden", "pid \(warden.pid), \(Plural.of(warden.runs, "run"))")
        } else {
            add("warden", screen.paint("none answers", .red))
        }
        add("jobs", "\(status.jobs), \(status.running) running, \(status.queued) queued")
        if let at = status.nextAt, let job = status.nextJob {
            add("next", "\(PlainText.oneLine(job)) at \(screen.fullTime(at)), \(screen.distance(at))")
        } else {
            add("next", "no upcoming slot")
        }
        if let tzdata = status.tzdata { add("zones", "tzdata \(PlainText.oneLine(tzdata))") }
        if let bots = status.bots, !bots.isEmpty { add("bots", BotText.counts(bots, screen)) }
        let dead = "\(status.outbox.dead) dead"
        add(
            "outbox",
            "\(status.outbox.pending) pending, " + (status.outbox.dead > 0 ? screen.paint(dead, .red) : dead))
        for channel in status.channels { add("channel", StatusText.channel(channel, screen)) }
        return lines
    }
}

extension String {
    /// The text with spaces behind it up to `width` characters.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
