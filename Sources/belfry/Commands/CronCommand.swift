import ArgumentParser

struct CronCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cron", abstract: "Says when an expression fires, and what is wrong with it.",
        subcommands: [
            CronNextCommand.self, CronPreviousCommand.self, CronExplainCommand.self, CronCheckCommand.self,
            CronWordsCommand.self,
        ])
}
