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

/// A duration such as `90s`, `15m` or `1h30m`.
struct DurationArgument: Hashable, Sendable {
    let duration: Duration

    /// The duration that `text` names.
    ///
    /// - Throws: what to write instead, as the parser shows it behind the name of the option.
    @Sendable static func read(_ text: String) throws -> DurationArgument {
        try read(text, unit: "m")
    }

    /// The same for an option whose values are mostly seconds.
    @Sendable static func readSeconds(_ text: String) throws -> DurationArgument {
        try read(text, unit: "s")
    }

    private static func read(_ text: String, unit: String) throws -> DurationArgument {
        do throws(TimelineError) {
            return DurationArgument(duration: try Duration(text: text))
        } catch {
            guard error.problem == .outOfRange else {
                throw ValidationError(
                    meant(by: text, unit: unit).map { "write \($0)" }
                        ?? "write one such as 90s, 15m, 2h or 7d")
            }
            throw ValidationError("\(error)")
        }
    }

    var milliseconds: Int64 { duration.milliseconds }

    /// What was probably meant: `5m` by `5`, `10s` by `10 sec`, `1h30m` by `1.5 hours`.
    ///
    /// - Parameters:
    ///   - text: anything but a duration.
    ///   - unit: the unit of a bare number.
    /// - Returns: a duration as it is to be written; nil where nobody knows.
    static func meant(by text: String, unit: String) -> String? {
        let text = text.lowercased().filter { !$0.isWhitespace }
        guard text.utf8.count <= 20 else { return nil }
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let word = String(text[number.endIndex...])
        let size = units.first { word.isEmpty ? $0.names[0] == unit : $0.names.contains(word) }
        guard let count = Double(number), let size, count > 0, count * size.seconds < 100 * 365 * 86_400
        else {
            return nil
        }
        return Duration.milliseconds(Int64((count * size.seconds * 1000).rounded())).text
    }

    private static let units: [(names: [String], seconds: Double)] = [
        (["s", "sec", "secs", "second", "seconds"], 1), (["m", "min", "mins", "minute", "minutes"], 60),
        (["h", "hr", "hrs", "hour", "hours"], 3600), (["d", "day", "days"], 86_400),
        (["w", "week", "weeks"], 604_800), (["ms", "msec", "millisecond", "milliseconds"], 0.001),
    ]
}

/// How long a command waits for a sign of life of the daemon: `BELFRY_TIMEOUT` seconds, 5 unless it is set.
enum Patience {
    /// The usual time.
    static let standard = Duration.seconds(5)
    /// The longest time that may be asked for.
    private static let longest = 86_400

    /// What the environment asks for, else `usual`.
    ///
    /// - Throws: ``ErrorCode/badValue`` where that is no number of seconds from 1 to 86400.
    static func wished(
        else usual: Duration = standard, in environment: [String: String] = Machine.environment
    ) throws(APIError) -> Duration {
        guard let text = environment["BELFRY_TIMEOUT"], !text.isEmpty else { return usual }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int(text),
            (1...longest).contains(seconds)
        else {
            throw APIError(
                .badValue, "BELFRY_TIMEOUT \"\(text)\" is no number of seconds from 1 to \(longest)",
                hint: "Set it to a whole number such as 20, or unset it; the default is 5.")
        }
        return .seconds(seconds)
    }

    /// A client with this patience, for the socket at `socket`.
    ///
    /// - Parameters:
    ///   - socket: The daemon's control socket.
    ///   - longest: So long the daemon may work on one answer, or as long as a sign of life is waited for.
    /// - Returns: A client that has not connected yet.
    /// - Throws: ``ErrorCode/badValue`` where `BELFRY_TIMEOUT` is no number of seconds from 1 to 86400.
    static func client(
        for socket: String, longest: Duration = .seconds(30)
    ) throws(APIError) -> DaemonClient {
        let timeout = try wished()
        return DaemonClient(socket: socket, timeout: timeout, longest: max(longest, timeout))
    }
}
