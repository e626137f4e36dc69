import ArgumentParser

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Shows, and adds, the jobs of other schedulers.",
        subcommands: [ImportCrontabCommand.self, ImportSystemdCommand.self])
}
