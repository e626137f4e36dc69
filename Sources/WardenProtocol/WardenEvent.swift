package import Timeline

/// What happened to the runs in the warden's hands, in the order in which it happened.
package enum WardenEvent: Hashable, Sendable {
    /// The attempt runs: just started, or adopted because it was known from before.
    ///
    /// `startTime` is in clock ticks since the machine started; with the boot id it names the process.
    case started(RunKey, pid: Int32, startTime: UInt64, at: Moment)
    /// The attempt was not started; nothing of it is kept. `text` is a sentence for a person.
    case refused(RunKey, Refusal, text: String)
    /// A copy of what it printed, for parsing. `offset` counts from the first byte it ever printed; one
    /// that is larger than the end of the last copy says that copies were left out under pressure.
    case output(RunKey, offset: Int, bytes: [UInt8])
    /// A line written to its `PROGRESS_FD`, at most 8 KiB, without the line's end.
    case report(RunKey, line: [UInt8])
    /// Datagrams sent to its `NOTIFY_SOCKET`, in order, each at most 8 KiB.
    case notify(RunKey, datagrams: [[UInt8]])
    /// The run took what it was given to read up to `end`, so that more may be sent. `isClosed`: it will
    /// not read anything any more, and nothing needs to be sent.
    case inputTaken(RunKey, end: Int, isClosed: Bool)
    /// The attempt ended; everything it reported came before. Told again on every connection until
    /// acknowledged.
    case ended(ExitRecord)
    /// The warden has no record of the attempt: in this boot, it was never started.
    ///
    /// A run started in another boot is unknown too; compare boot ids before starting it again.
    case unknown(RunKey)
    /// All that the warden knew when the connection or the query was made has been told.
    case caughtUp
    /// The connection is gone, and with it every command not yet answered. Connect again, wait for
    /// ``caughtUp`` and ask about what was not mentioned.
    case disconnected
}
