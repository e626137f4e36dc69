package import Timeline
package import Tracking

/// How an attempt ended.
///
/// Kept by its performer until the daemon acknowledges it.
package struct ExitRecord: Hashable, Sendable {
    /// Why it ended.
    package enum Cause: Hashable, Sendable, CaseIterable {
        /// By itself, or by a signal of somebody else.
        case exited
        /// Its performer ended it at its timeout.
        case timeout
        /// Its performer ended it on the daemon's request; see ``ExitRecord/cancelReason``.
        case canceled
        /// The performer that watched it ended first; the outcome is unknown.
        case lost
    }

    /// Which attempt.
    package var key: RunKey
    /// Why it ended.
    package var cause: Cause
    /// The code it returned, 0...255, where 0 is success; nil when a signal ended it, and when the warden that
    /// started it had ended by then.
    package var exitCode: Int?
    /// The signal that ended it.
    package var signal: Int?
    /// The reason of the cancel command.
    package var cancelReason: String?
    /// The first process; nil when it had none.
    package var pid: Int32?
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
    /// The same of a program that only waited for the end of another process, and could not learn how that ended.
    package var withoutStatus: ExitRecord {
        var record = self
        (record.exitCode, record.signal) = (nil, nil)
        return record
    }

    /// Whether nobody knows how the process ended that it followed.
    package var hasNoStatus: Bool { cause == .exited && fault == nil && exitCode == nil && signal == nil }

    /// The last bytes it printed, at most ``tailLimit``; empty also where its performer keeps none.
    package var outputTail: [UInt8] = []
    /// The same of standard error, where that goes its own way; its bytes are in ``outputTail``, too, unless it has a log
    /// of its own.
    package var errorTail: [UInt8] = []
    /// Why there is no result, of a performer without processes; nil: the other members say how it ended.
    package var fault: AttemptFault?
    /// What the bot replied, all of it; nil: no bot was asked, or it did not complete its reply.
    package var reply: String?
    /// The heading that the bot gave its reply; nil: none.
    package var replyTitle: String?
    /// How much the bot wants its reply to disturb: low, normal or critical; nil: it says nothing.
    package var replyPriority: String?
    /// Whether the bot wants nobody to be notified of its reply.
    package var isReplyQuiet = false
    /// What the bot used, as far as it was reported; nil: no bot was asked, or nothing was.
    package var usage: BotUsage?
    /// How long after the start the first word of the reply came; nil: no bot was asked, or none came.
    package var firstWord: Duration?
    /// What happened to the session of the bot's provider; nil: it keeps none, or nothing is known of it.
    package var session: SessionOutcome?
    /// Where the bot waits for a person, in a session that is to be resumed; nil: it does not.
    package var parked: LiveState.Parked?
    /// What the bot keeps of what it will no longer be shown, made before it replied; nil: nothing was.
    package var summary: TalkSummary?
    /// What the bot had said before its reply failed for good or was cut; nil: nothing.
    package var partialReply: String?

    /// How many bytes of a stream a record holds at most.
    package static let tailLimit = LastLines.byteLimit
    /// How many survivors are named.
    package static let survivorLimit = 1000

    /// A record with everything that is not known left out.
    package init(
        key: RunKey, cause: Cause, exitCode: Int? = nil, signal: Int? = nil, cancelReason: String? = nil,
        pid: Int32? = nil, startedAt: Moment, endedAt: Moment, elapsed: Duration? = nil, cpu: Duration? = nil,
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

extension ExitRecord {
    /// When it ended, counted from its start by a clock that nobody sets, where somebody saw it end: a clock that
    /// was set meanwhile neither stretches it nor ends it before its start.
    package var end: Moment { max(startedAt, elapsed.map { startedAt + $0 } ?? endedAt) }
}

/// Why an attempt has no result, in the words of the performer that knows.
package struct AttemptFault: Error, Hashable, Sendable {
    /// The reason of the run's end.
    package var reason: RunReason
    /// One sentence for people, without a full stop and without a secret.
    package var text: String
    /// Whether another attempt may end otherwise.
    package var mayPass: Bool
    /// How long another attempt waits at least; nil: nobody asked for a wait.
    package var wait: Duration?
    /// Whether anything was tried: if not, nothing new is known of whoever should have done it.
    package var wasTried: Bool
    /// Whether the bot replied all the same, so that it shows nothing of the bot.
    package var isOfReply = false
    /// Whether the provider of a bot, or the way to it, is at fault.
    package var isOfProvider = false

    /// A fault that another attempt changes nothing about, unless said otherwise.
    package init(
        _ reason: RunReason, _ text: String, mayPass: Bool = false, wait: Duration? = nil,
        wasTried: Bool = true
    ) {
        self.wasTried = wasTried
        self.reason = reason
        self.text = text
        self.mayPass = mayPass
        self.wait = wait
    }
}

/// A process that outlived its run.
package struct Survivor: Hashable, Sendable {
    /// Its id.
    package var pid: Int32
    /// What the kernel calls it: the first 15 bytes of its program's name.
    ///
    /// - Source: proc(5), `/proc/pid/comm`.
    package var name: String

    /// A process by its id and its name.
    package init(pid: Int32, name: String) {
        self.pid = pid
        self.name = name
    }
}

/// Why an attempt was not started.
///
/// Nothing ran and no record of it is kept.
package enum Refusal: Hashable, Sendable, CaseIterable {
    /// No such program, or a script whose interpreter is missing.
    case notFound
    /// The file is there but may not be run, or is not a program.
    case notExecutable
    /// The folder to start in is missing or closed to us.
    case badFolder
    /// Where the output should go cannot be written.
    case badOutput
    /// The order contradicts itself: no command, a NUL in a text, a key that cannot name a file.
    case badOrder
    /// The arguments and the environment together are longer than the kernel takes.
    case tooLong
    /// Out of processes, descriptors, memory or space for the record. May pass.
    case exhausted
    /// The file it should read from cannot be opened.
    case badInput
    /// This machine has no such user.
    case noSuchUser
    /// The performer may not do it: another user, a better priority, a higher limit.
    case notPermitted
    /// A process of an earlier attempt of the run still lives; it may end.
    case stillAlive
    /// Something else; the text explains it. Also an unknown reason of a newer performer.
    case other
}
