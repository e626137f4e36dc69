public import Timeline

/// Decides the live state of one run from what its job says and what the run keeper does.
///
/// Holds three promises: within a phase progress never falls; the better source wins; what the job wrote
/// is made harmless. Every change has a higher `seq` than the one before, also across restarts.
public struct LiveTracker: Sendable {
    /// How long a reported progress counts as fresh, unless the job usually reports more seldom.
    public static let freshFor = Duration.seconds(120)
    /// A run is never called stalled before this much silence.
    public static let leastSilence = Duration.seconds(30)
    /// A run is never called slow before it has worked for so long.
    public static let leastSlow = Duration.seconds(10)

    /// The state as decided so far.
    public internal(set) var live: LiveState
    /// How this attempt got on.
    var trace = RunTrace()
    /// Which phases it was in.
    var phases = PhaseClock()
    /// When the finish time was last worked out.
    var estimatedAt: Moment?

    /// Says when the run will be done.
    var estimator: FinishEstimator
    /// The longest silence usual for the job, from past runs.
    var usualGap: Duration?
    /// When the job last said anything.
    var heardAt: Moment?
    /// The longest silence between two words of this attempt, and the number of words.
    var ownGap = Duration.zero
    var words = 0
    /// The best sources that reported progress and message so far.
    var progressSource: ReportSource?
    var messageSource: ReportSource?
    /// The amounts last reported, to see a total fall.
    var total: Double?
    /// How fast the amount done grows.
    var pace = WorkPace()
    /// How many stretches of the current phase name there were.
    var stretch = 1
    /// The phase as the job named it.
    var namedPhase: String?
    /// The highest progress of the attempt; `nil` from the first phase on that started lower, because then
    /// progress is a phase's and says nothing about the whole.
    var highest: Double? = 0
    /// Whether the job says itself how long it still needs.
    var reportsEta = false
    /// Time of this attempt in which the job could not work, and since when it can't.
    var idle = Duration.zero {
        didSet { keepIdle() }
    }
    var idleSince: Moment? {
        didSet { keepIdle() }
    }
    /// What blocked the job when it was paused, as far as it was not said since that it no longer does.
    var heldKind: HeldBlock = .none
    /// How long a run took at most in nine of ten cases, from past runs.
    private var usualLimit: Duration?
    /// Whether an earlier daemon saw the first part of the attempt.
    private var isResumed = false

    /// A tracker of a new run.
    ///
    /// - Parameters:
    ///   - task: whose progress it is.
    ///   - attempt: the execution, from 1.
    ///   - incarnation: how often a daemon was started on this state, from 1; see ``LiveOrder``.
    ///   - state: where the run is.
    ///   - estimator: what past runs say.
    ///   - usualGap: the longest silence usual for the job, if past runs reported progress.
    ///   - now: the moment of the first state.
    public init(
        task: LiveTask, attempt: Int = 1, incarnation: Int64, state: RunState = .queued,
        estimator: FinishEstimator = FinishEstimator(), usualGap: Duration? = nil, at now: Moment
    ) {
        live = LiveState(
            task: task, attempt: attempt, seq: LiveOrder.firstSeq(incarnation: incarnation), state: state,
            updatedAt: now)
        self.estimator = estimator
        self.usualGap = usualGap
    }

    /// A tracker that goes on where an earlier daemon left off; its progress does not fall below `live`.
    ///
    /// The path to here is no longer known; the finish time goes on from the average pace.
    /// - Parameters:
    ///   - live: the state that was stored last.
    ///   - incarnation: this daemon's, above the one that stored `live`.
    ///   - estimator: what past runs say.
    ///   - usualGap: the longest silence usual for the job, if past runs reported progress.
    ///   - now: the moment; silence counts from it.
    public init(
        resuming live: LiveState, incarnation: Int64, estimator: FinishEstimator = FinishEstimator(),
        usualGap: Duration? = nil, at now: Moment
    ) {
        self.live = live
        self.live.seq = max(live.seq + 1, LiveOrder.firstSeq(incarnation: incarnation))
        self.estimator = estimator
        self.usualGap = usualGap
        heardAt = now
        isResumed = true
        idle = .microseconds(live.idle?.time ?? 0)
        idleSince = live.state.isWaitingForOthers ? live.idle?.since ?? now : nil
        namedPhase = live.phase
        highest = live.phase == nil ? live.progress ?? 0 : nil
    }

