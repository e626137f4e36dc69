import API
import APIClient
import ArgumentParser
import Host
import TerminalView

struct ChannelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channel", abstract: "Lists, adds and tests notification channels.",
        subcommands: [
            ChannelListCommand.self, ChannelAddCommand.self, ChannelTestCommand.self,
            ChannelRemoveCommand.self,
        ])
}

struct ChannelListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the channels.",
        discussion: """
              belfry channel list
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        let channels = try common.client().ask(Endpoints.channels())
        try common.screen.list(channels, asJSON: common.json) { screen in
            var table = TextTable(["CHANNEL", "KIND", "STATE", "SINCE", "LAST ERROR"])
            for channel in channels {
                table.add([
                    "\(channel.name)", "\(channel.kind)",
                    TextTable.Cell(channel.state, StatusText.color(ofChannel: channel.state)),
                    "\(screen.time(channel.since))",
                    "\(PlainText.preview(channel.lastError ?? "-", limit: 60))",
                ])
            }
            screen.print(table, empty: "No channels.")
        }
    }
}

struct ChannelTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Sends a test notice over a channel and shows whether it arrived.",
        discussion: """
            Exits 0 when it was delivered, 1 when it failed, 6 if the result is not known in time.

              belfry channel test desk
            """)

    @Argument(help: "The channel's name.", completion: Completions.channels)
    var name: String
    @OptionGroup var common: CommonOptions

    func run() throws { try Self.test(name, try common.client(), common) }

    /// Sends a test over a channel and shows the outcome, which is the exit code, too.
    static func test(_ name: String, _ client: DaemonClient, _ common: CommonOptions) throws {
        let test = try client.ask(Endpoints.testChannel(name))
        if common.json {
            StandardOutput.print(try WireCoding.text(test))
        } else {
            let screen = common.screen
            let color: TerminalColor =
                test.outcome == "delivered" ? .green : test.outcome == "failed" ? .red : .yellow
            let time = test.latencyMs.map { " in \(DeliveryText.time($0))" } ?? ""
            let detail = test.detail.flatMap { $0.isEmpty ? nil : ": \(PlainText.oneLine($0))" } ?? ""
            screen.print(screen.paint(test.outcome, color) + time + detail)
            if let answer = test.answer { screen.print(DeliveryText.answer(answer)) }
        }
        switch test.outcome {
        case "delivered": return
        case "failed": throw ExitCode(1)
        default: throw ExitCode(6)
        }
    }
}
