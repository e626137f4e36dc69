import API
import Glibc

/// How long a client tries to reconnect: a daemon that is restarted is back within seconds.
struct Reconnection {
    private var failures = 0
    /// With growing pauses, about half a minute in all.
    private static let limit = 24

    /// The daemon answered.
    mutating func succeeded() { failures = 0 }

    /// Waits before the next try.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/connectionLost`` after the last try.
    mutating func wait() throws(APIError) {
        failures += 1
        guard failures <= Self.limit else {
            throw APIError(
                .connectionLost, "the daemon closed the connection and did not come back",
                hint: "Start one with: belfryd"
            )
        }
        usleep(UInt32(min(100_000 * failures, 2_000_000)))
    }
}
