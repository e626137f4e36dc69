/// What a warden says of itself when a daemon connects.
package struct WardenHello: Hashable, Sendable {
    /// The version this source speaks; rises when something is added.
    package static let currentVersion = 2

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
    /// Which program it is, the one it was launched as, else its own file, by `Machine.build(of:)`; nil when it does not say.
    package var build: String?

    /// Whether it knows how to make way for a newer one.
    var mayRetire: Bool { version >= 2 && build != nil }

    /// A hello of these values.
    package init(
        version: Int = currentVersion, pid: Int32, startTime: UInt64, bootID: String, runs: Int,
        build: String? = nil
    ) {
        self.version = version
        self.pid = pid
        self.startTime = startTime
        self.bootID = bootID
        self.runs = runs
        self.build = build
    }
}
