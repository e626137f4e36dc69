public import Timeline

/// Where a run is right now: progress, phase, state, finish time with a band.
///
/// A value of ``LiveTracker``; the API's form of it is made in `API`. Its own coded form is that of the ledger's rows: a part
/// may be added, none may change its name or meaning.
public struct LiveState: Hashable, Sendable, Codable {
    /// Whose progress this is.
    public var task: LiveTask
    /// Which execution of the run, from 1.
    public var attempt: Int
    /// Orders the states of one attempt; see ``LiveOrder``.
    public var seq: Int64
    /// In which numbers of its output ``progress`` was found; absent when it was not found there.
    public internal(set) var belief: OutputScanner.Belief?
    /// When its work ended well, while it is being checked; absent before and after.
    package var workEnd: WorkEnd?
    /// The script that decided that its bot is asked; absent before that, and where there is none.
    package var wake: Wake?
    /// The session of its bot in which it waits for a person, or waited last; absent where it never did.
    package var parked: Parked?
    /// The time of this attempt in which the job could not work; absent where there was none.
    package internal(set) var idle: Idle?
    /// The number of the last report of this attempt that is in it; absent where its performer numbers none.
    package internal(set) var reported: Int?
    /// Where the run is in its life.
    public var state: RunState
    /// Why it is there, where there is more to say than the state does.
    public var reason: RunReason?
    /// What it waits for; present exactly when ``state`` is blocked and the kind is known.
    public var blockedKind: BlockedKind?
    /// The part done, 0...1, of ``phase`` if one is named, else of the whole; absent until reported.
    ///
    /// Never falls within a phase.
    public var progress: Double?
    /// How much is done of ``progress``, and how fast; absent where the job reports no amounts.
    public var amount: WorkAmount?
    /// The stretch of work it is in; cleaned of control characters, at most 64 characters.
    public var phase: String?
    /// The last line for people; cleaned of control characters, at most 200 characters.
    public var message: String?
    /// The parts of the work that the job reported, in the order of their first reports; absent where there are none.
    public var tasks: [ChildTask]?
    /// When the attempt was started; absent before.
    public var startedAt: Moment?
    /// When it will be done, where something is known about it.
    public var finish: FinishTime? {
        get { etaAt.map { FinishTime(at: $0, low: etaLow, high: etaHigh) } }
        set { (etaAt, etaLow, etaHigh) = (newValue?.at, newValue?.low, newValue?.high) }
    }
    private var etaAt: Moment?
    private var etaLow: Moment?
    private var etaHigh: Moment?
    /// How long the job usually takes: the middle of its last successes; absent when there are too few.
    public var usual: Duration? {
        get { usualTime.map { .microseconds($0) } }
        set { usualTime = newValue?.microseconds }
    }
    private var usualTime: Int64?
    /// When the job last reported something, or its run was moved on; that it was found silent does not count.
    public var updatedAt: Moment
    /// From when on ``progress`` is out of date; absent when nothing is expected of the job.
    public var staleAt: Moment?

    /// A state of `task`, everything unknown but what is given.
    public init(
        task: LiveTask, attempt: Int, seq: Int64, state: RunState, reason: RunReason? = nil,
        updatedAt: Moment
    ) {
        self.task = task
        self.attempt = attempt
        self.seq = seq
        self.state = state
        self.reason = reason
        self.updatedAt = updatedAt
    }

    /// Whether the progress was not refreshed in time and should be shown as old.
    public func isStale(at now: Moment) -> Bool {
        guard let staleAt else { return false }
        return now >= staleAt
    }

    /// Whole seconds until the expected finish, rounded to the nearest; at least 0.
    ///
    /// `nil` when nothing is known, or too little to show any of it; after the end, and once the expected finish has
    /// passed: a moment that did not come true is not "0 seconds left".
    public func secondsRemaining(at now: Moment) -> Int64? {
        guard let finish, !state.isEnded, finish.claim(at: now) != nil else { return nil }
        return ((finish.at - now).milliseconds + 500) / 1000
    }

    /// This state's place among the updates of its run.
    public var order: LiveOrder { LiveOrder(runID: task.id, attempt: attempt, seq: seq) }

    /// Phase and message as one text; a message that begins with its phase stands for both.
    package static func saying(phase: String, message: String) -> String {
        if phase.isEmpty { return message }
        if message.isEmpty { return phase }
        // Strings are prefixes of each other by what is read, and bytes are enough here.
        if message.utf8.starts(with: phase.utf8) {
            let next = message.utf8.dropFirst(phase.utf8.count).first
            if next == nil || next == 0x20 { return message }
        }
        var text = ""
        text.reserveCapacity(phase.utf8.count + 2 + message.utf8.count)
        text += phase
        text += ": "
        text += message
        return text
    }
}

extension LiveState {
    /// A script that decided that the bot of its run is asked, kept for this attempt's order and for later attempts.
    package struct Wake: Hashable, Sendable, Codable {
        /// The attempt that it ran before.
        package var attempt: Int

        /// The script before this attempt.
        package init(attempt: Int) {
            self.attempt = attempt
        }
    }

