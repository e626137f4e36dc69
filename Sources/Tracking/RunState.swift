/// Where a run is in its life; also the end of a slot that never got a run.
///
/// The raw values are the words of the command line, the API and the ledger.
public enum RunState: String, Hashable, Sendable, Codable, CaseIterable {
    /// A decided slot that waits for its spread.
    /// Becomes `.queued`, or ends as `.skipped` or `.canceled`.
    case scheduled

    /// Waits for its turn, or for the next attempt's moment.
    /// Becomes `.starting`, or ends as `.skipped` (superseded) or `.canceled`.
    case queued

    /// Handed to the warden, not yet known to have started.
    /// Becomes `.running`; `.queued` again when it turns out never to have started, or for the next
    /// attempt; or ends as any of `.completed`, `.failed`, `.canceled`, `.timedOut`, `.lost`, or as `.skipped` where
    /// there turned out to be nothing to do.
    case starting

    /// The job's process (or request) is at work.
    /// Becomes `.blocked`, `.paused`, `.stalled`; `.queued` for the next attempt; or ends as any of
    /// `.completed`, `.failed`, `.canceled`, `.timedOut`, `.lost`.
    case running

    /// Waits for a person: a permission, an answer, a login.
    /// Becomes `.running`, `.paused`; `.queued` for the next attempt; or ends like `.running`.
    case blocked

    /// Somebody stopped it for a while.
    /// Becomes `.running`, `.blocked`; `.queued` for the next attempt; or ends like `.running`.
    case paused

    /// Runs, but has been silent for more than three times its usual gap.
    /// Becomes `.running`, `.blocked`, `.paused`; `.queued` for the next attempt; or ends like
    /// `.running`.
    case stalled

    /// Did what it should. Stays so.
    case completed

    /// Ended otherwise, and no attempt is left. Stays so.
    case failed

    /// Somebody ended it, or a newer run replaced it. Stays so.
    case canceled

    /// Took longer than its timeout and was ended. Stays so; counts as failed.
    case timedOut

    /// Nobody can say how it ended: its process went together with the one that watched it. Stays so.
    case lost

    /// A slot decided not to run, by policy. Stays so.
    case skipped

    /// A slot that passed while nobody could run it, and was not caught up. Stays so.
    case missed
}

extension RunState {
    /// Whether nothing comes after this state.
    public var isEnded: Bool {
        switch self {
        case .scheduled, .queued, .starting, .running, .blocked, .paused, .stalled: false
        case .completed, .failed, .canceled, .timedOut, .lost, .skipped, .missed: true
        }
    }

    /// Whether the run counts for its job's overlap policy: from queued to stalled, retry wait included.
    public var isActive: Bool {
        switch self {
        case .queued, .starting, .running, .blocked, .paused, .stalled: true
        case .scheduled, .completed, .failed, .canceled, .timedOut, .lost, .skipped, .missed: false
        }
    }

    /// Whether a process (or request) of this run may exist now: from starting to stalled.
    public var isUnderWay: Bool {
        isActive && self != .queued
    }

    /// Whether the run waits for its start, or for that of its next attempt.
    package var isBeforeStart: Bool { self == .scheduled || self == .queued }

    /// Whether the run ended without doing what it should: failed, timed out or lost.
    public var isFailure: Bool {
        switch self {
        case .failed, .timedOut, .lost: true
        case .scheduled, .queued, .starting, .running, .blocked, .paused, .stalled, .completed, .canceled,
            .skipped, .missed:
            false
        }
    }

    /// Whether a run in this state may move to `next`.
    ///
    /// A state never becomes itself.
    public func canBecome(_ next: RunState) -> Bool {
        switch self {
        case .scheduled: [.queued, .skipped, .canceled].contains(next)
        case .queued: [.starting, .skipped, .canceled].contains(next)
        case .starting: [.running, .queued, .skipped].contains(next) || Self.outcomes.contains(next)
        case .running, .stalled:
            next != self && (Self.atWork.contains(next) || Self.outcomes.contains(next))
        case .blocked, .paused:
            next != self && next != .stalled && (Self.atWork.contains(next) || Self.outcomes.contains(next))
        case .completed, .failed, .canceled, .timedOut, .lost, .skipped, .missed: false
        }
    }

    private static let atWork: Set<RunState> = [.running, .blocked, .paused, .stalled, .queued]
    private static let outcomes: Set<RunState> = [.completed, .failed, .canceled, .timedOut, .lost]
}

extension RunState {
    /// The three words the phone's model knows.
    public enum WireStatus: String, Hashable, Sendable, Codable, CaseIterable {
        /// Everything that has not ended.
        case running
        /// Ended well.
        case completed
        /// Ended in any other way, also when nothing ran.
        case failed
    }

    /// This state in the three words of the phone's model; what the model lacks counts as running
    /// before the end, and as failed after it.
    public var wireStatus: WireStatus {
        if !isEnded { return .running }
        return self == .completed ? .completed : .failed
    }
}

extension RunState {
    /// The state as people read it.
    package var words: String { self == .timedOut ? "timed out" : rawValue }
}

/// What a run waits for, as a word for programs.
///
/// The raw values are stable.
package enum WaitKind: String, Hashable, Sendable, Codable, CaseIterable {
    /// For the part of its spread that its name gave it, or for the delay after a boot.
    case spread
    /// For the next attempt's moment after one that failed.
    case retry
    /// For the same, of an attempt that met no network, or nobody at the other end.
    case network
    /// For others to end, because as many runs as allowed are under way.
    case cap
    /// For its turn with its bot.
    case lane
    /// For the runs of its job before it.
    case overlap
    /// For others of its concurrency key.
    case concurrency
    /// For a warden that could start it.
    case warden
    /// For an answer of a person.
    case question
    /// For a person's leave to do something.
    case permission
    /// For a login or a password.
    case auth

    /// The reason of a run that waits for this before it starts; nil: it has started.
    package var reason: RunReason? {
        switch self {
        case .spread: .spread
        case .retry, .network: .retryWait
        case .cap: .runningCap
        case .lane: .lane
        case .overlap: .overlap
        case .concurrency: .concurrency
        case .warden: .wardenAway
        case .question, .permission, .auth: nil
        }
    }

    /// What a blocked run waits for; an answer, where it did not report which kind.
    package init(_ kind: BlockedKind?) {
        self =
            switch kind {
            case .question, nil: .question
            case .permission: .permission
            case .auth: .auth
            }
    }
}
