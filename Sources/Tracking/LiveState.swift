public import Timeline

/// Where a run is right now: progress, phase, state, finish time with a band.
///
/// A value of ``LiveTracker``; the wire form is made of it by whoever speaks to a wire.
public struct LiveState: Hashable, Sendable, Codable {
    /// Whose progress this is.
    public var task: LiveTask
    /// Which execution of the run, from 1.
    public var attempt: Int
    /// Orders the states of one attempt; see ``LiveOrder``.
    public var seq: Int64
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
    /// The stretch of work it is in; cleaned of control characters, at most 64 characters.
    public var phase: String?
    /// The last line for people; cleaned of control characters, at most 200 characters.
    public var message: String?
    /// When the attempt was started; absent before.
    public var startedAt: Moment?
    /// When it will be done, where something is known about it.
    public var finish: FinishTime?
    /// When the job last said something, or its run was moved on; that it was found silent does not count.
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
    /// `nil` when nothing is known, after the end, and once the expected finish has passed: a moment
    /// that did not come true is not "0 seconds left".
    public func secondsRemaining(at now: Moment) -> Int64? {
        guard let finish, !state.isEnded, finish.at > now else { return nil }
        return ((finish.at - now).milliseconds + 500) / 1000
    }

    /// This state's place among the updates of its run.
    public var order: LiveOrder { LiveOrder(runID: task.id, attempt: attempt, seq: seq) }
}
