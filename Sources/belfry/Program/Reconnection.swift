import API
import Glibc

/// How long a view keeps looking for a daemon that went away: one that is restarted comes back in seconds.
struct Reconnection {
    private var failures = 0
    /// With growing pauses, about half a minute in all.
    private static let limit = 24

    /// The daemon answered.
    mutating func succeeded() { failures = 0 }

    /// Waits before the next look.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/connectionLost`` when it has been away for too long.
    mutating func wait() throws(APIError) {
        failures += 1
        guard failures <= Self.limit else {
            throw APIError(
                .connectionLost, "the daemon went away and did not come back", hint: "Start one with: belfryd"
            )
        }
        usleep(UInt32(min(100_000 * failures, 2_000_000)))
    }
}
