import API
import ArgumentParser
import Glibc
import Host
import WardenProtocol

struct AgentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent", abstract: "Shows the system daemon's notifications to you on your desktop.",
        discussion: """
            The system daemon has no desktop. Its channels that name a user (kind:
            desktop, user: NAME) are shown by that user's agent, which receives nothing for
            other users. It runs until it is stopped, and reconnects when the daemon
            restarts; the unit belfry-agent.service starts it with your session.

              systemctl --user enable --now belfry-agent
              belfry agent
            """)

    @Option(
        help: ArgumentHelp("The socket on which the daemon accepts agents.", valueName: "path"),
        completion: .file())
    var at: String?

    func run() throws {
        let program: String
        do {
            program = try InstalledWarden.program(beside: "belfryd")
        } catch {
            throw APIError(.internalFault, "\(error)", hint: "Install the programs together.")
        }
        let words = [program, "agent"] + (at.map { ["--at", $0] } ?? [])
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        unsafe execv(program, &arguments)
        throw APIError(.internalFault, "\(program) can't be started: \(HostError.last("execv").reason)")
    }
}
