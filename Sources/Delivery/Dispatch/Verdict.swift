package import Grouping
package import Timeline
import Tracking

/// What was decided about one matter for one channel, and by which stage.
package struct Verdict: Hashable, Sendable {
    /// The decision for that channel.
    package enum Action: Hashable, Sendable {
        /// It is sent, or shown, now.
        case send(Dispatch)
        /// It is held until that moment.
        case hold(Dispatch, until: Moment, DispatchReason)
        /// It is not sent.
        case suppress(DispatchReason)
    }

    /// The channel's name.
    package var channel: String
    /// The stage that decided.
    package var stage: StageName
    /// What it decided.
    package var action: Action
    /// The rule of a person that it decided by, as `silence 3f2a91c0`; nil: none, or there is only one.
    package var rule: String?
    /// When the rule that keeps it from being sent ends, where it is suppressed.
    package var until: Moment?

    /// A verdict.
    package init(
        channel: String, stage: StageName, action: Action, rule: String? = nil, until: Moment? = nil
    ) {
        self.channel = channel
        self.stage = stage
        self.action = action
        self.rule = rule
        self.until = until
    }
}

/// What goes to a channel.
package struct Dispatch: Hashable, Sendable {
    /// The type it is sent as, as `run.failed` or `message.group`.
    package var type: String
    /// Why, as an enum's text: that of the event, or why the item rings or does not.
    package var reason: String
    /// Whether it takes the place of what waits for the channel of the same item and was never tried.
    package var takesPlace = false
    /// Whether it is shown without a ring although it has one.
    package var isSilent = false

    /// What goes to a channel, as something new.
    package init(type: String, reason: String) {
        self.type = type
        self.reason = reason
    }

    /// The same without a ring, for this reason.
    func silent(_ reason: DispatchReason) -> Dispatch {
        var silent = self
        (silent.isSilent, silent.reason) = (true, reason.rawValue)
        return silent
    }
}

/// Why something was held or not sent: shown to people, stored, and the metric label.
package enum DispatchReason: String, Hashable, Codable, Sendable, CaseIterable {
    /// No route names it.
    case noRoute
    /// The job, or whoever ran `belfry exec`, asks not to hear of it.
    case notWished
    /// A run has only just started.
    case justStarted
    /// A run was too short for the default route.
    case shortRun
    /// A scheduled run completed, and nobody wrote routes.
    case scheduledSuccess
    /// The default route leaves it out.
    case routine
    /// The failure that has ended was not sent to this channel.
    case failureNotSent
    /// The channel was sent the same failure before, and nothing changed.
    case unchanged
    /// It is listed with other jobs that failed alike.
    case listed
    /// A person put the item away, and this is no news.
    case dismissed
    /// A person read it before it was shown.
    case read
    /// A person silenced it for a while.
    case silenced
    /// Its bot is switched off.
    case switchedOff
    /// The job has failed fewer times in a row than it takes.
    case fewFailures
    /// Routes name it, under conditions that do not hold.
    case otherConditions
    /// Its bot rests at this time of day.
    case quietHours
    /// The failure of another job explains it.
    case inhibited
    /// Its bot has interrupted as often as it may within an hour.
    case overBudget
    /// Other channels have it first.
    case othersFirst
    /// It was answered before this channel was to ask.
    case answeredBefore
    /// It was held, and came with others in one digest.
    case digest
    /// Somebody saw it elsewhere while a rule kept it back.
    case seenElsewhere

    /// The reason as the fragment of a sentence.
    package var words: String {
        switch self {
        case .noRoute: "no route names it"
        case .notWished: "the notify setting of its job excludes it"
        case .justStarted: "the run has only just started"
        case .shortRun: "the run was short, and no route asks for short runs"
        case .scheduledSuccess: "a scheduled run completed, and no route asks for that"
        case .routine: "no route asks for it"
        case .failureNotSent: "the failure was not sent to this channel"
        case .unchanged: "the job fails as it did when you were last notified"
        case .listed: "it is listed in one notice with other jobs that failed alike"
        case .dismissed: "you dismissed it"
        case .read: "it was read before it was shown"
        case .silenced: "it is silenced"
        case .switchedOff: "the notifications of its bot are switched off"
        case .fewFailures: "the job has not failed often enough in a row"
        case .otherConditions: "the conditions of its routes do not hold"
        case .inhibited: "another failure explains it"
        case .overBudget: "its bot has used up its interruptions for this hour"
        case .quietHours: "quiet hours"
        case .othersFirst: "other channels have it first"
        case .answeredBefore: "the question was closed before this channel was to ask it"
        case .digest: "it came in a digest of what was held"
        case .seenElsewhere: "somebody saw it while it was held"
        }
    }
}

