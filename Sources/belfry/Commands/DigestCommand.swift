import API
import APIClient
import ArgumentParser

struct DigestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "digest", abstract: "Shows held-back notifications now.",
        discussion: """
            Quiet hours (notifications: quiet of a bot) and budgets of interruptions hold
            notifications back, and show them together when they end. This shows them now.

              belfry digest
              belfry digest --json | jq -r ".[].item.key"
            """)

    @OptionGroup var common: CommonOptions

    func run() throws {
        let held = try common.client().ask(Endpoints.digest())
        try common.screen.list(held, asJSON: common.json) { screen in
            var table = TextTable(["CHANNEL", "WHAT", "URGENCY", "TEXT"])
            for entry in held {
                let item = entry.item
                let name = item.job ?? item.bot ?? item.key
                table.add([
                    "\(entry.channel)", "\(PlainText.preview(name))", "\(item.urgency)",
                    "\(PlainText.preview(item.last.last?.text ?? item.reason ?? ""))",
                ])
            }
            screen.print(table, empty: "Nothing is kept back.")
        }
    }
}
