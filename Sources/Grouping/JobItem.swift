public import Timeline
package import Tracking

/// A job as a person sees it: progress that turns into a result, a failure that counts, a recovery.
///
/// The value is all there is to save between two events. One job has one item, whichever of its runs it
/// shows. A success that nobody is notified of makes no item; it ends the one that only showed progress. As in a
/// phone's live activity, the result of a run that was shown at work may replace that progress in silence: see
/// ``JobPolicy/follows``.
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
    /// The newest run at work, as long as it has lasted too short a time to be shown.
    private var early: EarlyWork?
    /// The newest run that has lasted long enough.
    private var lasting: Int?

    /// A job nothing is known of.
    public init(job: String, bot: String) {
        self.job = job
        self.bot = bot
    }

    /// When to wake it; `nil` when nothing waits.
    public var flushAt: Moment? { [pace.flushAt, early?.showAt].compactMap(\.self).min() }

    /// Whether a run is at work that is not shown before it has lasted a while.
    public var isEarly: Bool { early != nil }

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
        let fact = fact.cut(to: policy.previewCharacters)
        return fact.state.isEnded
            ? receiveEnd(fact, at: now, policy) : receiveProgress(fact, at: now, policy)
    }

    /// Makes the next version if its moment has come; asks again otherwise.
    public mutating func wake(at now: Moment, policy: JobPolicy) -> [ItemAction] {
        clamp(at: now, policy)
        if let due = early, due.showAt <= now { return showLasting(due, at: now, policy) }
        guard let report, let waiting, pace.isDue(at: now) else { return flushAt.map { [.wakeAt($0)] } ?? [] }
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
    /// Shows once more that the job still fails: `who` acknowledged it a while ago, and that no longer holds.
    ///
    /// Nothing happens where the job is well, or nobody is notified of failures.
    public mutating func remind(
        by who: String, after age: Duration, at now: Moment, policy: JobPolicy
    ) -> [ItemAction] {
        guard let outage, policy.hears.contains(.failed) else { return [] }
        clamp(at: now, policy)
        var fact = JobFact(run: nil, state: .failed, at: now)
        if let last = lastFailure { fact = last.fact }
        fact.text = Preview.cut("acknowledged by \(who) \(age.text) ago", to: policy.previewCharacters)
        (fact.state, fact.at) = (.failed, now)
        let next = JobReport(
            job: job, news: .failed, fact: fact, sameFailures: outage.sameFailures, failures: outage.failures)
        return show(next, .acknowledgementExpired, at: now, policy)
    }

    /// The failure that it shows, or would.
    private var lastFailure: JobReport? {
        if let report, report.fact.state.isFailure { return report }
        return unseenFailure
    }

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
        // Its start, noted after what it reported since: that says more.
        if fact.isBare, let known = early?.report ?? report, known.fact.run == run, known.news != .blocked {
            return flushAt.map { [.wakeAt($0)] } ?? []
        }
        if isBlocked, early?.report.fact.run == run { (early, lasting) = (nil, run) }
        if !isBlocked, let actions = holdBack(makeReport(news, fact), of: run, at: now, policy) {
            return actions
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
        if let run = fact.run, early?.report.fact.run == run { early = nil }
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
        // Another run than the one that was put away: one that is too short to be shown at work gets here first.
        if isDismissed, report?.fact.run != fact.run { isDismissed = false }
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
    ///
    /// What ``JobPolicy/follows`` names replaces the progress instead.
    private mutating func endUnheard(
        _ next: JobReport, at now: Moment, _ policy: JobPolicy
    ) -> [ItemAction] {
        guard let shown = report else { return [] }
        let isOver = shown.fact.state.isEnded ? next.news == .recovered : shown.fact.run == next.fact.run
        guard isOver else { return [] }
        if let unseenFailure { return show(unseenFailure, .sameFailure, at: now, policy) }
        let isOut = isShown && !isDismissed && quiet?.run == shown.fact.run
        if isOut, policy.follows.contains(next.news) { return show(next, .settled, at: now, policy) }
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
        early?.clamp(at: now, longest: policy.workAfter)
    }
}

// Runs that have only just started.
extension JobItem {
    /// Keeps a run that has lasted too short a time from being shown; nil: it may be.
    private mutating func holdBack(
        _ next: JobReport, of run: Int, at now: Moment, _ policy: JobPolicy
    ) -> [ItemAction]? {
        guard run > lasting ?? 0, report?.fact.run != run else { return nil }
        if let waiting = early?.report.fact.run, waiting > run { return [] }
        let since = early?.report.fact.run == run ? early?.since : nil
        let work = EarlyWork(report: next, since: since ?? min(next.fact.at, now), policy.workAfter)
        guard now < work.showAt else {
            (early, lasting) = (nil, run)
            return nil
        }
        early = work
        early?.clamp(at: now, longest: policy.workAfter)
        return flushAt.map { [.wakeAt($0)] }
    }

    private mutating func showLasting(
        _ work: EarlyWork, at now: Moment, _ policy: JobPolicy
    ) -> [ItemAction] {
        (early, lasting) = (nil, work.report.fact.run)
        isDismissed = false
        var report = work.report
        report.fact.lasted = max(.zero, now - work.since)
        return show(report, .progressed, at: now, policy)
    }

    /// Leaves the screen to the item of a storm that lists its failure; what it shows otherwise stays.
    public mutating func stepAside() -> [ItemAction] {
        guard report?.fact.state.isEnded == true else { return [] }
        pace.cancel()
        waiting = nil
        return resolve()
    }

    /// The same job where nobody was notified of its failures.
    public var withoutFailures: JobItem {
        var item = self
        (item.outage, item.unseenFailure) = (nil, nil)
        if report?.fact.state.isFailure == true {
            (item.report, item.waiting, item.isShown, item.isDismissed) = (nil, nil, false, false)
            item.pace.cancel()
        }
        return item
    }
}

// What is sent of one fact alone.
extension JobItem {
    /// The version that shows `fact` and nothing else, as it is sent to channels that do not edit in place: with the
    /// failures that it makes together with those before it, and the reason it rings for.
    ///
    /// Changes nothing: the fact counts once it is received.
    public func version(of fact: JobFact, at now: Moment, policy: JobPolicy) -> ItemSnapshot {
        var item = self
        let fact = fact.cut(to: policy.previewCharacters)
        let reason: RingReason =
            switch fact.state {
            case .blocked: .blocked
            case .missed: .missed
            case let state where state.isFailure: item.countFailure(fact, at: now, policy)
            case let state where state.isEnded: .finished
            default: .progressed
            }
        return item.version(item.makeReport(JobNews(fact.state), fact), reason, at: fact.at)
    }

    /// The version that shows that the job succeeded after `failures`, and after how long an outage.
    public func version(
        ofRecovery fact: JobFact, after failures: Int, outage: Duration?, policy: JobPolicy
    ) -> ItemSnapshot {
        let report = JobReport(
            job: job, news: .recovered, fact: fact.cut(to: policy.previewCharacters), failures: failures,
            outage: outage)
        return version(report, .recovered, at: fact.at)
    }

    private func version(_ report: JobReport, _ reason: RingReason, at moment: Moment) -> ItemSnapshot {
        let urgency = urgency(of: report)
        return ItemSnapshot(
            key: .job(job), revision: revision, bot: bot, urgency: urgency,
            reason: reason.rings && urgency == .low ? .lowUrgency : reason, at: moment, content: .job(report))
    }
}

extension JobFact {
    /// Whether it shows nothing but that the run is at work.
    fileprivate var isBare: Bool {
        state == .running && progress == nil && outlook == nil && (text ?? "").isEmpty
            && (phase ?? "").isEmpty
    }

    /// The fact with texts of at most `limit` characters.
    fileprivate func cut(to limit: Int) -> JobFact {
        var fact = self
        fact.text = fact.text.map { Preview.cut($0, to: limit) }
        fact.phase = fact.phase.map { Preview.cut($0, to: limit) }
        return fact
    }
}

/// A run at work that is not shown yet.
private struct EarlyWork: Hashable, Codable, Sendable {
    var report: JobReport
    /// When it was first seen at work.
    let since: Moment
    private(set) var showAt: Moment

    init(report: JobReport, since: Moment, _ wait: Duration) {
        self.report = report
        self.since = since
        showAt = since + wait
    }

    mutating func clamp(at now: Moment, longest: Duration) { showAt = min(showAt, now + longest) }
}

/// The versions of one run that follow each other in silence.
private struct Quiet: Hashable, Codable, Sendable {
    /// The first of them, which may have rung.
    var since: Int
    var run: Int?
}

// The stored form; see `StoredItem.swift`.

extension EarlyWork: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("report", report)
            writer.member("since", since)
            writer.member("showAt", showAt)
        }
    }
}

extension Quiet: JSONWritable {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("since", since)
            writer.member("run", run)
        }
    }
}

extension JobItem: JSONWritable {
    /// Writes all of it.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("job", job)
            writer.member("bot", bot)
            writer.member("revision", revision)
            writer.member("report", report)
            writer.member("isDismissed", isDismissed)
            writer.member("pace", pace)
            writer.member("runs", runs)
            writer.member("outage", outage)
            writer.member("unseenFailure", unseenFailure)
            writer.member("ring", ring)
            writer.member("waiting", waiting?.rawValue)
            writer.member("isShown", isShown)
            writer.member("quiet", quiet)
            writer.member("early", early)
            writer.member("lasting", lasting)
        }
    }
}