    /// A run without a process: its bot's program has ended in the middle of a call for which a person must be asked, and
    /// is resumed when that has happened.
    package struct Parked: Hashable, Sendable, Codable {
        /// The session of the program, by its own id.
        package var session: String
        /// The call that was deferred, by the program's own id; absent: it named none.
        package var call: String?
        /// Whether it waits now; else it was resumed.
        package var waits: Bool
        /// How often it was resumed: so many of its attempts are none of those that it may fail.
        package var resumed: Int

        /// A run that waits in this session for the first time.
        package init(session: String, call: String?) {
            (self.session, self.call) = (session, call)
            (waits, resumed) = (true, 0)
        }
    }

    /// Time in which a job could not work because of somebody else, kept for a daemon that goes on with the run.
    package struct Idle: Hashable, Sendable, Codable {
        /// The part of it that has passed, in microseconds.
        package var time: Int64
        /// Since when it can't work now; absent: it can.
        package var since: Moment?
    }

    /// The end of a run's work, kept for a daemon that continues its check.
    package struct WorkEnd: Hashable, Sendable, Codable {
        /// When it ended.
        package var at: Moment
        /// How much it printed, in bytes.
        package var outputBytes: Int

        /// The end of work that printed so many bytes.
        package init(at: Moment, outputBytes: Int) {
            self.at = at
            self.outputBytes = outputBytes
        }
    }
}

/// What never changes about a live state: whose progress it is.
public struct LiveTask: Hashable, Sendable, Codable {
    /// The run's id, a UUIDv7 in lower case.
    public var id: String
    /// The name that identifies the bot.
    public var botID: String
    /// The run's name for people, `JOB#N`.
    public var run: String
    /// The job's name for people.
    public var name: String
    /// The bot's name for people.
    public var botName: String

    /// The task of the run `run` with id `id`.
    public init(id: String, botID: String, run: String, name: String, botName: String) {
        self.id = id
        self.botID = botID
        self.run = run
        self.name = name
        self.botName = botName
    }
}

// The stored form, as `JSON.encode(_:sorted:)` writes it: names are in order of the alphabet.

extension LiveState {
    /// Writes what is known.
    ///
    /// - Throws: `EncodingError` for a number that is not one.
    package func write(to writer: inout JSONWriter) throws {
        try writer.object { writer in
            try writer.member("amount", encoding: amount, sorted: true)
            writer.member("attempt", attempt)
            try writer.member("belief", encoding: belief, sorted: true)
            writer.member("blockedKind", blockedKind?.rawValue)
            writer.member("etaAt", etaAt)
            writer.member("etaHigh", etaHigh)
            writer.member("etaLow", etaLow)
            try writer.member("idle", encoding: idle, sorted: true)
            writer.member("message", message)
            try writer.member("parked", encoding: parked, sorted: true)
            writer.member("phase", phase)
            writer.member("progress", progress)
            writer.member("reason", reason?.rawValue)
            writer.member("reported", reported)
            writer.member("seq", seq)
            writer.member("staleAt", staleAt)
            writer.member("startedAt", startedAt)
            writer.member("state", state.rawValue)
            writer.member("task") { writer in
                writer.member("botID", task.botID)
                writer.member("botName", task.botName)
                writer.member("id", task.id)
                writer.member("name", task.name)
                writer.member("run", task.run)
            }
            try writer.member("tasks", encoding: tasks, sorted: true)
            writer.member("updatedAt", updatedAt)
            writer.member("usualTime", usualTime)
            try writer.member("wake", encoding: wake, sorted: true)
            try writer.member("workEnd", encoding: workEnd, sorted: true)
        }
    }
}

/// What a blocked run waits for.
///
/// - Source: OSC 7501 (Program Status Protocol), key `kind`.
public enum BlockedKind: String, Hashable, Sendable, Codable, CaseIterable {
    /// Leave to do something.
    case permission
    /// An answer.
    case question
    /// A login or a password.
    case auth
}

/// The order of updates: by run, then attempt, then seq.
///
/// An update that is not after the last one seen is dropped.
///
/// Ids of runs are UUIDv7 and sort by the time they were made; comparing across runs matters only in
/// one sorted list.
public struct LiveOrder: Hashable, Sendable, Comparable {
    /// The run's id.
    public var runID: String
    /// Which execution of the run, from 1.
    public var attempt: Int
    /// Rises with every update of the attempt, also across restarts of the daemon.
    public var seq: Int64

    /// The place of an update.
    public init(runID: String, attempt: Int, seq: Int64) {
        self.runID = runID
        self.attempt = attempt
        self.seq = seq
    }

    /// The first `seq` of a daemon's `incarnation`, counted from 1: incarnation times 10^9.
    ///
    /// A seq that is saved now and then goes back after a crash; one that starts again at a higher
    /// thousand million does not.
    /// - Parameter incarnation: how often a daemon was started on this state; 1...9,000,000,000.
    /// - Returns: a seq above every seq of the incarnations before.
    public static func firstSeq(incarnation: Int64) -> Int64 { incarnation * 1_000_000_000 }

    /// Earlier updates are smaller.
    public static func < (left: LiveOrder, right: LiveOrder) -> Bool {
        (left.runID, left.attempt, left.seq) < (right.runID, right.attempt, right.seq)
    }
}
