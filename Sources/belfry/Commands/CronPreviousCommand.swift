import ArgumentParser

struct CronPreviousCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prev", abstract: "Shows when an expression fired before, nearest first.",
        discussion: #"  belfry cron prev "0 0 29 2 *" --from 2026-01-01 -n 2"#)

    @OptionGroup var search: CronSearchFields

    func run() throws { try search.answer(.previous) }
}
