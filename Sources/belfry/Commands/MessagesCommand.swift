import API
import APIClient
import ArgumentParser
import TerminalView

struct MessagesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messages", abstract: "Lists messages, newest first.",
        discussion: """
              belfry messages ops --limit 5
              belfry messages --search tape
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "Only messages of this bot.", completion: Completions.bots)
    var bot: String?
    @Option(help: ArgumentHelp("Only messages that contain this text.", valueName: "text"))
    var search: String?
    @Option(help: ArgumentHelp("Show at most this many.", valueName: "n"))
    var limit = 20

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit is a number from 1 up") }
    }

    func run() throws {
        var query = MessagesQuery()
        query.bot = bot
        query.search = search
        query.limit = limit
        let messages = try common.client().ask(Endpoints.messages(query: query))
        try common.screen.list(messages, asJSON: common.json) { screen in
            var table = TextTable(["WHEN", "BOT", "THREAD", "TEXT", "ID"])
            for message in messages {
                let text = PlainText.preview(message.text)
                table.add([
                    "\(screen.time(message.at))", "\(message.bot)", "\(message.thread)",
                    TextTable.Cell(text, message.read ? .dim : .normal), TextTable.Cell(message.id, .dim),
                ])
            }
            screen.print(table, empty: "No messages.")
        }
    }
}
