package import Delivery
package import Timeline
package import Tracking

/// A run's step from one state to the next, with what became known by it.
///
/// A nil field leaves the stored value as it is, but for ``reason`` and ``notBefore``: they belong to the
/// state and are set or cleared by every move.
package struct RunMove: Hashable, Sendable {
    /// The run's id.
    package var run: String
    /// Guard: the states it may be in now.
    package var from: Set<RunState>
    /// Guard: the attempt it is at now.
    package var attempt: Int
    /// Guard: its token now.
    package var token: Int
    package var to: RunState
    package var reason: RunReason?
    /// The attempt it is at afterwards, when another one begins.
    package var nextAttempt: Int?
    /// Its token afterwards, when it gets another owner.
    package var nextToken: Int?
    /// Set with `.queued` for a retry: not before this moment.
    package var notBefore: Moment?
    package var startedAt: Moment?
    package var endedAt: Moment?
    package var exitCode: Int?
    package var signal: Int?
    package var queueDelay: Duration?
    package var outputBytes: Int64?
    package var cpu: Duration?
    package var maxRssKb: Int64?
    package var survivors: [LeftProcess]?
    /// How it got on, of a run that completed.
    package var profile: RunProfile?
    package var outputTail: String?
    /// What the run's bot has used altogether after it.
    package var usage: BotUsage?
    /// The process that does it, as the warden reported.
    package var process: ProcessMark?

    /// A step of a run that has no owner yet, unless `token` is another one's.
    package init(
        run: String, from: Set<RunState>, attempt: Int, token: Int = 0, to: RunState,
        reason: RunReason? = nil
    ) {
        self.run = run
        self.from = from
        self.attempt = attempt
        self.token = token
        self.to = to
        self.reason = reason
    }

    /// This step and `next`, which follows it at once and changes neither attempt nor token before, as one.
    package func followed(by next: RunMove) -> RunMove {
        var both = next
        both.from = from
        both.startedAt = next.startedAt ?? startedAt
        both.endedAt = next.endedAt ?? endedAt
        both.exitCode = next.exitCode ?? exitCode
        both.signal = next.signal ?? signal
        both.queueDelay = next.queueDelay ?? queueDelay
        both.outputBytes = next.outputBytes ?? outputBytes
        both.cpu = next.cpu ?? cpu
        both.maxRssKb = next.maxRssKb ?? maxRssKb
        both.survivors = next.survivors ?? survivors
        both.profile = next.profile ?? profile
        both.outputTail = next.outputTail ?? outputTail
        both.usage = next.usage ?? usage
        both.process = next.process ?? process
        return both
    }

    /// A step of `run` by the one who has just read it, or owns it.
    package init(_ run: RunRecord, from: Set<RunState>, to: RunState, reason: RunReason? = nil) {
        self.init(
            run: run.id, from: from, attempt: run.attempt, token: run.token, to: to, reason: reason)
    }
}

/// A process, distinguished from a later one with the same number.
package struct ProcessMark: Hashable, Sendable, Codable {
    package var pid: Int32
    /// Clock ticks after boot at which it started.
    ///
    /// Source: proc(5), `/proc/PID/stat` field 22.
    package var startTime: UInt64
    /// The boot it belongs to.
    ///
    /// Source: `/proc/sys/kernel/random/boot_id`.
    package var boot: String

    package init(pid: Int32, startTime: UInt64, boot: String) {
        self.pid = pid
        self.startTime = startTime
        self.boot = boot
    }
}

/// An outbox entry's step, after an attempt or at a person's request.
///
/// A nil ``lastError`` or ``status`` leaves what was known; ``nextAt`` and ``settledAt`` are set or cleared
/// by every move.
package struct OutboxMove: Hashable, Sendable {
    package var id: String
    /// Guard: the state it is in now.
    package var from: OutboxState
    /// Guard: how often it was attempted before.
    package var attempts: Int
    package var to: OutboxState
    /// How often it was attempted after this.
    package var nextAttempts: Int
    /// When it is due again; only with `.pending`, and with `.held`, of which it is the end.
    package var nextAt: Moment?
    /// What went wrong, one line without secrets.
    package var lastError: String?
    /// The HTTP status of the last answer.
    package var status: Int?
    /// When it ended; only with an end state.
    package var settledAt: Moment?
    /// Why it goes on being held; nil: as before.
    package var held: HeldMatter?
    /// The id of the entry that lists it; nil: as before.
    package var listedIn: String?

    package init(id: String, from: OutboxState, attempts: Int, to: OutboxState, nextAttempts: Int) {
        self.id = id
        self.from = from
        self.attempts = attempts
        self.to = to
        self.nextAttempts = nextAttempts
    }
}

/// Makes the entries of a channel due: all that are pending, and those in ``reviving``.
package struct OutboxRelease: Hashable, Sendable {
    package var channel: String
    /// From which states entries become pending again.
    package var reviving: Set<OutboxState>
    /// When they are due; a pending entry that is due earlier stays so.
    package var at: Moment
    /// Pending entries that are due at another moment if that is before their own; nil: at their own.
    package var later: [String: Moment?]
    /// The channel that they go to instead; nil: they stay.
    package var newChannel: String?

    package init(
        channel: String, reviving: Set<OutboxState> = [.waiting], at: Moment, later: [String: Moment?] = [:],
        newChannel: String? = nil
    ) {
        self.channel = channel
        self.reviving = reviving
        self.at = at
        self.later = later
        self.newChannel = newChannel
    }
}

/// Makes the pending entries of a channel that is missing wait, and expires those that have waited too long.
package struct OutboxPark: Hashable, Sendable {
    package var channel: String
    /// Entries made before this expire.
    package var expiring: Moment
    /// What is noted of those that expire, unless they were tried.
    package var reason: String
    package var at: Moment

    package init(channel: String, expiring: Moment, reason: String, at: Moment) {
        self.channel = channel
        self.expiring = expiring
        self.reason = reason
        self.at = at
    }
}
