public import Timeline
import Tracking

/// A job as a person sees it: progress that turns into a result, a failure that counts, a recovery.
///
/// The value is all there is to save between two events. One job has one item, whichever of its runs it
/// shows. A success that nobody is notified of makes no item; it ends the one that only showed progress.
public struct JobItem: Hashable, Codable, Sendable {
    /// The job's name.
    public let job: String
    /// The bot the job belongs to.
    public var bot: String
    /// Counts the versions made, and the times it was removed.
    public private(set) var revision = 0
    /// What the next version shows, or the last one did; absent while there is nothing to see.
    public private(set) var report: JobReport?
    /// Whether a person has put it away and nothing since was worth bringing it back.
    public private(set) var isDismissed = false

    private var pace = Pace()
    private var runs = RecentRuns()
    private var outage: Outage?
    /// The failure to go back to when progress that covers it ends with nothing to report.
    private var unseenFailure: JobReport?
    private var ring: Ring?
    /// Why the version that waits will ring, or why not.
    private var waiting: RingReason?
    private var isShown = false
    /// The version since which nothing rang and no other run came; absent in what an older Belfry stored.
    private var quiet: Quiet?

    /// A job nothing is known of.
    public init(job: String, bot: String) {
        self.job = job
        self.bot = bot
    }

    /// When to wake it; `nil` when nothing waits.
    public var flushAt: Moment? { pace.flushAt }

    /// How often in a row it has failed; 0 when it is well.
    public var failures: Int { outage?.failures ?? 0 }

    /// Since when it has been failing: the end of the first failure; `nil` when it is well.
    public var failingSince: Moment? { outage?.since }

    /// Applies a fact.
    ///
    /// Facts of one run come in order; those of overlapping runs may be mixed. Progress of a run that
    /// ended is ignored.
    public mutating func receive(_ fact: JobFact, at now: Moment, policy: JobPolicy) -> [ItemAction] {
        clamp(at: now, policy)
        var fact = fact
        fact.text = fact.text.map { Preview.cut($0, to: policy.previewCharacters) }
        fact.phase = fact.phase.map { Preview.cut($0, to: policy.previewCharacters) }
        return fact.state.isEnded
            ? receiveEnd(fact, at: now, policy) : receiveProgress(fact, at: now, policy)
    }

    /// Makes the next version if its moment has come; asks again otherwise.
    public mutating func wake(at now: Moment, policy: JobPolicy) -> [ItemAction] {
        clamp(at: now, policy)
        guard let flushAt, let report, let waiting else { return [] }
        guard pace.isDue(at: now) else { return [.wakeAt(flushAt)] }
        let urgency = urgency(of: report)
        let reason = waiting.rings && urgency == .low ? .lowUrgency : waiting
        pace.flushed(at: now)
        self.waiting = nil
        if reason.rings { ring = Ring(at: now, urgency: urgency) }
        isShown = !isDismissed
        revision += 1
        let run = report.fact.run
        if reason.rings || quiet?.run != run { quiet = Quiet(since: revision, run: run) }
        let snapshot = ItemSnapshot(
            key: .job(job), revision: revision, bot: bot, urgency: urgency, reason: reason, at: now,
            isDismissed: isDismissed, content: .job(report))
        return [.flush(snapshot)]
    }

    /// A person has put away what this revision showed.
    ///
    /// It stays away until something rings or another run begins. A revision that such news has replaced, or waits
    /// to replace, is ignored; one that was followed by silent progress alone is not.
    public mutating func dismissed(revision: Int, at now: Moment) -> [ItemAction] {
        let oldest = min(quiet?.since ?? self.revision, self.revision)
        guard (oldest...self.revision).contains(revision), isShown, waiting?.rings != true else { return [] }
        return read(at: now)
    }

    /// A person has seen all there is to see.
    public mutating func read(at now: Moment) -> [ItemAction] {
        isDismissed = report != nil
        unseenFailure = nil
        pace.cancel()
        waiting = nil
        return resolve()
    }
}

extension JobItem {
    private mutating func receiveProgress(
        _ fact: JobFact, at now: Moment, _ policy: JobPolicy
    ) -> [ItemAction] {
        guard let run = fact.run, !runs.ended.contains(run), !isOlderThanShown(run) else { return [] }
        let isNew = runs.begin(run, fact.state)
        guard isNew || runs.newest >= run else { return [] }
        let isBlocked = fact.state == .blocked && policy.hears.contains(.blocked)
        let news: JobNews = fact.state == .blocked ? .blocked : isNew ? .started : .progress
        guard policy.hears.contains(.progress) || policy.hears.contains(news) else {
            // What a run waited for has come: the item that asked for it goes.
            return report?.news == .blocked ? endUnheard(makeReport(news, fact), at: now, policy) : []
        }
        if isDismissed {
            guard isBlocked || report?.fact.run != run else { return [] }
            isDismissed = false
        }
        let isRepeated = report?.news == .blocked && report?.fact.run == run
        return show(
            makeReport(news, fact), isBlocked && !isRepeated ? .blocked : .progressed, at: now, policy)
    }

