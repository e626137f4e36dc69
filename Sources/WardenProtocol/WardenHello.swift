/// What a warden says of itself when a daemon connects.
package struct WardenHello: Hashable, Sendable {
    /// The version this source speaks; rises when something is added.
    package static let currentVersion = 1

    /// The version of the protocol it speaks.
    package var version: Int
    /// Its process.
    package var pid: Int32
    /// When its process started, in clock ticks since the machine did.
    package var startTime: UInt64
    /// The boot it runs in.
    ///
    /// A run that was started in another boot is gone.
    package var bootID: String
    /// How many runs are alive in it now.
    package var runs: Int

    /// A hello of these values.
    package init(
        version: Int = currentVersion, pid: Int32, startTime: UInt64, bootID: String, runs: Int
    ) {
        self.version = version
        self.pid = pid
        self.startTime = startTime
        self.bootID = bootID
        self.runs = runs
    }
}
