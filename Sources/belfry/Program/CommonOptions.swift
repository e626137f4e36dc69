import API
import APIClient
import ArgumentParser
import Host
import TerminalView

/// What every command that talks to a daemon takes.
struct CommonOptions: ParsableArguments {
    @Flag(help: "Print JSON instead of text.")
    var json = false

    @Option(help: ArgumentHelp("Connect to the daemon on this socket.", valueName: "path"))
    var socket: String?

    @Flag(help: "Connect to the system daemon instead of your own.")
    var system = false

    @Option(
        help: ArgumentHelp("Connect to the daemon that uses this configuration file.", valueName: "path"))
    var config: String?

    @Option(help: "When to use colour: auto, always or never.")
    var color: TerminalTraits.Wish = .auto

    func validate() throws {
        if socket != nil && system { throw ValidationError("--socket and --system exclude each other") }
    }

    /// A client for the daemon that these options mean.
    func client() throws(APIError) -> DaemonClient {
        var sockets = Paths.socketsToTry()
        if let socket { sockets = [Paths.absolute(socket)] }
        if system { sockets = [Paths(.system, environment: [:]).socket] }
        guard let config else {
            if sockets.count == 1 { return DaemonClient(socket: sockets[0]) }
            return try DaemonClient.first(of: sockets)
        }
        for socket in sockets {
            let client = DaemonClient(socket: socket)
            if let status = try? client.ask(Endpoints.status()),
                FilePath.resolved(status.config) == FilePath.resolved(config)
            {
                return client
            }
        }
        throw APIError(
            .noDaemon, "no daemon runs with \(config)", hint: "Start one with: belfryd --config \(config)")
    }

    /// Where text goes, and how it looks.
    var screen: Screen { Screen(color: color) }
}

extension TerminalTraits.Wish: ExpressibleByArgument {}
extension TerminalTraits.Progress: ExpressibleByArgument {}
