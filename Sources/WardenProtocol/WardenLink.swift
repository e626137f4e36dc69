import Performing

/// One warden that the client is connected to: the one in charge, or one that only finishes its runs.
struct WardenLink {
    var connection: ClientConnection
    /// What it speaks.
    let version: Int
    let isRetired: Bool
    /// Whether it reported all that it knew when the connection was made.
    var isCaughtUp = false
    var waitsForRoom = false
    /// The attempts it spoke of and that are not acknowledged.
    var keys: Set<RunKey> = []
}
