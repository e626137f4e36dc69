import API
import APIClient
import Host
import Timeline

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
