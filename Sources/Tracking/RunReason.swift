/// Why a run is in the state it is in; shown to people, and the label of metrics.
///
/// The raw values are stable. Grouped here by the states they go with.
public enum RunReason: String, Hashable, Sendable, Codable, CaseIterable {
    // Waiting: scheduled, queued.

    /// Waits for the part of its spread that its name gave it, or for the delay after a boot.
    case spread
    /// Waits for the next attempt's moment after one that failed.
    case retryWait
    /// Waits because as many runs as allowed are under way.
    case runningCap
    /// Waits for its turn in the bot's lane.
    case lane
    /// Waits for others of its concurrency key.
    case concurrency
    /// Waits because no warden answers that could start it.
    case wardenAway

    // Ended by itself: completed, failed.

    /// The process ended with an exit code; the code decides whether that was success.
    case exitCode
    /// A signal ended the process, and nobody of this house had sent it.
    case signal
    /// Of a process that was only followed: it ended, and nobody but its parent knows how.
    case exitUnknown
    /// The output held what it must not, or lacked what it must hold.
    case outputPattern
    /// It ended well, and what its job wants to be so is not.
    case ensure
    /// The script that decides whether its bot is asked failed.
    case wakeScript
    /// The process was ended by the kernel because memory ran out.
    case outOfMemory

    // Could not start: failed.

    /// The command does not exist.
    case notFound
    /// The command exists and may not be executed.
    case notExecutable
    /// The working directory does not exist or may not be entered.
    case badDirectory
    /// The user to run as does not exist or may not be taken.
    case badUser
    /// The machine refused the process: too many, or no memory.
    case spawnFailed
    /// A process of an earlier attempt still ran when the wait for it was over.
    case leftovers
    /// The bot that should do it is not configured or can't be reached.
    case botUnavailable
    /// Its bot could not be reached for so long that the message is too old to be answered.
    case expired

    // The bot's provider did not reply, or not to the end: failed.

    /// The provider refused the key.
    case auth
    /// The provider has no such model.
    case model
    /// The provider refused the request itself.
    case badRequest
    /// The prompt is larger than the provider accepts.
    case promptTooLong
    /// The bot's budget, or the account's credit, is used up.
    case budget
    /// The provider received too many requests.
    case rateLimited
    /// The provider has too much to do.
    case overloaded
    /// The provider failed.
    case providerFailed
    /// The provider sent nothing for too long.
    case silent
    /// The reply ended in the middle.
    case truncated
    /// What came is not what the provider promises.
    case malformed
    /// The reply is longer than Belfry accepts.
    case replyTooLong
    /// The bot declined to reply.
    case refused

    // The called address did not answer as it should: failed.

    /// The host's name has no address.
    case dnsFailed
    /// No connection to the host.
    case connectFailed
    /// The host's address is not public, and the job does not allow it.
    case addressRefused
    /// The host could not be trusted, or the handshake failed.
    case tlsFailed
    /// The connection ended before the answer was complete.
    case disconnected
    /// What came back is not an answer of HTTP.
    case badAnswer
    /// The answer's status is not one that the job expects.
    case httpStatus
    /// The answer is longer than Belfry accepts.
    case answerTooLong

    // Ended by somebody: timedOut, canceled.

    /// Took longer than its timeout.
    case timeout
    /// A person or script asked for it.
    case canceled
    /// A newer run of the job took its place (overlap `replace`).
    case replaced
    /// Its job was removed before it could start.
    case jobRemoved

    // Nobody can say: lost.

    /// The warden that held it died; the exit record is lost.
    case wardenLost
    /// The machine was restarted while it ran.
    case hostRestarted
    /// The stream from a bot's API was cut; the part that came is kept.
    case streamCut

    // Decided not to run: skipped. `canceled` runs never carry these.

    /// The run before it had not ended: it was at work, or waited.
    case overlap
    /// The job was paused.
    case paused
    /// The slot lay in a blackout.
    case blackout
    /// A newer slot took the only place in the queue.
    case superseded
    /// The script that decides whether its bot is asked found nothing to do.
    case nothingToDo

    // Passed by: missed.

    /// The job does not catch up.
    case catchUpNone
    /// Older than the job catches up.
    case catchUpWindow
    /// More than the job catches up at once, or not the latest where only that one is wanted.
    case catchUpBurst
    /// The job was changed in its file, or removed from it, while no daemon ran.
    case definitionChanged
}

