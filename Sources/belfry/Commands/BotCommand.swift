import API
import APIClient
import ArgumentParser
import TerminalView

struct BotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bot", abstract: "Lists and shows bots.",
        subcommands: [BotListCommand.self, BotShowCommand.self])
}

struct BotListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the bots.",
        discussion: """
              belfry bot list
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        let bots = try common.client().ask(Endpoints.bots())
        try common.screen.list(bots, asJSON: common.json) { screen in
            var table = TextTable(["BOT", "KIND", "JOBS", "UNREAD"], rightAligned: [2, 3])
            for bot in bots {
                let unread = TextTable.Cell("\(bot.unread)", bot.unread > 0 ? .yellow : .normal)
                table.add(["\(bot.name)", "\(bot.kind)", "\(bot.jobs)", unread])
            }
            screen.print(table, empty: "No bots.")
        }
    }
}

struct BotShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows a bot.",
        discussion: """
              belfry bot show ops
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The bot's name.", completion: Completions.bots)
    var name: String

    func run() throws {
        let bot = try common.client().ask(Endpoints.bot(name))
        if common.json {
            StandardOutput.print(try WireCoding.text(bot))
            return
        }
        let screen = common.screen
        for (name, text) in [
            ("bot", bot.name), ("kind", bot.kind), ("jobs", "\(bot.jobs)"), ("unread", "\(bot.unread)"),
        ] {
            screen.print(screen.paint(name.padded(to: 10), .dim) + PlainText.oneLine(text))
        }
    }
}