    private mutating func receiveEnd(_ fact: JobFact, at now: Moment, _ policy: JobPolicy) -> [ItemAction] {
        if let run = fact.run { runs.end(run) }
        let news = JobNews(fact.state)
        var reason = isRingDue(at: now, after: policy.ringAgainAfter) ? RingReason.finished : .tooSoon
        var outcome = makeReport(news, fact)
        if fact.state.isFailure {
            reason = countFailure(fact, at: now, policy)
            outcome = makeReport(news, fact)
        } else if fact.state == .completed, let over = outage {
            reason = .recovered
            outcome.news = .recovered
            outcome.outage = over.length(until: fact.at)
            outcome.sameFailures = 0
            outage = nil
            unseenFailure = nil
        } else if fact.state == .missed, reason.rings {
            reason = .missed
        }
        guard policy.hears.contains(outcome.news) else { return endUnheard(outcome, at: now, policy) }
        if fact.state.isFailure, reason.rings || !isDismissed { unseenFailure = outcome }
        return show(outcome, reason, at: now, policy)
    }

    private mutating func countFailure(
        _ fact: JobFact, at now: Moment, _ policy: JobPolicy
    ) -> RingReason {
        guard let isSame = outage?.count(fact) else {
            outage = Outage(fact)
            return .failed
        }
        guard isSame else { return .failedDifferently }
        guard let again = policy.repeatFailureAfter else { return .sameFailure }
        return isRingDue(at: now, after: again) ? .repeatElapsed : .sameFailure
    }

    private func isRingDue(at now: Moment, after interval: Duration) -> Bool {
        ring.map { now - $0.at >= interval } ?? true
    }

    private func makeReport(_ news: JobNews, _ fact: JobFact) -> JobReport {
        JobReport(
            job: job, news: news, fact: fact, sameFailures: outage?.sameFailures ?? 0,
            failures: outage?.failures ?? 0)
    }

    private mutating func show(
        _ next: JobReport, _ reason: RingReason, at now: Moment, _ policy: JobPolicy
    ) -> [ItemAction] {
        if reason.rings {
            isDismissed = false
            waiting = reason
        } else if waiting?.rings != true {
            waiting = isDismissed ? .dismissed : reason
        } else if !next.fact.state.isEnded {
            // News that rings is about to be shown; progress must not paint over it.
            return wake(at: now, policy: policy)
        }
        report = next
        pace.ask(for: now, interval: policy.interval)
        return wake(at: now, policy: policy)
    }

    /// Removes an item that has ended and is not replaced by anything to notify of: the progress of a
    /// run that ended, a failure that passed.
    private mutating func endUnheard(
        _ next: JobReport, at now: Moment, _ policy: JobPolicy
    ) -> [ItemAction] {
        guard let shown = report else { return [] }
        let isOver = shown.fact.state.isEnded ? next.news == .recovered : shown.fact.run == next.fact.run
        guard isOver else { return [] }
        if let unseenFailure { return show(unseenFailure, .sameFailure, at: now, policy) }
        report = nil
        waiting = nil
        isDismissed = false
        pace.cancel()
        return resolve()
    }

    private func isOlderThanShown(_ run: Int) -> Bool {
        guard let report, !report.fact.state.isEnded, let shown = report.fact.run else { return false }
        return run < shown
    }

    private mutating func resolve() -> [ItemAction] {
        guard isShown else { return [] }
        isShown = false
        revision += 1
        return [.resolve(revision: revision)]
    }

    private func urgency(of report: JobReport) -> Urgency {
        let own = report.fact.urgency
        switch report.news {
        case .started, .progress: return .low
        case .failed, .lost: return own ?? .critical
        case .blocked, .completed, .recovered, .canceled, .missed, .skipped:
            return min(own ?? .normal, .normal)
        }
    }

    private mutating func clamp(at now: Moment, _ policy: JobPolicy) {
        pace.clamp(at: now, longest: policy.interval)
        if let rang = ring?.at { ring?.at = min(rang, now) }
    }
}

/// The versions of one run that follow each other in silence.
private struct Quiet: Hashable, Codable, Sendable {
    /// The first of them, which may have rung.
    var since: Int
    var run: Int?
}

/// The failures of a job since it was last well.
struct Outage: Hashable, Codable, Sendable {
    /// When the first of them ended.
    let since: Moment
    /// All of them.
    private(set) var failures = 1
    /// Those in a row that were like the last one.
    private(set) var sameFailures = 1
    /// What the last one was like.
    private(set) var signature: FailureSignature

    /// The first failure.
    init(_ fact: JobFact) {
        since = fact.at
        signature = FailureSignature(fact)
    }

    /// Counts one more; returns whether it is like the one before.
    mutating func count(_ fact: JobFact) -> Bool {
        let next = FailureSignature(fact)
        let isSame = next == signature
        failures += 1
        sameFailures = isSame ? sameFailures + 1 : 1
        signature = next
        return isSame
    }

    /// How long it has lasted; never negative, also when the clock was set back meanwhile.
    func length(until moment: Moment) -> Duration {
        max(.zero, moment - since)
    }
}

/// Which runs of a job have begun and ended, as far back as late news may come from.
struct RecentRuns: Hashable, Codable, Sendable {
    /// The newest run that was seen at work; 0 before the first.
    private(set) var newest = 0
    /// The latest that ended, oldest first.
    private(set) var ended: [Int] = []

    /// Notes that `run` is in `state`; returns whether it is the first time that it is seen running.
    mutating func begin(_ run: Int, _ state: RunState) -> Bool {
        guard run > newest, state.isUnderWay else { return false }
        newest = run
        return true
    }

    /// Notes that `run` has ended.
    mutating func end(_ run: Int) {
        ended = ended.suffix(15) + [run]
    }
}