    /// Notes that the run went to `state`, decided elsewhere.
    ///
    /// A step that ``RunState/canBecome(_:)`` does not allow changes nothing. A run that completes has all
    /// its progress; one that ends otherwise keeps what it had. `startedAt` is when the attempt began, where that is
    /// known better than from `now`.
    public mutating func became(
        _ state: RunState, reason: RunReason? = nil, blocked: BlockedKind? = nil, startedAt: Moment? = nil,
        at now: Moment
    ) -> LiveChange {
        guard live.state.canBecome(state) else { return .none }
        if state == .paused { heldKind = live.state == .blocked ? .blocked(live.blockedKind) : .none }
        // What waits to be tried again has not begun: what its last attempt reported is no longer so.
        if state == .queued, live.state != .scheduled { forgetAttempt(at: now) }
        // A queued run has reported nothing yet: its message is the reason why it waits.
        if live.state == .queued { (live.message, messageSource) = (nil, nil) }
        enter(state, reason: reason, blocked: blocked, at: now)
        if state == .running, live.startedAt == nil { live.startedAt = startedAt ?? now }
        if state == .completed, live.progress != nil { live.progress = 1 }
        live.amount?.rate = nil
        if state == .completed, let whole = live.amount?.total { live.amount?.done = whole }
        if state.isEnded { endParts() }
        if waitsForTime, let workedFrom {
            live.finish = finish(from: workedFrom, at: now)
        }
        // Silence while it was blocked or paused is not the job's.
        heardAt = state == .running ? now : heardAt
        live.staleAt = staleAt(from: now)
        return changed(.stateChange, at: now)
    }

    /// Notes that a paused run goes on: at work, or blocked as before its pause.
    ///
    /// - Returns: none when it was not paused.
    public mutating func resumed(at now: Moment) -> LiveChange {
        guard live.state == .paused else { return .none }
        let held = heldKind
        heldKind = .none
        let change = became(.running, at: now)
        guard case .blocked(let kind) = held else { return change }
        enter(.blocked, blocked: kind, at: now)
        live.staleAt = staleAt(from: now)
        return change
    }

    /// Notes that another attempt is about to start; what the last one reported is forgotten.
    ///
    /// - Parameters:
    ///   - attempt: its number, above the last one's; a lower one changes nothing.
    ///   - now: the moment.
    /// - Returns: whether anything changed.
    public mutating func startAttempt(_ attempt: Int, at now: Moment) -> LiveChange {
        guard attempt > live.attempt, !live.state.isEnded else { return .none }
        forgetAttempt(at: now)
        live.attempt = attempt
        return changed(.stateChange, at: now)
    }

    /// Keeps of the state what is the run's, not its attempt's.
    private mutating func forgetAttempt(at now: Moment) {
        let past = live
        self = LiveTracker(
            task: past.task, attempt: past.attempt, incarnation: 0, state: past.state, estimator: estimator,
            usualGap: usualGap, at: now)
        live.seq = past.seq
        live.reason = past.reason
        live.usual = past.usual
        live.wake = past.wake
        live.parked = past.parked
    }

    /// Adopts what past runs of the job show, which is read a moment after the start.
    ///
    /// Without any past run nothing changes.
    public mutating func learn(_ estimator: FinishEstimator, at now: Moment) -> LiveChange {
        guard estimator.knowsAnything, !live.state.isEnded else { return .none }
        self.estimator = estimator
        usualGap = estimator.usualGap
        usualLimit = estimator.usualLimit
        let heard = live.updatedAt
        live.usual = estimator.usual
        if live.state == .running, !reportsEta, let workedFrom {
            live.finish = finish(from: workedFrom, at: now)
        }
        live.staleAt = staleAt(from: heardAt ?? now)
        let change = changed(.tick, at: now)
        live.updatedAt = heard
        return change
    }

    /// Keeps the number of the last report that is in the state, for a daemon that goes on where this one was killed.
    ///
    /// Nobody sees it: it is written with the next change.
    package mutating func note(reported number: Int) { live.reported = number }

    /// Keeps what the scanner of its output believes, for a daemon that goes on where this one was killed.
    ///
    /// Nobody sees it: it is written with the next change.
    package mutating func keep(_ belief: OutputScanner.Belief?) { live.belief = belief }

    /// Notes that the work has ended well, and that it is being checked now; nil: that has ended.
    package mutating func note(workEnd: LiveState.WorkEnd?, at now: Moment) -> LiveChange {
        live.workEnd = workEnd
        if workEnd != nil { (live.phase, live.finish) = ("checking", nil) }
        return changed(.tick, at: now)
    }

    /// Notes that a script decided that the run's bot is asked.
    package mutating func note(wake: LiveState.Wake, at now: Moment) -> LiveChange {
        live.wake = wake
        return changed(.tick, at: now)
    }

    /// Notes that the run has no process until a person has answered, or that it is resumed.
    package mutating func note(parked: LiveState.Parked, at now: Moment) -> LiveChange {
        live.parked = parked
        guard parked.waits, live.state != .blocked || live.blockedKind == nil else {
            return changed(.tick, at: now)
        }
        return became(.blocked, blocked: .question, at: now)
    }

    /// Shows this text in place of what the job said of itself; it has not said anything by that.
    package mutating func replaceTexts(by text: String) -> LiveChange {
        (live.phase, live.message) = (nil, text)
        let heard = live.updatedAt
        let change = changed(.tick, at: heard)
        return change
    }

