package import Timeline
package import Tracking

/// One run as one row: what is said, not yet how wide.
package struct LiveRow: Hashable, Sendable {
    /// Where the run is in its life; decides glyph, colour and place.
    package var state: RunState
    /// `JOB#N`.
    package var name: String
    /// The part done, 0...1, where known.
    package var progress: Double?
    /// What it does, or what it waits for.
    package var detail: String
    /// When it will be done, else how long it has been at it.
    package var time: String
    /// Whether what is shown is out of date.
    package var isStale: Bool

    /// The row of a run.
    ///
    /// - Parameters:
    ///   - live: the run.
    ///   - now: the moment it is drawn.
    ///   - zone: where the reader is.
    ///   - usual: how long the job usually takes at most, if that is known.
    package init(_ live: LiveState, at now: Moment, zone: ZoneRules, usual: Duration? = nil) {
        state = live.state
        name = CleanText.line(live.task.run, limit: 80)
        progress = live.progress
        isStale = live.isStale(at: now) && !live.state.isEnded
        detail = RunWording.detail(of: live, at: now)
        time =
            FinishWording.text(for: live, at: now, zone: zone, usual: usual)
            ?? RunWording.elapsed(of: live, at: now) ?? ""
    }

    /// The lower, the more a person should see it: what waits for them, then what goes wrong, then what
    /// works, then what waits for its turn.
    package var rank: Int {
        switch state {
        case .blocked: 0
        case .failed, .timedOut, .lost, .missed: 1
        case .stalled: 2
        case .running: 3
        case .starting: 4
        case .paused: 5
        case .queued: 6
        case .scheduled: 7
        case .completed, .canceled, .skipped: 8
        }
    }
}
