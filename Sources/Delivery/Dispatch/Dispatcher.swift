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
    /// Whether the channel was notified of the failure that is over now.
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
