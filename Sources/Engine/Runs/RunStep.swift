import Delivery
import Ledger
import Performing
import Timeline
import Tracking

/// One step of a run: what is written, and what follows once it is written.
struct RunStep: Sendable {
    /// What is done after the commit.
    enum Effect: Hashable, Sendable {
        /// The performer may forget the attempt.
        case acknowledge(RunKey)
        /// The performer is asked what it knows of the attempt.
        case ask(RunKey)
        /// The order may be sent: `starting` is in the ledger.
        case start
        /// The program that checks its work may be started: that this has ended is in the ledger.
        case check
        /// Its processes may be stopped: that it is paused is in the ledger.
        case pause(RunKey)
        /// Its processes may continue.
        case resume(RunKey)
        /// It waits for a person, without a process.
        case park
        /// It waits, for its turn or for the moment of another attempt.
        case wait
        case end(RunOutcome)
    }

    /// The run before the step.
    let run: RunRecord
    /// The step of its row.
    var move: RunMove
    /// The row of its attempt.
    var attempt: AttemptRecord?
    /// What happened to the attempt to have its bot reply.
    var reply: BotReply?
    /// What its job's bot says by it.
    var post: MessageRecord?
    /// How far the conversation is after it, of a run that answers people.
    var talk: [Change] = []
    /// Its live state, where the step decides it.
    var live: LiveState?
    var events: [NewEvent] = []
    var effects: [Effect] = []

    /// What is written, in this order.
    var changes: [Change] {
        var changes = [Change.moveRun(move)]
        if let attempt { changes.append(.putAttempt(attempt)) }
        if let reply { changes.append(.recordReply(reply)) }
        if let post { changes.append(.insertMessage(post)) }
        changes += talk
        if let live { changes.append(.saveLive(run: run.id, live)) }
        for event in events { changes.append(.append(event)) }
        return changes
    }

    /// The run after the step.
    var after: RunRecord {
        var after = run
        after.apply(move)
        if let live { after.live = live }
        return after
    }

    /// Whether somebody paused the run by it, or resumed it.
    var isOfAPause: Bool {
        effects.contains {
            switch $0 {
            case .pause, .resume: true
            default: false
            }
        }
    }

    /// Whether the run is no longer under way after it: it has ended, or waits again.
    var leavesHands: Bool { move.to.isEnded || move.to == .queued }

    /// The start of an attempt and its end, `next`, as one step: the state between them is never committed.
    ///
    /// - Returns: nil when this is no start or `next` not its end.
    func followed(by next: RunStep) -> RunStep? {
        guard effects.isEmpty, move.to == .running, let begun = attempt, let ended = next.attempt,
            begun.run == ended.run, begun.n == ended.n
        else { return nil }
        return RunStep(
            run: run, move: move.followed(by: next.move), attempt: ended, reply: next.reply, post: next.post,
            talk: talk + next.talk, live: next.live, events: events + next.events, effects: next.effects)
    }
}

/// What the keeper of runs could not record or decide because the ledger could not be written or read.
///
/// It is tried again before anything else: steps of one run follow each other, and none may pass one that is unrecorded.
struct UnrecordedWork {
    /// Steps to commit.
    private(set) var steps: [RunStep] = []
    /// Ends of attempts whose next step could not be decided.
    private(set) var ends: [(key: RunKey, end: AttemptEnd)] = []
    /// Why something could not be recorded or decided in this turn; an error that only a restart can clear wins.
    private(set) var failure: LedgerError?

    var isEmpty: Bool { steps.isEmpty && ends.isEmpty }

    mutating func add(_ more: some Sequence<RunStep>) { steps += more }

    mutating func add(_ end: AttemptEnd, of key: RunKey) { ends.append((key, end)) }

    /// Removes the pauses and resumptions of these runs, and returns them, the last one first.
    mutating func dropPauses(of runs: Set<String>) -> [RunStep] {
        let dropped = steps.filter { $0.isOfAPause && runs.contains($0.run.id) }
        guard !dropped.isEmpty else { return [] }
        steps.removeAll { $0.isOfAPause && runs.contains($0.run.id) }
        return dropped.reversed()
    }

    mutating func takeSteps() -> [RunStep] {
        defer { steps = [] }
        return steps
    }

    mutating func takeEnds() -> [(key: RunKey, end: AttemptEnd)] {
        defer { ends = [] }
        return ends
    }

    /// A turn begins, in which everything is tried again.
    mutating func beginTurn() { failure = nil }

    /// The ledger failed.
    mutating func note(_ error: LedgerError) {
        if failure == nil || !error.mayPass { failure = error }
    }
}

/// How an attempt ended, as its performer reported it.
enum AttemptEnd {
    case refused(Refusal, text: String)
    case ended(ExitRecord)
    case vanished

    /// Whether it did what it should.
    var isSuccess: Bool {
        guard case .ended(let record) = self else { return false }
        return record.cause == .exited && record.exitCode == 0 && record.fault == nil
    }
}

// The programs before and after an attempt, which the warden knows by keys of their own.

extension RunKey {
    private static let (wakeSuffix, checkSuffix) = (".wake", ".ensure")

    /// The key of the script that runs before the attempt.
    var wakeScript: RunKey { RunKey(run: run + Self.wakeSuffix, attempt: attempt) }

    /// The attempt that the script runs before; nil: this is no such script.
    var woken: RunKey? { without(Self.wakeSuffix) }

    /// The key of the program that checks the attempt.
    var check: RunKey { RunKey(run: run + Self.checkSuffix, attempt: attempt) }

    /// The attempt that is checked; nil: this is no check.
    var checked: RunKey? { without(Self.checkSuffix) }

    /// Whether it is of an attempt itself.
    var isAttempt: Bool { woken == nil && checked == nil }

    private func without(_ suffix: String) -> RunKey? {
        run.hasSuffix(suffix) ? RunKey(run: String(run.dropLast(suffix.count)), attempt: attempt) : nil
    }
}

/// Where the keeper of runs is between the daemon's start and its end: whether runs may start, and who waits to learn
/// that the rows are true, or that nothing runs any more.
struct KeeperPhase {
    /// Whether no run is started yet, because the jobs of the files have not been taken up: one that waits may be of a
    /// job that was removed while no daemon ran.
    private var awaitsJobs: Bool
    /// Whether no run is started any more, because the daemon ends when those under way have.
    private(set) var isDraining = false
    /// Finished once it is recorded which runs of an earlier daemon have ended meanwhile.
    private var news: AsyncStream<Never>.Continuation?
    private var drained: AsyncStream<Never>.Continuation?

    init(awaitsJobs: Bool, news: AsyncStream<Never>.Continuation?) {
        self.awaitsJobs = awaitsJobs
        self.news = news
    }

    /// Whether runs may be started.
    var mayStart: Bool { !awaitsJobs && !isDraining }

    /// Whether somebody waits for the rows of an earlier daemon's runs to be true.
    var owesNews: Bool { news != nil }

    mutating func begin() { awaitsJobs = false }

    mutating func finishNews() {
        news?.finish()
        news = nil
    }

    /// Starts no more runs.
    ///
    /// - Returns: ends once ``noteUnderWay(_:)`` has seen nothing under way; nil: nothing is.
    mutating func drain(underWay count: Int) -> AsyncStream<Never>? {
        isDraining = true
        guard count > 0 else { return nil }
        let (end, ending) = AsyncStream<Never>.makeStream()
        drained = ending
        return end
    }

    /// So many runs are under way now.
    func noteUnderWay(_ count: Int) {
        if isDraining, count == 0 { drained?.finish() }
    }
}
