package import API
import APIClient
package import ArgumentParser
import Host
import Ledger
import TerminalView
import Timeline

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
            if sockets.count == 1 { return try Patience.client(for: sockets[0]) }
            return try DaemonClient.first(of: sockets, timeout: try Patience.wished())
        }
        for socket in sockets {
            let client = try Patience.client(for: socket)
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

/// What most commands that list things take.
struct ListOptions: ParsableArguments {
    @Option(name: [.long, .customShort("n")], help: ArgumentHelp("Show at most this many.", valueName: "n"))
    var limit = 20

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit is a number from 1 up") }
    }
}

extension TerminalTraits.Wish: ExpressibleByArgument {}
extension TerminalTraits.Progress: ExpressibleByArgument {}

extension RunTarget: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }

    package static var defaultCompletionKind: CompletionKind { Completions.runs }
}

/// What a shell offers for names, asked of the daemon; nothing when none answers at once.
enum Completions {
    static let jobs = CompletionKind.custom { _, _, _ in
        ask(Endpoints.jobs()).map(\.name)
    }

    static let runs = CompletionKind.custom { _, _, _ in
        var query = RunsQuery()
        query.limit = 50
        let runs = ask(Endpoints.runs(query: query))
        // A job's name stands for its newest run.
        return Set(runs.map(\.job)).sorted() + runs.compactMap(\.name)
    }

    static let bots = CompletionKind.custom { _, _, _ in
        ask(Endpoints.bots()).map(\.name)
    }

    static let channels = CompletionKind.custom { _, _, _ in
        ask(Endpoints.channels()).map(\.name)
    }

    static let questions = CompletionKind.custom { _, _, _ in
        ask(Endpoints.questions()).map(\.id).map { String($0.suffix(ShortID.shownDigits)) }
    }

    static let silences = CompletionKind.custom { _, _, _ in
        ask(Endpoints.silences()).map(\.id).map { String($0.suffix(ShortID.shownDigits)) }
    }

    private static func ask<Value: Decodable>(_ call: Call<[Value]>) -> [Value] {
        let timeout = (try? Patience.wished(else: .milliseconds(500))) ?? .milliseconds(500)
        for socket in Paths.socketsToTry() {
            let client = DaemonClient(socket: socket, timeout: timeout, longest: timeout)
            if let values = try? client.ask(call) { return values }
        }
        return []
    }
}
