import API
import APIClient
import ArgumentParser
import Host
import TerminalView

struct BotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bot", abstract: "Lists, makes and tests bots.",
        subcommands: [
            BotListCommand.self, BotShowCommand.self, BotTestCommand.self, BotAddCommand.self,
            BotEditCommand.self, BotRemoveCommand.self, BotResetCommand.self,
        ])
}

struct BotListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the bots.",
        discussion: """
              belfry bot list
              belfry bot list --json | jq -r '.[] | select(.status == "blocked").name'
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        let bots = try common.client().ask(Endpoints.bots())
        try common.screen.list(bots, asJSON: common.json) { screen in
            var table = TextTable(
                ["BOT", "KIND", "STATUS", "SINCE", "JOBS", "UNREAD"], rightAligned: [4, 5])
            for bot in bots {
                let unread = TextTable.Cell("\(bot.unread)", bot.unread > 0 ? .yellow : .normal)
                table.add([
                    "\(bot.name)", "\(bot.backend)",
                    TextTable.Cell(BotText.status(bot), BotText.color(of: bot.status)),
                    "\(screen.time(bot.since))", "\(bot.jobs)", unread,
                ])
            }
            screen.print(table, empty: "No bots.")
        }
    }
}

struct BotShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows a bot: its status, usage, budget and last error.",
        discussion: """
              belfry bot show ops
              belfry bot show sage --session
              belfry bot show sage --json | jq .budget.leftUsd
            """)

    @Argument(help: "The bot's name.", completion: Completions.bots)
    var name: String
    @Flag(
        help: "Show only its session: what it knows of what was said, with its summary of the older messages."
    )
    var session = false
    @OptionGroup var common: CommonOptions

    func run() throws {
        let bot = try common.client().ask(Endpoints.bot(name))
        let screen = common.screen
        if session { return try show(bot.session, of: bot.name, screen) }
        if common.json { return try StandardOutput.print(json: bot) }
        screen.field("bot", bot.name)
        screen.field("kind", bot.backend)
        screen.field("origin", bot.at ?? (bot.origin == "cli" ? "belfry bot add" : nil))
        screen.field("model", bot.model.map(PlainText.oneLine))
        screen.field("url", bot.url)
        screen.field("command", bot.command.map { $0.map(JobText.quoted).joined(separator: " ") })
        screen.field("output", bot.output)
        screen.field("sandbox", bot.sandbox.map(BotText.sandbox))
        screen.field("memory", bot.memory.map(PlainText.oneLine))
        screen.field("tools", bot.tools.map { PlainText.oneLine($0.joined(separator: ", ")) })
        screen.field("session", bot.session.map { BotText.session($0, screen) })
        if let status = bot.status {
            let since = bot.since.map { " since \(screen.time($0))" } ?? ""
            screen.print(
                screen.paint("status    ", .dim) + screen.paint(status, BotText.color(of: status)) + since)
        }
        screen.field("why", bot.message.map(PlainText.oneLine))
        screen.field("jobs", "\(bot.jobs)")
        screen.field("unread", "\(bot.unread)")
        screen.field("last", bot.lastMessage.map { BotText.last($0, screen) })
        screen.field("this month", bot.usage.map { BotText.usage($0.month, replies: $0.monthReplies) })
        screen.field("total", bot.usage.map { BotText.usage($0.total, replies: $0.totalReplies) })
        screen.field("budget", bot.budget.map(BotText.budget))
        screen.field("latency", BotText.latency(bot))
        screen.field("ping", bot.pingMs.map { "\($0) ms" })
        screen.field("last error", bot.lastError.map { BotText.error($0, of: bot.name, screen) })
    }

    private func show(_ session: WireBotSession?, of bot: String, _ screen: Screen) throws {
        guard let session else {
            throw APIError(.badValue, "\(bot) has no session", hint: "Its prompts stand alone.")
        }
        if common.json { return try StandardOutput.print(json: session) }
        screen.field("thread", PlainText.oneLine(session.thread))
        screen.field("session", BotText.session(session, screen))
        guard let summary = session.summary else { return }
        screen.print("")
        for line in PlainText.lines(summary) { screen.print(line) }
    }
}

struct BotTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Tests step by step whether a bot can be asked.",
        discussion: """
            Tries the provider's address, connection and certificate, the key, and
            whether the model exists; for a bot that is a program, whether it is installed.
            Exits 0 if all steps work, 1 if one fails.

              belfry bot test sage
              belfry bot test sage --ask
            """)

    @Argument(help: "The bot's name.", completion: Completions.bots)
    var name: String
    @Flag(help: "Also ask it for one word, which costs a few tokens or runs its program.")
    var ask = false
    @OptionGroup var common: CommonOptions

    func run() throws {
        var request = BotTestRequest()
        request.ask = ask
        // A model may have to be loaded first.
        let client = try Patience.client(for: try common.client().socket, longest: .seconds(180))
        let test = try client.ask(Endpoints.testBot(name, body: request))
        if common.json {
            StandardOutput.print(try WireCoding.text(test))
        } else {
            print(test, common.screen)
        }
        if !test.ok { throw ExitCode(1) }
    }

    private func print(_ test: WireBotTest, _ screen: Screen) {
        for step in test.steps {
            let color: TerminalColor =
                step.outcome == "ok" ? .green : step.outcome == "failed" ? .red : .dim
            let mark = screen.paint(step.outcome.padded(to: 8), color)
            screen.print(mark + step.step.padded(to: 14) + PlainText.oneLine(step.detail), hang: 22)
            if let hint = step.hint {
                screen.print(
                    screen.paint(String(repeating: " ", count: 22) + PlainText.oneLine(hint), .dim), hang: 22)
            }
        }
    }
}
