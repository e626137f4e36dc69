package import Engine

/// What the daemon knows of itself and the engine need not.
package struct DaemonIdentity: Hashable, Sendable {
    /// Such as `0.1.0`.
    package var version: String
    /// Its process.
    package var pid: Int32
    /// The state folder.
    package var state: String
    /// Where runs leave their output.
    package var places: RunPlaces
    /// The folder of the warden's socket; nil: nobody needs to know.
    package var wardenDirectory: String?

    /// The identity of a daemon.
    package init(version: String, pid: Int32, state: String, places: RunPlaces) {
        self.version = version
        self.pid = pid
        self.state = state
        self.places = places
    }
}
