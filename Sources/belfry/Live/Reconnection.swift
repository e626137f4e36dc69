import API
import Glibc
import Host
import Timeline

/// The pauses between the tries to reach a daemon again: one that is restarted is back within seconds.
struct Reconnection {
    /// Printed once where it takes long, and then there is no end of tries; nil: it gives up after half a minute.
    private let note: String?
    private let longestPause: Duration
    private var failures = 0
    private var waited = Duration.zero

    /// After so many failures in a row the note is printed.
    private static let failuresUntilNote = 10
    private static let limit = Duration.seconds(30)

    /// Gives up after half a minute of failures, or never where there is a `note` to print.
    init(longestPause: Duration = .seconds(2), note: String? = nil) {
        (self.longestPause, self.note) = (longestPause, note)
    }

    /// The daemon answered.
    mutating func succeeded() { (failures, waited) = (0, .zero) }

    /// Waits before the next try, longer after each failure.
    ///
    /// - Throws: ``APIError`` with ``ErrorCode/connectionLost`` after the last try.
    mutating func wait() throws(APIError) {
        failures += 1
        if let note {
            if failures == Self.failuresUntilNote { StandardError.print(note) }
        } else if waited >= Self.limit {
            throw APIError(
                .connectionLost, "the daemon closed the connection and did not come back",
                hint: "Start one with: belfryd")
        }
        let pause = min(.milliseconds(100) * failures, longestPause)
        waited += pause
        usleep(UInt32(pause.milliseconds * 1000))
    }
}
