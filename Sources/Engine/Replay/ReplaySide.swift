package import Delivery
import Grouping
package import Ledger
package import Timeline
import Tracking

/// Rules under which what has happened is dispatched once more.
package struct ReplayRules: Sendable {
    /// Who hears what.
    package var dispatch: DispatchRules
    /// The bots, by name.
    package var bots: [String: BotProfile]
    /// The jobs of the file, by name; others are as they are in the ledger.
    package var jobs: [String: JobSpec]

    package init(dispatch: DispatchRules, bots: [String: BotProfile] = [:], jobs: [String: JobSpec] = [:]) {
        (self.dispatch, self.bots, self.jobs) = (dispatch, bots, jobs)
    }
}

/// What would have happened to one thing on one channel.
package struct ReplayOutcome: Hashable, Sendable {
    /// How much it would have disturbed.
    package enum Action: String, Hashable, Sendable, CaseIterable {
        /// Sent, or shown with a ring.
        case rang
        /// Shown without one.
        case silent
        /// Kept back until a moment.
        case held
        /// Not sent at all.
        case suppressed
    }

    package var action: Action
    /// The stage that decided.
    package var stage: StageName
    /// Why it did not ring; nil: it did.
    package var reason: String?
    /// Until when it would have been kept back.
    package var until: Moment?
    /// The rule of a person that decided.
    package var rule: String?
}

/// Something that has happened, with what dispatch asks about it whatever the rules are.
struct ReplayNews: Sendable {
    var at: Moment
    var event: NewEvent
    /// The run that it is about.
    var run: RunRecord?
    /// The job as it is described in the ledger now.
    var stored: JobSpec?
    /// How often in a row the job has failed, this failure included.
    var failures = 0
    /// Whether the failure is as the one before.
    var isSameFailure = false
    /// What a bot said.
    var message: Message?
}

/// One set of rules on its way through what has happened.
///
/// Pure, and no station of the data's way: it stores nothing. Threads and jobs are not grouped in time as the daemon
/// groups them: each thing is judged when it happened, a held one is not judged again, and nobody reads or dismisses.
struct ReplaySide: Sendable {
    let rules: ReplayRules
    private let dispatcher = Dispatcher()
    private var interruptions = Interruptions()
    private var failing: [String: Topic] = [:]
    /// The channels that failures of a job were sent to since it was last well.
    private var informed: [String: Set<String>] = [:]
    /// When a thread last rang.
    private var rang: [ItemKey: Moment] = [:]

    init(_ rules: ReplayRules) { self.rules = rules }

    /// What would have happened to it on each channel that it concerns.
    mutating func judge(_ news: ReplayNews) -> [String: ReplayOutcome] {
        guard var matter = matter(of: news) else { return [:] }
        matter.interruptions = interruptions
        matter.failingJobs = failing.values.sorted { ($0.job ?? "") < ($1.job ?? "") }
        var outcomes: [String: ReplayOutcome] = [:]
        for verdict in dispatcher.dispatch(matter, by: rules.dispatch, at: news.at) {
            let outcome = outcome(of: verdict, news)
            outcomes[verdict.channel] = outcome
            note(outcome, of: verdict.channel, matter, news)
        }
        remember(matter, news)
        if let message = news.message, outcomes.values.contains(where: { $0.action == .rang }) {
            rang[message.itemKey] = news.at
        }
        return outcomes
    }

    /// A thread was read: what is said next is news again.
    mutating func read(_ key: ItemKey) { rang[key] = nil }

    // MARK: What it is

