import Ledger
import Performing
import Timeline
import Tracking

/// The runs that wait and the runs that are under way: whose turn it is, and who counts where.
struct RunsInHand {
    let limits: RunLimits
    /// The runs that are not started.
    var queue = RunQueue()
    /// The runs in hand.
    var active = ActiveRuns()
    /// The clocks when a run began to wait that waits for another attempt, and is not queued yet.
    private var waitingSince: [String: ClockReading] = [:]

    init(limits: RunLimits) {
        self.limits = limits
    }

    /// Takes out those whose turn it is at a moment since boot, as many as there is room for.
    mutating func takeTurns(at now: Duration) -> [Waiting] {
        queue.takeTurns(active.room(within: limits), at: now)
    }

    /// The run is under way, and `performer` has its order from an earlier daemon.
    mutating func adopt(_ run: RunRecord, by performer: PerformerKind, places: [Gate.Name]) {
        active[run.id] = ActiveRun(adopting: run, by: performer, places: places)
        queue.enter(run.id, places)
    }

    /// The attempt has ended: what only waits for the commit takes up no room, so that the next one shares it.
    ///
    /// `after` is the run after that commit.
    mutating func noteEnd(_ after: RunRecord) {
        guard let entry = active[after.id] else { return }
        entry.record = after
        entry.isLeaving = true
        queue.leave(
            after.id,
            entry.placesToLeave(keepsTurn: !after.state.isEnded && (after.attempt > 1 || after.isParked)))
    }

    /// The run waits, in a call of this name, for runs that it handed out, or no longer.
    ///
    /// It takes up no room meanwhile: else many such runs would keep out those that they wait for.
    func set(_ id: String, waitsIn call: String, _ waits: Bool) {
        guard let entry = active[id] else { return }
        if waits { entry.callsThatWait.insert(call) } else { entry.callsThatWait.remove(call) }
    }

    /// The clocks when the run began to wait: now, or before its first attempt.
    mutating func beginWait(of id: String, at now: ClockReading) -> ClockReading {
        waitingSince.removeValue(forKey: id) ?? now
    }

    /// The run waits no more.
    mutating func drop(_ run: RunRecord) {
        waitingSince[run.id] = nil
        queue.drop(run)
    }

    /// The run is in nobody's hand any more; one that waits for another attempt keeps its job's turn.
    ///
    /// - Returns: whether it was in hand.
    mutating func release(_ id: String, keepsTurn: Bool) -> Bool {
        guard let entry = active[id] else { return false }
        active[id] = nil
        if keepsTurn { waitingSince[id] = entry.since }
        queue.leave(id, entry.placesToLeave(keepsTurn: keepsTurn))
        return true
    }
}

/// How much may go on at a time.
package struct RunLimits: Hashable, Sendable {
    /// Runs that are to be started, or are started, and have not ended.
    ///
    /// A run does not count while it waits for others that it handed out. When it goes on there may be more than this;
    /// none is started before there are fewer.
    ///
    /// Starts have no cap of their own: the warden makes one after the other, half a millisecond each, so that many
    /// orders on their way are no storm, and with few of them each few starts would cost a commit.
    package var running: Int

    /// The caps; left out, 64 running.
    package init(running: Int = 64) {
        self.running = running
    }
}

/// The runs under way, by id.
struct ActiveRuns {
    private var runs: [String: ActiveRun] = [:]

    subscript(id: String) -> ActiveRun? {
        get { runs[id] }
        set { runs[id] = newValue }
    }

    /// How many there are.
    var count: Int { runs.count }

    /// How many were ordered from their performers.
    var ordered: Int { runs.values.count { $0.isOrdered } }

    /// Since when runs of each bot are under way, as far as they have started.
    var bots: [String: Moment] {
        runs.values.reduce(into: [:]) { bots, run in
            guard !run.isLeaving, let start = run.record.startedAt else { return }
            bots[run.record.bot] = min(bots[run.record.bot] ?? start, start)
        }
    }

    /// Whether the performer has not yet reported one that was ordered from it.
    func hasUnreported(by performer: PerformerKind) -> Bool {
        runs.values.contains { $0.performer == performer && $0.isOrdered && !$0.isKnown && !$0.isLeaving }
    }

    /// Whether the performer was asked or ordered something and has still to answer; how long an end takes depends on
    /// the job.
    func isAnswerOwed(by performer: PerformerKind) -> Bool {
        runs.values.contains { run in
            guard run.performer == performer, run.isOrdered, !run.isLeaving, !run.isUndecided else {
                return false
            }
            let isAsked = run.isAsked && run.record.endAsked == nil
            return isAsked || !run.isKnown || run.record.state == .starting
        }
    }