/// What is dispatched: an event, or a version of an item.
package struct Matter: Sendable {
    /// What it is about; kept once for all stages, which are given a copy each.
    package indirect enum Subject: Sendable {
        /// Something happened. Channels without surfaces are sent it; others show the item that heard of it.
        case fact(Fact)
        /// An item has something new to show.
        case version(ItemSnapshot)
        /// A person read a thread before its news was shown.
        case read(ItemKey)
        /// A run was over before it was shown.
        case brief(ItemKey)
    }

    /// What it is about.
    package var subject: Subject
    /// What routes name it by.
    package var type: String
    /// Why, as an enum's text.
    package var reason: String
    /// The channel that it is about, which never hears of its own trouble.
    package var troubled: String?
    /// The channels it may go to, whatever the routes say; `nil`: those of the routes.
    package var only: [String]?
    /// What the job, or whoever ran it by `belfry exec`, asks for.
    package var wish: NotifyWish?
    /// Whether the run that it is about has ended.
    package var isEnd = false
    /// Whether the item of a storm lists it.
    package var isListed = false
    /// The run that it is about, as far as the default route asks.
    package var run: RoutineRun?
    /// What it is about, as far as rules ask.
    package var topic: Topic
    /// The channels that show an earlier version of the item.
    package var shownOn: Set<String> = []
    /// Whether somebody waits for it to see that a channel works.
    package var isTest = false
    /// Whether it reminds of a failure whose acknowledgement expired: that is sent, too, where items are not edited.
    package var isReminder = false
    /// The channels that routes name for it now; nil: they were not asked yet.
    var named: [String]?
    /// The word of its type; nil: it was not asked for yet, or no route can name it.
    var word: RouteWord?
    /// Whether a person asked for it, or it sums up what was kept back: quiet hours and budgets do not apply.
    package var isWanted = false
    /// The channels on which a version that was kept back would have rung.
    package var owedOn: Set<String> = []
    /// How often in a row the job has failed, this failure included; nil: it is none, or that is not known.
    package var failures: Int?
    /// Whether the job failed in the same way before.
    package var isSameFailure = false
    /// The channels that failures were sent to since the job was last well, and arrived at or still may.
    package var informed: Set<String> = []
    /// The failures in a row after which the job notifies; nil: as its bot has it.
    package var alertAfter: Int?
    /// When bots interrupted within the last hour.
    package var interruptions = Interruptions()
    /// The jobs that fail now and may explain others.
    package var failingJobs: [Topic] = []

    /// Whether it is the failure of a run.
    var isFailure: Bool {
        switch subject {
        case .fact(.runFailed), .fact(.runLost): return true
        case .version(let version):
            guard case .job(let report) = version.content else { return false }
            return report.fact.state.isFailure
        case .fact, .read, .brief: return false
        }
    }

    /// Whether it is the success that ends failures.
    var isRecovery: Bool {
        switch subject {
        case .fact(.runRecovered): return true
        case .version(let version):
            guard case .job(let report) = version.content else { return false }
            return report.news == .recovered
        case .fact, .read, .brief: return false
        }
    }

    /// Whether it is about a question.
    var isQuestion: Bool { type.hasPrefix("question.") }

    /// Until when somebody waits for an answer; nil: it is no question, or has no end.
    package var deadline: Moment? {
        switch subject {
        case .fact(.questionAsked(let news)): return news.question?.deadline
        case .version(let version):
            guard case .question(let question) = version.content else { return nil }
            return question.deadline
        case .fact, .read, .brief: return nil
        }
    }

    /// Whether it would ring on a channel, as far as the item knows; what is sent once always does.
    func rings(on channel: String) -> Bool {
        guard case .version(let version) = subject else { return true }
        return version.reason.rings || owedOn.contains(channel)
    }

    /// Whether it is how far a run is, as an event.
    var isProgress: Bool { if case .fact(.runProgress) = subject { true } else { false } }

    /// Whether a rule may keep it back: what was asked for as a test is not, nor what is only a note of the past.
    var canBeHeld: Bool {
        switch subject {
        case .read, .brief: false
        case .fact, .version: !isTest && type != EventType.test.rawValue
        }
    }

    /// An event.
    package init(_ fact: Fact) {
        let columns = fact.columns
        topic = Topic(fact)
        subject = .fact(fact)
        type = fact.type.rawValue
        reason = columns.reason ?? type.split(separator: ".").last.map(String.init) ?? type
        troubled = columns.channel
    }

    /// A version of an item, on the channels that may show it.
    package init(_ version: ItemSnapshot, only: [String]?) {
        subject = .version(version)
        topic = Topic(version)
        reason = version.reason.rawValue
        switch version.content {
        case .messages: type = EventType.messageGroup.rawValue
        case .job(let report): type = "run.\(report.news.rawValue)"
        // Also when it has ended: that replaces what was shown of it.
        case .storm: type = EventType.runFailed.rawValue
        case .question: type = EventType.questionAsked.rawValue
        }
        self.only = only
    }

    /// That a thread was read before its news was shown on the channels that may show it.
    package init(readBeforeShown item: ItemKey, only: [String]?) {
        subject = .read(item)
        topic = Topic()
        type = EventType.messageGroup.rawValue
        reason = DispatchReason.read.rawValue
        self.only = only
    }

    /// That a run was over before it was shown on the channels that may show it.
    package init(overBeforeShown item: ItemKey, only: [String]?) {
        subject = .brief(item)
        topic = Topic()
        type = EventType.runStarted.rawValue
        reason = DispatchReason.shortRun.rawValue
        self.only = only
    }
}

