import API
import APIClient
import ArgumentParser
import TerminalView
import Tracking

struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Prints events as they happen.",
        discussion: """
            Without --since, only new events. If the connection breaks, it resumes without a gap.

              belfry events --json --since 0 | jq -r .type
            """)

    @OptionGroup var common: CommonOptions

    @Option(help: ArgumentHelp("Start after this event number (0: from the first event).", valueName: "seq"))
    var since: Int64?

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
