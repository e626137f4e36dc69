import ArgumentParser

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Imports jobs from other schedulers.",
        subcommands: [ImportCrontabCommand.self, ImportSystemdCommand.self])
}
