package import Timeline
package import Tracking

/// Performs attempts of runs: starts them, ends them on request, and reports what happens to them.
///
/// One that works in a process of its own survives the daemon; one that works inside the daemon ends with it.
/// Everything but ``connect()`` and ``waitForEvents()`` returns at once; answers arrive as events.
package protocol Performer: Sendable {
    /// Whether attempts continue when the daemon ends.
    ///
    /// An attempt of a performer that does not, and that an earlier daemon started, is lost: nobody can resume it.
    var survivesTheDaemon: Bool { get }

    /// Makes the performer ready for commands, again after ``PerformerEvent/disconnected``.
    ///
    /// The events after it begin with everything the performer knows, closed by ``PerformerEvent/caughtUp``.
    /// - Returns: the process that performs the attempts, shown in the status; nil for the daemon's own.
    /// - Throws: an error whose description is a sentence for a person; the caller tries again later.
    func connect() async throws -> Int32?

    /// Whether it performs this attempt, as far as it knows before it has asked anybody.
    ///
    /// Decides who is asked about an attempt of an earlier daemon where several could have started it.
    func holds(_ key: RunKey) -> Bool

    /// Starts an attempt, once: a repeated order is answered with what is true now, and starts nothing.
    ///
    /// Answered by ``PerformerEvent/started(_:process:at:)`` or ``PerformerEvent/refused(_:_:text:)``.
    func start(_ order: AttemptOrder)

    /// Ends an attempt with all that belongs to it; `reason`, at most 64 bytes, returns in its record.
    ///
    /// Answered by ``PerformerEvent/ended(_:)`` once it has ended, or ``PerformerEvent/unknown(_:)``.
    func cancel(_ key: RunKey, reason: String)

    /// Whether this attempt can be paused now.
    func pauses(_ key: RunKey) -> Bool

    /// Stops everything that belongs to an attempt until it is resumed; its timeout stands still meanwhile. Not
    /// answered; repeated, it changes nothing.
    func pause(_ key: RunKey)

    /// Continues a paused attempt; one that is not paused is left alone. Not answered.
    func resume(_ key: RunKey)

    /// Asks what is known of an attempt that an earlier daemon or an earlier connection started.
    ///
    /// Answered by started, ended or ``PerformerEvent/unknown(_:)``.
    func ask(_ key: RunKey)

    /// The end of this attempt is in the ledger: its record may be forgotten. Not answered.
    func acknowledge(_ key: RunKey)

    /// What the attempt reported up to this number is in the ledger: it need not be repeated after a crash of the daemon.
    /// Not answered.
    func acknowledgeReports(_ key: RunKey, through number: Int)

    /// Waits until events arrive that it has not reported before; one caller at a time.
    ///
    /// - Returns: false at the end, and when the task is canceled.
    func waitForEvents() async -> Bool

    /// Removes and returns the events that have arrived, in order.
    ///
    /// The performer bounds them: what produces events waits while many are not taken.
    func takeEvents() -> [PerformerEvent]
}

extension Performer {
    /// Knows of none unless it says otherwise.
    package func holds(_ key: RunKey) -> Bool { false }

    /// Pauses none unless it says otherwise.
    package func pauses(_ key: RunKey) -> Bool { false }

    package func pause(_ key: RunKey) {}

    package func resume(_ key: RunKey) {}

    /// Repeats no reports unless it says otherwise.
    package func acknowledgeReports(_ key: RunKey, through number: Int) {}
}

/// What happened to the attempts in a performer's hands, in the order in which it happened.
package enum PerformerEvent: Hashable, Sendable {
    /// The attempt runs: just started, or known from before.
    ///
    /// `process` is nil when the performer has no process for it.
    case started(RunKey, process: StartedProcess?, at: Moment)
    /// The attempt was not started; nothing of it is kept. `text` is a sentence for a person.
    case refused(RunKey, Refusal, text: String)
    /// A copy of what it printed, for parsing. `offset` counts from the first byte it ever printed; one
    /// that is larger than the end of the last copy shows that copies were left out under pressure.
    case output(RunKey, offset: Int, bytes: [UInt8])
    /// A progress report as one line of JSON or text, at most 8 KiB, without the line's end.
    ///
    /// One with a `number`, counted from 1 for each attempt, is repeated on every connection until it is acknowledged or
    /// the attempt's end is; one without comes once.
    case report(RunKey, line: [UInt8], number: Int? = nil)
    /// How far it is, as the performer itself knows.
    case progress(RunKey, ProgressReport)
    /// Datagrams in the form of sd_notify(3), in order, each at most 8 KiB; one with a `number` as for a line.
    case notify(RunKey, datagrams: [[UInt8]], number: Int? = nil)
    /// The attempt has read its input up to `end`, so that more may be sent. `isClosed`: it reads nothing any more,
    /// and nothing needs to be sent.
    case inputTaken(RunKey, end: Int, isClosed: Bool)
    /// The attempt ended; everything it reported came before. Repeated on every connection until
    /// acknowledged.
    case ended(ExitRecord)
    /// The performer has no record of the attempt: in this boot, it was never started.
    ///
    /// A run started in another boot is unknown, too; compare boot ids before starting it again.
    case unknown(RunKey)
    /// Everything the performer knew when the connection or the question was made has been reported.
    case caughtUp
    /// The connection closed, and every command not yet answered is lost. Connect again, wait for
    /// ``caughtUp`` and ask about what was not reported.
    case disconnected
}

/// The first process of an attempt.
package struct StartedProcess: Hashable, Sendable {
    /// Its id.
    package var pid: Int32
    /// When it started, in clock ticks since the machine did; with the boot id it names the process.
    package var startTime: UInt64

    /// A process by its id and its start.
    package init(pid: Int32, startTime: UInt64) {
        self.pid = pid
        self.startTime = startTime
    }
}

/// One attempt of one run: what a performer starts at most once.
package struct RunKey: Hashable, Sendable {
    /// The run's id.
    ///
    /// Letters, digits, `.`, `_` and `-`, at most 64: it becomes a file's name.
    package var run: String
    /// The attempt, from 1.
    package var attempt: Int

    /// Names the attempt; ``isValid`` shows whether a performer accepts it.
    package init(run: String, attempt: Int) {
        self.run = run
        self.attempt = attempt
    }

    /// Whether the key may name a file.
    package var isValid: Bool {
        let bytes = run.utf8
        return (1...64).contains(bytes.count) && bytes.first != 0x2E && attempt > 0 && attempt < 1_000_000
            && bytes.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                default: false
                }
            }
    }
}

extension RunKey: CustomStringConvertible {
    /// `RUN.ATTEMPT`, the stem of the attempt's files.
    package var description: String { "\(run).\(attempt)" }

    /// Reads ``description`` back; nil when it is not one.
    package init?(description: String) {
        guard let dot = description.lastIndex(of: "."),
            let attempt = Int(description[description.index(after: dot)...])
        else { return nil }
        self.init(run: String(description[..<dot]), attempt: attempt)
        guard isValid else { return nil }
    }
}