    /// How many more may be started now.
    func room(within limits: RunLimits) -> Int {
        limits.running - runs.values.count { !$0.isLeaving && $0.callsThatWait.isEmpty }
    }

    /// The attempt's run, which its performer has just reported; nil when it is none of ours.
    func known(_ key: RunKey) -> RunRecord? {
        guard let entry = runs[key.run], entry.record.attempt == key.attempt || entry.isLeaving else {
            return nil
        }
        entry.isKnown = true
        entry.isAsked = false
        return entry.record
    }

    /// The runs whose work is being checked.
    var checked: [String] { runs.filter { $0.value.check != nil }.map(\.key) }

    /// The runs whose wake script is at work.
    var waking: [String] { runs.filter { $0.value.wakeScript != nil }.map(\.key) }

    /// A new connection: the performer has reported nothing yet.
    func forgetConnection(to performer: PerformerKind) {
        for run in runs.values where run.performer == performer {
            run.isKnown = false
            run.isAsked = false
        }
    }

    /// What to ask once the performer has reported all it knows: about what it did not report; and each cancel again,
    /// because the first may have been lost with the connection.
    func questions(for performer: PerformerKind) -> [PerformerRequest] {
        var questions: [PerformerRequest] = []
        for (id, entry) in runs where entry.performer == performer && entry.isOrdered && !entry.isLeaving {
            let key = RunKey(run: id, attempt: entry.record.attempt)
            if let why = entry.record.endAsked {
                questions.append(.cancel(key, reason: why.rawValue))
            } else if !entry.isKnown {
                questions.append(.ask(key))
            } else {
                continue
            }
            entry.isAsked = true
        }
        return questions
    }
}

extension ActiveRuns {
    /// Which attempts are paused and which are not, to be said once more: the first word may have been lost with the
    /// connection.
    func pauses(for performer: PerformerKind) -> [PerformerRequest] {
        runs.compactMap { id, entry in
            guard entry.performer == performer, entry.isOrdered, !entry.isLeaving,
                entry.record.endAsked == nil
            else { return nil }
            let key = RunKey(run: id, attempt: entry.record.attempt)
            switch entry.record.state {
            case .paused: return .pause(key)
            case .running, .blocked, .stalled: return .resume(key)
            default: return nil
            }
        }
    }
}

/// A run under way: about to be started, or started.
///
/// Used by its keeper alone; an object because it is read often, and too large to be copied each time.
final class ActiveRun {
    /// As the ledger has it, and as the steps not yet committed will leave it.
    var record: RunRecord
    /// What to do; nil for a run that an earlier daemon started, until somebody asks.
    var spec: JobSpec?
    /// What is said to its bot beside the prompt of its spec.
    var talk = RunTalk()
    /// What of its environment nobody may see; nil: it can't be read any more.
    var secrets: RunSecrets?
    /// Who performs it.
    let performer: PerformerKind
    /// Where it counts while it is under way.
    let places: [Gate.Name]
    /// The clocks when it began to wait; nil: an earlier daemon saw that.
    var since: ClockReading?
    /// Whether its performer was ordered to start it.
    var isOrdered: Bool
    /// Whether its performer reported it since the connection was made.
    var isKnown = false
    /// Whether its performer was asked about it, and the answer is still to come.
    var isAsked = false
    /// Whether its attempt has ended, and only the commit of that is still to come.
    var isLeaving = false
    /// Whether its attempt has ended, and what follows is not decided yet, because the ledger can't be read.
    var isUndecided = false

    /// Its calls that wait for runs which it handed out.
    var callsThatWait: Set<String> = []

    /// What checks its work, which has ended well; nil: nothing does now.
    var check: RunCheck?

    /// What the warden was ordered to do before its bot is asked; nil: nothing, or that has ended.
    var wakeScript: ProcessOrder?

    /// A run whose turn it is and that the next commit will claim.
    init(
        claiming record: RunRecord, _ spec: JobSpec, _ secrets: RunSecrets, _ waiting: Waiting,
        by performer: PerformerKind
    ) {
        self.record = record
        self.spec = spec
        self.secrets = secrets
        self.performer = performer
        places = waiting.places
        since = waiting.since
        isOrdered = false
        isKnown = true
    }

    /// A run that an earlier daemon started.
    init(adopting record: RunRecord, by performer: PerformerKind, places: [Gate.Name]) {
        self.record = record
        self.performer = performer
        self.places = places
        isOrdered = true
    }

    /// Where it no longer counts once its attempt has ended; one that waits for another attempt keeps its job's turn.
    func placesToLeave(keepsTurn: Bool) -> [Gate.Name] {
        keepsTurn ? places.filter { $0 != .job(record.job) } : places
    }
}
