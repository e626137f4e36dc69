import API
import APIClient
import ArgumentParser

struct ReadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read", abstract: "Marks a message, and what was said before it in its thread, as read.")

    @OptionGroup var common: CommonOptions
    @Argument(help: "The message's id; see: belfry messages.")
    var id: String

    func run() throws {
        _ = try common.client().bytes(.read(id))
        if !common.json { StandardOutput.print("Read.") }
    }
}
