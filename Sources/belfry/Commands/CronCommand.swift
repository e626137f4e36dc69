import ArgumentParser

struct CronCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cron", abstract: "Explains, checks and previews cron expressions.",
        subcommands: [
            CronNextCommand.self, CronPreviousCommand.self, CronExplainCommand.self, CronCheckCommand.self,
            CronWordsCommand.self,
        ])
}