    /// Notes that time passed: a running job that is silent for too long becomes stalled, and one that
    /// reports no progress and is not done when it should have been gets a later finish time or none.
    ///
    /// - Parameter now: at or after ``nextRefresh``; earlier changes nothing, unless the clock was set back:
    ///   silence counts from now then.
    /// - Returns: whether anything changed.
    public mutating func refresh(at now: Moment) -> LiveChange {
        if let heardAt, heardAt > now { self.heardAt = now }
        guard let stallsAt, now >= stallsAt else { return refreshFinish(now) }
        let heard = live.updatedAt
        enter(.stalled, at: now)
        let change = changed(.stateChange, at: now)
        // "Stalled for 2 m" counts from the last word, not from when somebody noticed.
        live.updatedAt = heard
        return change
    }

    /// When to call ``refresh(at:)``, if nothing happens before; `nil` for never.
    public var nextRefresh: Moment? {
        [stallsAt, timeRunsOut].compactMap(\.self).min()
    }

    /// When an estimate by the clock alone must be made again: a past run that ended by then is no measure any more.
    private var timeRunsOut: Moment? {
        guard waitsForTime, let finish = live.finish else { return nil }
        let end = min(finish.low ?? finish.at, finish.at)
        // An estimate by phases may move with every moment.
        guard let estimatedAt, phasePlace != nil else { return end }
        return max(end, estimatedAt + .seconds(1))
    }

    /// When the attempt that began to work at `start` will be done.
    func finish(from start: Moment, at now: Moment) -> FinishTime? {
        estimator.finish(of: path, in: phasePlace, startedAt: start, at: now)
    }

    /// The phase it is in, where it named one.
    private var phasePlace: PhasePlace? { phases.place(progress: live.progress) }

    /// Whether the finish time is a guess by the clock alone.
    private var waitsForTime: Bool { live.state == .running && path.count == 0 && !reportsEta }

    /// What the estimate may go by: nothing, once the progress is only that of a phase.
    var path: RunTrace { highest == nil ? RunTrace() : trace }

    /// What this run teaches about later ones; `nil` unless it completed.
    public var profile: RunProfile? {
        guard live.state == .completed, let workedFrom else { return nil }
        let total = Double((live.updatedAt - workedFrom).microseconds) / 1_000_000
        // Of the first part only the time is known.
        if isResumed { return RunProfile(total: total) }
        return RunProfile(path, total: total, phases: phases.phases(until: total))
    }

    private mutating func refreshFinish(_ now: Moment) -> LiveChange {
        guard let timeRunsOut, now >= timeRunsOut, let workedFrom else { return .none }
        let heard = live.updatedAt
        live.finish = finish(from: workedFrom, at: now)
        estimatedAt = now
        let change = changed(.tick, at: now)
        live.updatedAt = heard
        return change
    }

    /// The start, moved by the time in which the job could not work.
    var workedFrom: Moment? { live.startedAt.map { $0 + idle } }

    /// When the run becomes stalled if the job stays silent; `nil` when no silence means anything.
    ///
    /// Three times the gap usual for the job, or of this attempt after five reports; at least 30 s.
    public var stallsAt: Moment? {
        guard live.state == .running, let heardAt, let gap = usualGap ?? (words >= 5 ? ownGap : nil) else {
            return nil
        }
        return heardAt + max(Self.leastSilence, gap * 3)
    }

    /// From when on the run takes longer than past ones let expect: than nine of ten of them did, and than
    /// ``leastSlow``; nil: too little is known, or it is not at work.
    public var slowAt: Moment? {
        guard live.state == .running || live.state == .stalled, let usualLimit else { return nil }
        return workedFrom.map { $0 + max(Self.leastSlow, usualLimit) }
    }

    /// Moves to `state` with all that hangs on it; only a job at work has a finish time, and time in which
    /// it could not work does not count for its pace.
    mutating func enter(
        _ state: RunState, reason: RunReason? = nil, blocked: BlockedKind? = nil, at now: Moment
    ) {
        if let since = idleSince { idle += max(.zero, now - since) }
        idleSince = state.isWaitingForOthers ? now : nil
        live.state = state
        live.reason = reason
        live.blockedKind = state == .blocked ? blocked : nil
        if state != .running { live.finish = nil }
    }

    private mutating func keepIdle() {
        let isThere = idle > .zero || idleSince != nil
        live.idle = isThere ? LiveState.Idle(time: idle.microseconds, since: idleSince) : nil
    }

    mutating func changed(_ change: LiveChange, at now: Moment) -> LiveChange {
        live.seq += 1
        live.updatedAt = now
        return change
    }

    func staleAt(from now: Moment) -> Moment? {
        guard live.state == .running, live.progress != nil else { return nil }
        return now + max(Self.freshFor, (usualGap ?? .zero) * 2)
    }
}

extension RunState {
    /// Whether the job can't get on because of somebody else.
    fileprivate var isWaitingForOthers: Bool { self == .blocked || self == .paused }
}

/// What a paused job waits for besides.
enum HeldBlock: Hashable, Sendable {
    case none
    case blocked(BlockedKind?)
}

/// The effect of a report on a live state.
public enum LiveChange: Hashable, Sendable {
    /// Nothing anybody would see.
    case none
    /// Progress, phase, message or finish time changed: shown, and written at most once a second.
    case tick
    /// The run's state, its reason or what blocks it changed: written at once.
    case stateChange
}