extension RunReason {
    /// Whether a bot was to be asked, and there is no reply, or only a part of one.
    public var isOfBot: Bool {
        switch self {
        case .botUnavailable, .expired, .auth, .model, .badRequest, .promptTooLong, .budget, .rateLimited,
            .overloaded,
            .providerFailed, .silent, .truncated, .malformed, .replyTooLong, .refused:
            true
        default: false
        }
    }

    /// Whether nobody answered at the other end of the network, so that it may do so later.
    public var isOfNetwork: Bool {
        switch self {
        case .botUnavailable, .dnsFailed, .connectFailed, .disconnected: true
        default: false
        }
    }

    /// Whether a web address was called, and did not answer as its job expects.
    public var isOfCall: Bool {
        switch self {
        case .dnsFailed, .connectFailed, .addressRefused, .tlsFailed, .disconnected, .badAnswer, .httpStatus,
            .answerTooLong:
            true
        default: false
        }
    }

    /// The reason as the fragment of a sentence, the same everywhere: after a state and a colon, or as a line of a notice.
    public var words: String {
        switch self {
        case .spread: "waits for its start delay"
        case .retryWait: "waits for the next attempt"
        case .runningCap: "waits for other runs to end"
        case .lane: "waits for its turn with the bot"
        case .concurrency: "waits for other runs with its concurrency key"
        case .wardenAway: "waits because no warden responds"
        case .exitCode: "ended with an exit code"
        case .signal: "ended by a signal"
        case .exitUnknown: "only its parent knows its exit code"
        case .outputPattern: "its output reports a failure"
        case .ensure: "its check failed"
        case .wakeScript: "its wake script failed"
        case .outOfMemory: "out of memory"
        case .notFound: "command not found"
        case .notExecutable: "command not executable"
        case .badDirectory: "could not enter its directory"
        case .badUser: "could not switch to its user"
        case .spawnFailed: "could not be started"
        case .leftovers: "a process of an earlier attempt still runs"
        case .expired: "its bot could not be reached for a day"
        case .botUnavailable: "its bot is not available"
        case .auth: "the provider refused the key"
        case .model: "the provider has no such model"
        case .badRequest: "the provider refused the request"
        case .promptTooLong: "the prompt is too long"
        case .budget: "the budget is used up"
        case .rateLimited: "the provider received too many requests"
        case .overloaded: "the provider is overloaded"
        case .providerFailed: "the provider failed"
        case .silent: "the provider sent nothing"
        case .truncated: "the reply ended in the middle"
        case .malformed: "the provider's answer can't be read"
        case .replyTooLong: "the reply is too long"
        case .refused: "the bot declined to reply"
        case .dnsFailed: "the host's name could not be resolved"
        case .connectFailed: "no connection to the host"
        case .addressRefused: "the host's address is not allowed"
        case .tlsFailed: "no secure connection to the host"
        case .disconnected: "the connection closed before the answer was complete"
        case .badAnswer: "the answer is not HTTP"
        case .httpStatus: "unexpected status"
        case .answerTooLong: "the answer is too long"
        case .timeout: "took longer than its timeout"
        case .canceled: "cancelled on request"
        case .replaced: "replaced by a newer run"
        case .jobRemoved: "its job was removed"
        case .wardenLost: "its warden died; the outcome is unknown"
        case .hostRestarted: "the machine restarted while it ran"
        case .streamCut: "the daemon ended before the reply did"
        case .overlap: "the previous run has not ended"
        case .paused: "the job was paused"
        case .blackout: "the slot is in a blackout"
        case .superseded: "superseded by a newer slot"
        case .nothingToDo: "there was nothing to do"
        case .catchUpNone: "the job does not catch up"
        case .catchUpWindow: "too old to catch up"
        case .catchUpBurst: "too many slots to catch up"
        case .definitionChanged: "the job was changed or removed while no daemon ran"
        }
    }
}

/// What people call signals.
package enum SignalName {
    /// - Source: signal(7), the numbers of x86 and ARM.
    private static let names = [
        1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS",
        8: "SIGFPE",
        9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM",
        15: "SIGTERM",
        16: "SIGSTKFLT", 24: "SIGXCPU", 25: "SIGXFSZ", 27: "SIGPROF", 29: "SIGIO", 30: "SIGPWR", 31: "SIGSYS",
    ]

    /// `SIGSEGV`; `signal 42` where it has no name.
    package static func text(_ number: Int) -> String { names[number] ?? "signal \(number)" }

    /// Whether a process gets it for a fault of its own, as a rule.
    package static func isCrash(_ number: Int) -> Bool { [4, 5, 6, 7, 8, 11, 31].contains(number) }
}