    /// nil: nobody is notified of such a thing.
    private func matter(of news: ReplayNews) -> Matter? {
        switch news.event.fact {
        case .messagePosted(let post):
            guard let message = news.message, message.author == .bot else { return nil }
            let policy = rules.bots[message.bot]?.policy ?? ThreadPolicy()
            let isRecent = rang[message.itemKey].map { news.at - $0 < policy.ringAgainAfter } ?? false
            let version = ItemSnapshot(
                key: message.itemKey, revision: 1, bot: message.bot, urgency: message.urgency,
                reason: isRecent && message.urgency < .critical ? .tooSoon : .first, at: news.at,
                content: .messages(count: 1, last: [message]))
            return Matter(version, only: post.channel.map { [$0] })
        case .runRecovered(var recovery):
            recovery.channels = informed[recovery.run.job].map { $0.sorted() } ?? []
            return described(Matter(.runRecovered(recovery)), news)
        case .runStarted, .runBlocked, .runCompleted, .runFailed, .runCanceled, .runLost, .runSkipped:
            guard let run = news.run else { return nil }
            return described(Matter(news.event, of: run, as: spec(of: news)), news)
        case .runMissed, .slotsSkipped, .runLate, .runSlow, .runStuck, .runFlapping:
            return described(Matter(news.event.fact), news)
        case .test, .itemActed, .itemDismissed, .messageRead, .messageGroup, .runProgress, .unknown:
            return nil
        default: return Matter(news.event.fact)
        }
    }

    private func spec(of news: ReplayNews) -> JobSpec? {
        let job = news.event.fact.columns.job
        return news.run?.spec ?? job.flatMap { rules.jobs[$0] } ?? news.stored
    }

    /// Completes what rules ask of a job.
    private func described(_ matter: Matter, _ news: ReplayNews) -> Matter {
        var matter = matter
        let spec = spec(of: news)
        matter.wish = matter.wish ?? spec?.notify
        matter.topic.labels = spec?.labels ?? [:]
        matter.failures = news.failures
        matter.alertAfter = spec?.alertAfter
        matter.isSameFailure = news.isSameFailure
        if news.failures > 1, let job = matter.topic.job { matter.informed = informed[job] ?? [] }
        let bot = matter.topic.bot.flatMap { rules.bots[$0] }
        if let urgency = spec?.urgency ?? bot?.urgency {
            let isFailure = matter.topic.urgency == .critical
            matter.topic.urgency = isFailure ? urgency : min(urgency, matter.topic.urgency)
        }
        return matter
    }

    // MARK: What happens to it

    private func outcome(of verdict: Verdict, _ news: ReplayNews) -> ReplayOutcome {
        let isLevel = rules.dispatch.channels.contains { $0.name == verdict.channel && $0.isLevel }
        switch verdict.action {
        case .send(let dispatch):
            var quiet: String?
            if dispatch.isSilent || dispatch.reason == RingReason.tooSoon.rawValue { quiet = dispatch.reason }
            // The count of the item rises.
            if isLevel, news.isSameFailure { quiet = RingReason.sameFailure.rawValue }
            return ReplayOutcome(action: quiet == nil ? .rang : .silent, stage: verdict.stage, reason: quiet)
        case .hold(_, let until, let reason):
            return ReplayOutcome(
                action: .held, stage: verdict.stage, reason: reason.rawValue, until: until, rule: verdict.rule
            )
        case .suppress(let reason):
            return ReplayOutcome(
                action: .suppressed, stage: verdict.stage, reason: reason.rawValue, until: verdict.until,
                rule: verdict.rule)
        }
    }

    private mutating func note(
        _ outcome: ReplayOutcome, of channel: String, _ matter: Matter, _ news: ReplayNews
    ) {
        if outcome.action == .rang, let bot = matter.topic.bot,
            let budget = rules.dispatch.restraint(of: bot).budget
        {
            interruptions.note(on: channel, bot, at: news.at, budget: budget)
        }
        guard let job = matter.topic.job, news.failures > 0, outcome.action != .suppressed else { return }
        informed[job, default: []].insert(channel)
    }

    private mutating func remember(_ matter: Matter, _ news: ReplayNews) {
        guard let job = matter.topic.job else { return }
        switch news.event.fact {
        case .runFailed, .runLost:
            let isCause = rules.dispatch.inhibitions.contains { $0.isCause(matter.topic) }
            failing[job] = isCause ? matter.topic : nil
        case .runCompleted: failing[job] = nil
        case .runRecovered: informed[job] = nil
        default: break
        }
    }
}
