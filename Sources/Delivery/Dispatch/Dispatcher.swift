package import Grouping
package import Timeline

/// The stages of dispatch, in their order; the names are what `belfry why` shows.
///
/// Not every one has something to decide yet: those that do are in ``Dispatcher/standard``.
package enum StageName: String, Hashable, Codable, Sendable, CaseIterable {
    /// Whether a route names the channel.
    case route
    /// Whether its bot is switched off, or a job has failed too few times.
    case shown
    /// What whoever ran `belfry exec` asked for.
    case wish
    /// Whether it is worth a notice where nobody wrote routes.
    case routine
    /// Whether the channel was notified of the failure that has ended now.
    case recovery
    /// Whether people were notified of the same failure before.
    case change
    /// Whether it is shown as one with other jobs that failed alike.
    case storm
    /// Whether a person has put it away, or read it, already.
    case dismissal
    /// Whether a person silenced it for a while.
    case silence
    /// Whether it is a time of day at which its bot, or the channel, rests.
    case quietHours
    /// Whether something else that fails explains it.
    case inhibition
    /// Whether its bot has interrupted often enough for now.
    case budget
    /// Whether it joins what waits for the channel.
    case grouping
    /// Whether other channels have it first, and this one only where nobody has seen it by then.
    case escalation

    fileprivate var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// One stage: decides, for one channel, about what has come through the stages before it.
///
/// ## To add one more
///
/// 1. A struct that is a ``DispatchStage``: in a file of its own beside this one, or among those of a few lines in
///    `Stages.swift`. What it decides by comes in as values: its settings are a member of ``DispatchRules/Channel``, or
///    of ``DispatchRules`` where they are for all. Rules are per channel, never those of several channels together.
/// 2. A case of ``StageName`` at its place in the order, unless there is one; its reasons go into ``DispatchReason``,
///    with their words.
/// 3. A line in ``Dispatcher/standard``, and a test in `Tests/DeliveryTests/Dispatching.swift`.
///
/// The rest follows: the verdict is stored, `belfry why` shows it, an entry that is held is kept in the outbox until its
/// moment, an item that is held is looked at again then.
package protocol DispatchStage: Sendable {
    /// Its place in the order.
    var name: StageName { get }

    /// The verdict on `dispatch`.
    func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision
}

/// What a stage decides.
package enum StageDecision: Hashable, Sendable {
    /// Nothing: the next stage looks at it.
    case pass
    /// It goes on in this form.
    case change(Dispatch)
    /// It is held until that moment; a rule of a person is named.
    case hold(until: Moment, DispatchReason, rule: String? = nil)
    /// It is not sent; a rule of a person is named, with its end.
    case suppress(DispatchReason, until: Moment? = nil, rule: String? = nil)
    /// The channel is not concerned: there is no verdict.
    case ignore
}

/// Decides who hears what: each channel by itself, by the stages in their order.
///
/// The only place where that is decided. Pure: whoever asks carries the verdicts out and stores them, in one
/// transaction.
///
/// - Source: the pipeline of Alertmanager, `notify.MultiStage`.
package struct Dispatcher: Sendable {
    /// The stages that have something to decide.
    package static let standard: [any DispatchStage] = [
        RouteStage(), ShownStage(), WishStage(), RoutineStage(), RecoveryStage(), ChangeStage(), StormStage(),
        DismissalStage(), SilenceStage(), QuietHoursStage(), InhibitionStage(), BudgetStage(),
        GroupingStage(), EscalationStage(),
    ]

    private let stages: [any DispatchStage]

    /// The standard stages, and `more`, each at its place in the order.
    package init(adding more: [any DispatchStage] = []) {
        stages = (Self.standard + more).sorted { $0.name.place < $1.name.place }
    }

    /// One verdict for each channel that the matter concerns, in the order of the rules.
    package func dispatch(_ matter: Matter, by rules: DispatchRules, at now: Moment) -> [Verdict] {
        var matter = matter
        // The same for every channel.
        matter.word = RouteWord(eventType: matter.type)
        if matter.only == nil { matter.named = rules.routing.channels(for: matter, at: now) }
        return rules.channels.compactMap { verdict(on: matter, for: $0, by: rules, at: now) }
    }

    private func verdict(
        on matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules, at now: Moment
    ) -> Verdict? {
        var dispatch = Dispatch(type: matter.type, reason: matter.reason)
        var silencer = StageName.route
        for stage in stages {
            switch stage.review(dispatch, of: matter, for: channel, by: rules, at: now) {
            case .pass: continue
            case .ignore: return nil
            case .change(let changed):
                if changed.isSilent, !dispatch.isSilent { silencer = stage.name }
                dispatch = changed
            // Of how far a run was then nobody wants to read later; what it comes to is an event of its own.
            case .hold(let until, let reason, let rule) where matter.isProgress:
                return Verdict(
                    channel: channel.name, stage: stage.name, action: .suppress(reason), rule: rule,
                    until: until)
            case .hold(let until, let reason, let rule):
                let action = Verdict.Action.hold(dispatch, until: until, reason)
                return Verdict(channel: channel.name, stage: stage.name, action: action, rule: rule)
            case .suppress(let reason, let until, let rule):
                return Verdict(
                    channel: channel.name, stage: stage.name, action: .suppress(reason), rule: rule,
                    until: until)
            }
        }
        return Verdict(channel: channel.name, stage: silencer, action: .send(dispatch))
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

/// A matter that a rule keeps back from a channel that sends things once: what it takes to decide about it again at its
/// release, and to list it in a digest.
///
/// Stored beside the entry, whose bytes say nothing about any of it.
package struct HeldMatter: Hashable, Codable, Sendable {
    /// The rule that keeps it back.
    package var reason: DispatchReason
    /// The event that the verdict on it is about; nil: it has none of its own.
    package var event: Int64?
    /// What it is about, as far as rules ask.
    package var topic: Topic
    /// One line, as a digest lists it.
    package var line: String
    /// How much it matters among things of the same urgency; see ``relevance(of:)``.
    package var relevance: Int
    /// When it comes to nothing by itself, as a question does: it is not held beyond that; nil: never.
    package var deadline: Moment?

    /// Something that is kept back.
    package init(
        reason: DispatchReason, event: Int64?, topic: Topic, line: String, relevance: Int
    ) {
        self.reason = reason
        self.event = event
        self.topic = topic
        self.line = line
        self.relevance = relevance
    }

    /// Whether it is released by being judged again; another channel's turn just comes to its end.
    package var isJudgedAgain: Bool { Self.judgedAgain.contains(reason) }

    /// The reasons of what is judged again at its release, and can be asked for by `belfry digest`.
    package static let judgedAgain: Set<DispatchReason> = [.quietHours, .overBudget]

    /// Questions first, then failures, then messages, then the rest.
    package static func relevance(of type: String) -> Int {
        switch EventType(rawValue: type) {
        case .questionAsked: 3
        case .runFailed, .runLost, .runBlocked, .runMissed: 2
        case .messageGroup: 1
        default: 0
        }
    }

    /// What rules make of it now, on this channel.
    ///
    /// `type` is what routes name it by. Where a person asked for it (`isWanted`), quiet hours and budgets do not apply.
    package func review(
        type: String, for channel: DispatchRules.Channel, by rules: DispatchRules,
        _ interruptions: Interruptions, isWanted: Bool, at now: Moment
    ) -> Review {
        let restraint = rules.restraint(of: topic.bot)
        guard restraint.isShown else { return .suppress(.shown, .switchedOff) }
        let word = RouteWord(eventType: type)?.rawValue
        if type != EventType.runRecovered.rawValue,
            let last = rules.silenced.last(for: topic, on: channel.name, event: word, at: now)
        {
            return .suppress(.silence, .silenced, until: last.until, rule: last.rule)
        }
        guard !isWanted, channel.audience != .pagers else { return .release }
        if let end = restraint.quiet?.end(at: now), isInTime(end) { return .hold(until: end, .quietHours) }
        if let budget = restraint.budget,
            let room = interruptions.room(within: budget, on: channel.name, topic.bot, at: now),
            isInTime(room)
        {
            return .hold(until: room, .overBudget)
        }
        return .release
    }

    private func isInTime(_ end: Moment) -> Bool { deadline.map { $0 > end } ?? true }

    /// What happens to it.
    package enum Review: Hashable, Sendable {
        /// It is sent now, by itself or in a digest.
        case release
        /// It goes on being held.
        case hold(until: Moment, DispatchReason)
        /// It is not sent.
        case suppress(StageName, DispatchReason, until: Moment? = nil, rule: String? = nil)
    }
}
