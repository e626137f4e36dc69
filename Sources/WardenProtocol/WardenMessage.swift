package import Performing
package import Timeline

/// What the warden reports to the daemon, as it travels.
///
/// The Engine reads it as `PerformerEvent`.
package enum WardenMessage: Hashable, Sendable {
    /// The answer to the daemon's hello.
    case hello(WardenHello)
    /// The attempt runs: just started, or known from before.
    case started(RunKey, pid: Int32, startTime: UInt64, at: Moment)
    /// The attempt was not started.
    case refused(RunKey, Refusal, text: String)
    /// A copy of what it printed. Copies may be left out under pressure: then `offset` is larger than
    /// the end of the one before.
    case output(RunKey, offset: Int, bytes: [UInt8])
    /// A line written to its `PROGRESS_FD`, without the line's end.
    case report(RunKey, line: [UInt8])
    /// A datagram sent to its `NOTIFY_SOCKET` that the warden read itself.
    case notify(RunKey, datagram: [UInt8])
    /// Its `NOTIFY_SOCKET` comes with this message: from now on the daemon reads it.
    case notifySocket(RunKey)
    /// The attempt ended. Repeated on every new connection until acknowledged.
    case ended(ExitRecord)
    /// Nothing is known of the attempt.
    case unknown(RunKey)
    /// Everything known has been reported.
    case caughtUp
    /// What it was given to read is taken up to `end`; `isClosed`: it reads nothing any more.
    case inputTaken(RunKey, end: Int, isClosed: Bool)
    /// The warden starts nothing any more, and its folder is free for another one.
    case retired
    /// The streams are kept for the order that names this token.
    case attached(token: String)
    /// The attempt ended, and processes it left behind still hold this stream open; everything printed up to the
    /// end is in it, and what they print goes there, too, as long as somebody reads it.
    case outlived(RunKey, stream: Int)
}
