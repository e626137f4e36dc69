package import Timeline

/// How an attempt ended.
///
/// Kept by the warden until the daemon acknowledges it.
package struct ExitRecord: Hashable, Sendable {
    /// Why it ended.
    package enum Cause: Int, Hashable, Sendable, CaseIterable {
        /// By itself, or by a signal of somebody else.
        case exited = 1
        /// The warden ended it at its timeout.
        case timeout = 2
        /// The warden ended it because the daemon said so; see ``ExitRecord/cancelReason``.
        case canceled = 3
        /// The warden that watched it was gone: how it ended is not known.
        case lost = 4
    }

    /// Which attempt.
    package var key: RunKey
    /// Why it ended.
    package var cause: Cause
    /// The code it returned, 0...255; nil when a signal ended it, and when the warden that started it was
    /// gone by then.
    package var exitCode: Int?
    /// The signal that ended it.
    package var signal: Int?
    /// What the cancel command said.
    package var cancelReason: String?
    /// The first process.
    package var pid: Int32
    /// When it was started.
    package var startedAt: Moment
    /// When its first process was seen to have ended.
    package var endedAt: Moment
    /// How long it ran, on a clock nobody sets; nil when nobody saw it end.
    package var elapsed: Duration?
    /// Processor time of it and of the children it waited for; nil when nobody collected it.
    package var cpu: Duration?
    /// The largest resident size of one of those, in KiB; nil where that is not known.
    package var maxResidentKiB: Int?
    /// How much it printed, in bytes, whether kept or not.
    package var outputBytes: Int
    /// Processes of it that still ran when this was written: left behind on purpose, or not to be killed.
    ///
    /// At most ``survivorLimit`` of them.
    package var survivors: [Survivor]

    /// How many survivors are named.
    package static let survivorLimit = 1000

    /// A record with everything that is not known left out.
    package init(
        key: RunKey, cause: Cause, exitCode: Int? = nil, signal: Int? = nil, cancelReason: String? = nil,
        pid: Int32, startedAt: Moment, endedAt: Moment, elapsed: Duration? = nil, cpu: Duration? = nil,
        maxResidentKiB: Int? = nil, outputBytes: Int = 0, survivors: [Survivor] = []
    ) {
        self.key = key
        self.cause = cause
        self.exitCode = exitCode
        self.signal = signal
        self.cancelReason = cancelReason
        self.pid = pid
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.elapsed = elapsed
        self.cpu = cpu
        self.maxResidentKiB = maxResidentKiB
        self.outputBytes = outputBytes
        self.survivors = survivors
    }
}
