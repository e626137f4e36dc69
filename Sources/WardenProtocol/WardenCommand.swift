/// What the daemon asks of the warden.
package enum WardenCommand: Hashable, Sendable {
    /// The first thing said on a connection, with the version of the protocol the daemon speaks.
    case hello(version: Int)
    /// Start this attempt, once. Answered by started or refused; a repeated order is answered with what
    /// is true now, started or ended, and starts nothing.
    case start(StartOrder)
    /// End this attempt's whole process tree: TERM, its grace, KILL. Answered by ended when it is over,
    /// or unknown. `reason`, at most 64 bytes, comes back in the record.
    case cancel(RunKey, reason: String)
    /// Tell what is known: of one attempt (started, ended or unknown), or of all, closed by caughtUp.
    case query(RunKey?)
    /// The outcome of this attempt is in the ledger: forget its record. Not answered.
    case acknowledge(RunKey)
}