/// What dispatch decides by.
package struct DispatchRules: Hashable, Sendable {
    /// A channel, and what is its own of the rules.
    package struct Channel: Hashable, Sendable {
        /// Its name.
        package var name: String
        /// Whether it edits items in place; others are sent entries.
        package var isLevel: Bool
        /// Whether it is where a person sits: a question with a grace is asked there at once.
        package var isNear: Bool
        /// Who is at its other end.
        package var audience: Audience
        /// Whether it can bear the progress of runs: it edits in place, replaces what it was sent, or is a program.
        package var takesProgress: Bool

        /// A channel; left out, one is near that edits in place, and people are there; programs are elsewhere.
        package init(
            _ name: String, isLevel: Bool, isNear: Bool? = nil, audience: Audience? = nil,
            takesProgress: Bool? = nil
        ) {
            self.name = name
            self.isLevel = isLevel
            self.isNear = isNear ?? isLevel
            self.audience = audience ?? (isLevel ? .people : .programs)
            self.takesProgress = takesProgress ?? (isLevel || self.audience == .programs)
        }
    }

    /// Who is named for what.
    package var routing: Routing
    /// The channels there are.
    package var channels: [Channel]
    /// What people silenced, also what has ended or has not begun.
    package var silences: [Silence] {
        get { silenced.all }
        set { silenced = Silences(newValue) }
    }
    /// The same, found by what they are about.
    package var silenced = Silences()

    /// How much each bot may disturb; others may as much as they like.
    package var restraints: [String: Restraint] = [:]
    /// What explains what.
    package var inhibitions: [Inhibition] = []

    /// Whether a rule asks for the labels of jobs.
    package var needsLabels: Bool {
        !inhibitions.isEmpty || silences.contains { $0.matchers.contains(where: \.needsLabels) }
            || routing.routes.contains { $0.about.contains(where: \.needsLabels) }
    }

    /// How much a bot may disturb; nil: nobody speaks.
    package func restraint(of bot: String?) -> Restraint { bot.flatMap { restraints[$0] } ?? Restraint() }

    /// Rules for channels.
    package init(routing: Routing, channels: [Channel]) {
        self.routing = routing
        self.channels = channels
    }
}

/// What a matter is about, as far as rules ask: whose it is, and how much it disturbs.
package struct Topic: Hashable, Codable, Sendable {
    /// The job's name; nil: it is about none.
    package var job: String?
    /// The bot that speaks, or owns the job.
    package var bot: String?
    /// The labels of the job.
    package var labels: [String: String]
    /// How much it disturbs.
    package var urgency: Urgency

    /// About nothing in particular, unless parts are named.
    package init(
        job: String? = nil, bot: String? = nil, labels: [String: String] = [:], urgency: Urgency = .normal
    ) {
        self.job = job
        self.bot = bot
        self.labels = labels
        self.urgency = urgency
    }

    /// That of an event, without the labels of its job.
    init(_ fact: Fact) {
        let columns = fact.columns
        let urgency: Urgency =
            switch fact {
            case .runFailed, .runLost, .ledgerFull, .expectLate: .critical
            case .runStarted, .runProgress: .low
            default: .normal
            }
        self.init(job: columns.job, bot: columns.bot, urgency: urgency)
    }

    /// That of a version of an item, without the labels of its job.
    init(_ version: ItemSnapshot) {
        self.init(job: Self.job(of: version), bot: version.bot, urgency: version.urgency)
    }

    /// The job that a version is about; what its runs say, and ask, is.
    ///
    /// Of a thread only where all that it shows was said by runs of one job.
    package static func job(of version: ItemSnapshot) -> String? {
        func job(of run: String?) -> String? { run?.split(separator: "#").first.map(String.init) }
        switch version.content {
        case .job(let report): return report.job
        case .question(let question): return job(of: question.run)
        case .messages(_, let last):
            let jobs = Set(last.map { job(of: $0.run) })
            return jobs.count == 1 ? jobs.first ?? nil : nil
        case .storm: return nil
        }
    }
}
