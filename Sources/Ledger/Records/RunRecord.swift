package import Timeline
package import Tracking

/// A run as stored: the doing of one slot or of one request.
package struct RunRecord: Hashable, Sendable {
    /// A UUIDv7, lower case.
    package var id: String
    package var job: String
    /// The N of `JOB#N`.
    ///
    /// Given by the ledger when the run is inserted; 0 before.
    package var ordinal: Int
    package var bot: String
    package var kind: RunKind
    /// What made it; one run a (job, cause).
    ///
    /// See ``RunCause``.
    package var cause: String
    /// The nominal instant of a scheduled run.
    package var slot: Moment?
    package var era: Int
    package var state: RunState
    package var reason: RunReason?
    /// The attempt it is at; 1 for the first.
    package var attempt: Int
    /// The run that this one repeats at a person's request.
    package var retryOf: String?
    /// The owner of the run: each that starts it, or adopts it after a restart, has a higher one.
    ///
    /// Every step of a run carries its owner's; a step of an owner that was replaced is refused.
    package var token: Int
    /// Whether it was asked for in spite of the job's other runs.
    package var isForced: Bool
    /// Why somebody wants it ended; nil: nobody does.
    package var endAsked: RunReason?
    package var notBefore: Moment?
    package var queuedAt: Moment
    package var startedAt: Moment?
    package var endedAt: Moment?
    package var exitCode: Int?
    package var signal: Int?
    /// Slot to durable row.
    package var lateness: Duration?
    /// Durable row to started.
    package var queueDelay: Duration?
    package var outputBytes: Int64?
    package var cpu: Duration?
    package var maxRssKb: Int64?
    /// What it left behind; nil: nothing.
    package var survivors: [LeftProcess]?
    /// What its bot used, all attempts together; nil: no bot was asked, or nothing was reported.
    @Boxed package var usage: BotUsage?
    /// The last lines it printed, cleaned and without secrets; nil: nothing, or it completed.
    @Boxed package var outputTail: String?
    @Boxed package var process: ProcessMark?
    /// The job's revision it executes.
    package var revision: Int
    /// The spec itself, for a run that belongs to no stored job (`belfry exec`).
    @Boxed package var spec: JobSpec?
    /// Where it was when last saved.
    @Boxed package var live: LiveState?

    package init(
        id: String, job: String, bot: String, kind: RunKind, cause: String, slot: Moment? = nil,
        era: Int = 0, state: RunState = .queued, queuedAt: Moment, revision: Int
    ) {
        self.id = id
        self.job = job
        self.ordinal = 0
        self.bot = bot
        self.kind = kind
        self.cause = cause
        self.slot = slot
        self.era = era
        self.state = state
        self.attempt = 1
        self.token = 0
        self.isForced = false
        self.queuedAt = queuedAt
        self.revision = revision
    }

    /// What the causes of runs begin with that one bot has another one do.
    package static let delegated = "delegate:"

    /// The id of the run that handed this one out; nil: no run did.
    package var parent: String? {
        guard kind == .delegated, cause.hasPrefix(Self.delegated) else { return nil }
        return String(cause.dropFirst(Self.delegated.count).prefix { $0 != "." })
    }

    /// `JOB#N`.
    package var name: String { "\(job)#\(ordinal)" }
}

/// What asked for a run.
package enum RunKind: String, Hashable, Sendable, Codable {
    case scheduled, manual, exec, reply, hook, delegated
}

/// The texts that name what made a run.
///
/// One (job, cause) makes at most one run, for ever.
package enum RunCause {
    /// A slot of the job's schedule.
    package static func slot(_ slot: Moment, era: Int) -> String { "slot:\(era):\(slot.microseconds)" }
    /// A request with a key its sender chose.
    package static func key(_ key: String) -> String { "key:\(key)" }
    /// A request without one; `id` is fresh.
    package static func request(_ id: String) -> String { "key:belfry-\(id)" }
    /// A command wrapped by `belfry exec`.
    package static func exec(_ id: String) -> String { "exec:\(id)" }
    /// The start of the machine.
    package static func boot(_ id: String) -> String { "boot:\(id)" }
    /// The end of the run before.
    package static func after(_ run: String) -> String { "after:\(run)" }
}

extension RunRecord {
    /// Applies a step as the ledger will, without its guard.
    package mutating func apply(_ move: RunMove) {
        state = move.to
        reason = move.reason
        notBefore = move.notBefore
        attempt = move.nextAttempt ?? attempt
        token = move.nextToken ?? token
        startedAt = move.startedAt ?? startedAt
        endedAt = move.endedAt ?? endedAt
        exitCode = move.exitCode ?? exitCode
        signal = move.signal ?? signal
        queueDelay = move.queueDelay ?? queueDelay
        outputBytes = move.outputBytes ?? outputBytes
        cpu = move.cpu ?? cpu
        maxRssKb = move.maxRssKb ?? maxRssKb
        survivors = move.survivors ?? survivors
        outputTail = move.outputTail ?? outputTail
        usage = move.usage ?? usage
        process = move.process ?? process
    }
}

/// A process that a run left behind: it still ran when the run had ended.
package struct LeftProcess: Hashable, Sendable, Codable {
    package var pid: Int32
    /// What the kernel calls it.
    package var name: String

    package init(pid: Int32, name: String) {
        self.pid = pid
        self.name = name
    }
}

/// A value that most rows lack, kept in memory of its own, so that a row without it is small to pass on.
@propertyWrapper
package struct Boxed<Value: Hashable & Sendable>: Hashable, Sendable {
    private indirect enum Place: Hashable {
        case none
        case there(Value)
    }

    private var place = Place.none

    package init() {}

    /// Whether there is one; asked without a copy of it.
    package var projectedValue: Bool { if case .there = place { true } else { false } }

    package var wrappedValue: Value? {
        get { if case .there(let value) = place { value } else { nil } }
        set { place = newValue.map { .there($0) } ?? .none }
    }
}

/// One execution of a run.
package struct AttemptRecord: Hashable, Sendable, Codable {
    /// The run's id.
    package var run: String
    /// 1 for the first.
    package var n: Int
    package var state: RunState
    package var reason: RunReason?
    package var startedAt: Moment?
    package var endedAt: Moment?
    package var exitCode: Int?
    package var signal: Int?
    /// How many bytes it printed; nil: not known.
    package var outputBytes: Int64?
    /// What its bot used; nil: no bot was asked, or nothing was reported.
    package var usage: BotUsage?

    package init(run: String, n: Int, state: RunState) {
        self.run = run
        self.n = n
        self.state = state
    }
}

/// How long history is kept.
package struct Retention: Hashable, Sendable {
    /// What ended longer ago is removed.
    package var age: Duration
    /// More ended runs of one job than this are not kept.
    package var runs: Int
    /// The last failures of a job that stay in any case.
    package var failures: Int
    /// The last completed runs of a job that stay in any case: the finish time is read from them.
    package var completions: Int

    /// Design's: 90 days or 1,000 runs a job, the last 10 failures always; and 20 successes.
    package init(
        age: Duration = .seconds(90 * 86_400), runs: Int = 1000, failures: Int = 10, completions: Int = 20
    ) {
        self.age = age
        self.runs = runs
        self.failures = failures
        self.completions = completions
    }
}

/// A run that is past its time, and the attempts whose output goes with it.
package struct ExpiredRun: Hashable, Sendable {
    package var id: String
    package var attempts: Int

    package init(id: String, attempts: Int) {
        self.id = id
        self.attempts = attempts
    }
}
