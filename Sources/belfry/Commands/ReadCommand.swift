import API
import APIClient
import ArgumentParser

struct ReadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read", abstract: "Marks a message and earlier ones in its thread as read.",
        discussion: """
              belfry read "$(belfry messages ops --limit 1 --json | jq -r '.[0].id')"
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "The message's id; see: belfry messages.")
    var id: String

    func run() throws {
        _ = try common.client().ask(Endpoints.read(id))
        if !common.json { StandardOutput.print("Read.") }
    }
}
