package import Performing

/// What the daemon asks of the warden.
package enum WardenCommand: Hashable, Sendable {
    /// The first thing said on a connection, with the version of the protocol the daemon speaks.
    case hello(version: Int)
    /// Start this attempt, once. Answered by started or refused; a repeated order is answered with what
    /// is true now, started or ended, and starts nothing.
    case start(ProcessOrder)
    /// End this attempt's whole process tree: TERM, its grace, KILL. Answered by ended when it is over,
    /// or unknown. `reason`, at most 64 bytes, comes back in the record.
    case cancel(RunKey, reason: String)
    /// Report what is known: of one attempt (started, ended or unknown), or of all, closed by caughtUp.
    case query(RunKey?)
    /// The outcome of this attempt is in the ledger: forget its record. Not answered.
    case acknowledge(RunKey)
    /// Bytes for the run to read, the first of them at `offset` of all that it is given. Those that came
    /// before are passed over, so that a sender that lost its connection can go on from what was taken.
    /// Answered by inputTaken as the run takes them; one that is further ahead than
    /// ``ProcessOrder/inputWindow`` loses what is too much.
    case input(RunKey, offset: Int, bytes: [UInt8])
    /// Nothing more comes for the run to read; at a terminal its end-of-file character is typed.
    case closeInput(RunKey)
    /// The run's terminal has another size: its foreground processes get SIGWINCH.
    case resize(RunKey, TerminalSize)
    /// Send the run's process group a signal, 1...64, and the foreground group of its terminal.
    case signal(RunKey, number: Int)
    /// Start nothing any more, and end when the last run is over and its outcome acknowledged: a newer
    /// warden takes over. Answered by retired.
    case retire

    // What a terminal says on a connection of its own, in place of hello.

    /// A descriptor comes with this: stream 0, 1 or 2 of a job to come. Not answered.
    case offer(stream: Int)
    /// The streams offered before belong to the start order that names this token. Answered by attached; then
    /// the attempt is reported here, too.
    case attach(token: String)
    /// Nobody reads this stream any more: the job that writes to it learns it from its pipe. Not answered.
    case endStream(Int)
}

extension WardenCommand {
    /// The attempt it is about, if it is about one.
    var key: RunKey? {
        switch self {
        case .hello, .query(nil), .retire, .offer, .attach, .endStream: nil
        case .start(let order): order.key
        case .cancel(let key, _), .query(let key?), .acknowledge(let key), .input(let key, _, _),
            .closeInput(let key), .resize(let key, _), .signal(let key, _):
            key
        }
    }
}
