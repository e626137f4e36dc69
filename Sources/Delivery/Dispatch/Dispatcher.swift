import Grouping
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
/// 1. A struct that is a ``DispatchStage``: below, or in a file of its own beside this one where it is long. What it
///    decides by comes in as values: its settings are a member of ``DispatchRules/Channel``, or of ``DispatchRules``
///    where they are for all. Rules are per channel, never those of several channels together.
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

    /// The standard stages but for those `leftOut`, and `more`, each at its place in the order.
    package init(adding more: [any DispatchStage] = [], without leftOut: Set<StageName> = []) {
        stages = (Self.standard.filter { !leftOut.contains($0.name) } + more)
            .sorted { $0.name.place < $1.name.place }
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

// The stages, in their order; the last one, which waits for other channels, is in `Escalation.swift`.

/// Lets through what a route names the channel for.
///
/// What a job, or whoever ran it by `belfry exec`, asks for by name goes where failures go, too.
package struct RouteStage: DispatchStage {
    package var name: StageName { .route }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        // Where items are not edited in place, a job's events are sent, not what its item shows.
        if case .version(let version) = matter.subject, !channel.isLevel {
            if !matter.isReminder { guard case .messages = version.content else { return .ignore } }
        }
        // A mail every quarter of a minute is no progress.
        if matter.type == EventType.runProgress.rawValue, !channel.takesProgress { return .ignore }
        if let only = matter.only { return only.contains(channel.name) ? .pass : .ignore }
        let named = matter.named ?? rules.routing.channels(for: matter, at: now)
        if named.contains(channel.name) { return .pass }
        if matter.wish == .always && matter.isEnd || matter.wish?.names(matter.type) == true,
            rules.routing.channels(for: EventType.runFailed.rawValue).contains(channel.name)
        {
            return .pass
        }
        // A person may wonder why a route that names the event did not lead there.
        let mayBeNamed = rules.routing.channels(for: matter.type, about: matter.troubled)
        return mayBeNamed.contains(channel.name) ? .suppress(.otherConditions) : .ignore
    }
}

/// Keeps back all that a bot says and does which is switched off, and failures until there are enough in a row.
///
/// A question is shown in any case: somebody waits for its answer.
package struct ShownStage: DispatchStage {
    package var name: StageName { .shown }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        let restraint = rules.restraint(of: matter.topic.bot)
        guard matter.canBeHeld, !matter.isQuestion else { return .pass }
        guard restraint.isShown else { return .suppress(.switchedOff) }
        let least = matter.alertAfter ?? restraint.alertAfter
        guard matter.isFailure, let failures = matter.failures, failures < least else { return .pass }
        return .suppress(.fewFailures)
    }
}

/// Keeps back what the job, or whoever wrapped the command, does not want to hear of.
package struct WishStage: DispatchStage {
    package var name: StageName { .wish }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        switch matter.wish {
        case nil, .always: return .pass
        case .never: return .suppress(.notWished)
        case .failure:
            let failures: [EventType] = [.runFailed, .runLost, .runStuck, .runBlocked, .runRecovered]
            return failures.contains { $0.rawValue == matter.type } ? .pass : .suppress(.notWished)
        case .only:
            // That a run is at work is no outcome: of that the routes decide.
            let isOutcome = RouteWord(eventType: matter.type).map(NotifyWish.outcomes.contains) ?? false
            return isOutcome && matter.wish?.names(matter.type) == false ? .suppress(.notWished) : .pass
        }
    }
}

/// Keeps back what is routine where nobody wrote routes, and the start of a run until it has lasted a while.
///
/// What is sent only once can't be replaced by the result: there a start is sent by a route that names it, or not at all.
package struct RoutineStage: DispatchStage {
    package var name: StageName { .routine }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        if case .brief = matter.subject { return channel.isLevel ? .suppress(.shortRun) : .ignore }
        guard rules.routing.isDefault, case .fact = matter.subject else { return .pass }
        if let reason = Routine.reason(toLeaveOut: matter) { return .suppress(reason) }
        guard matter.type == EventType.runStarted.rawValue else { return .pass }
        guard channel.isLevel else { return .suppress(.routine) }
        let shownAt = (matter.run?.startedAt ?? now) + Routine.workAfter
        return now < shownAt ? .hold(until: min(shownAt, now + Routine.workAfter), .justStarted) : .pass
    }
}

/// Lets a recovery through where the failure was sent: a channel that had no failure has nothing to recover.
///
/// A channel whose routes name recoveries and no failures asked for recoveries alone, and gets every one. The channels
/// are listed in the recovery itself, so that neither a channel that was added later nor the retention of
/// verdicts plays a part.
package struct RecoveryStage: DispatchStage {
    package var name: StageName { .recovery }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        guard case .fact(.runRecovered(let recovery)) = matter.subject, let informed = recovery.channels,
            !informed.contains(channel.name),
            rules.routing.channels(for: EventType.runFailed.rawValue).contains(channel.name)
        else { return .pass }
        return .suppress(.failureNotSent)
    }
}

/// Sends people a failure of a scheduled job once, as long as it fails in the same way: a job that runs every minute would
/// send a mail every minute.
///
/// Programs are sent each run's end, for that is what they act on; so is whoever asks for it by `failures: each` of the bot,
/// or by the job's own `notify`. Where items are edited in place, the item counts.
package struct ChangeStage: DispatchStage {
    package var name: StageName { .change }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        guard !channel.isLevel, channel.audience == .people, matter.isFailure, matter.isSameFailure,
            case .fact = matter.subject, matter.run?.isAsked == false,
            matter.informed.contains(channel.name), matter.wish != .always,
            matter.wish?.names(matter.type) != true, !rules.restraint(of: matter.topic.bot).sendsEachFailure
        else { return .pass }
        return .suppress(.unchanged)
    }
}

/// Keeps back the item of a job that the item of a storm lists, where items are edited in place.
///
/// What is sent only once is sent for each job: an entry is the edge that a receiver acts on, one it can't take back, and
/// a list that grows would be sent again and again.
package struct StormStage: DispatchStage {
    package var name: StageName { .storm }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        matter.isListed && channel.isLevel ? .suppress(.listed) : .pass
    }
}

/// Keeps away what a person put away until something rings, and what a person read before it was shown.
package struct DismissalStage: DispatchStage {
    package var name: StageName { .dismissal }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        switch matter.subject {
        case .version(let version) where version.isDismissed && channel.isLevel: .suppress(.dismissed)
        case .read: .suppress(.read)
        case .version, .fact, .brief: .pass
        }
    }
}

/// Keeps back what a person silenced.
///
/// Where items are edited in place it is held: what is still so when the silence ends is shown then, and what is on the
/// screen already goes on without a sound. What is sent only once is not sent. A recovery follows its failure in any
/// case, and a test is what its asker waits for.
package struct SilenceStage: DispatchStage {
    package var name: StageName { .silence }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        guard !rules.silenced.all.isEmpty, matter.canBeHeld,
            let silence = rules.silenced.last(
                for: matter.topic, on: channel.name, event: matter.word?.rawValue, at: now)
        else { return .pass }
        guard channel.isLevel else {
            if case .fact(.runRecovered) = matter.subject { return .pass }
            return .suppress(.silenced, until: silence.until, rule: silence.rule)
        }
        if matter.shownOn.contains(channel.name) { return .change(dispatch.silent(.silenced)) }
        return .hold(until: silence.until, .silenced, rule: silence.rule)
    }
}

/// Keeps back what is not critical in the quiet hours of its bot.
///
/// What is on the screen already goes on without a sound; all else is shown at their end. A question that must be
/// answered before is asked at once.
package struct QuietHoursStage: DispatchStage {
    package var name: StageName { .quietHours }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        guard matter.canBeHeld, !matter.isWanted, matter.topic.urgency < .critical,
            channel.audience != .pagers,
            let end = rules.restraint(of: matter.topic.bot).quiet?.end(at: now)
        else { return .pass }
        if let deadline = matter.deadline, deadline <= end { return .pass }
        if channel.isLevel, matter.shownOn.contains(channel.name) {
            return .change(dispatch.silent(.quietHours))
        }
        return .hold(until: end, .quietHours)
    }
}

/// Keeps back what the failure of another job explains.
///
/// Of a job, or a message of one; a recovery follows its failure in any case.
package struct InhibitionStage: DispatchStage {
    package var name: StageName { .inhibition }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        guard !rules.inhibitions.isEmpty, matter.canBeHeld, matter.topic.job != nil, !matter.isQuestion else {
            return .pass
        }
        let cause = matter.failingJobs.first { cause in
            rules.inhibitions.contains { $0.explains(matter, on: channel.name, by: cause) }
        }
        guard let job = cause?.job else { return .pass }
        if matter.isRecovery { return .pass }
        if channel.isLevel, matter.shownOn.contains(channel.name) {
            return .change(dispatch.silent(.inhibited))
        }
        return .suppress(.inhibited, rule: "\(job) fails")
    }
}

/// Keeps back what rings when its bot has interrupted often enough within the last hour on this channel.
///
/// Nothing is dropped: it is shown once there is room again, together with what came meanwhile.
package struct BudgetStage: DispatchStage {
    package var name: StageName { .budget }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        // Progress disturbs nobody.
        guard !dispatch.isSilent, matter.canBeHeld, !matter.isWanted, !matter.isProgress,
            matter.topic.urgency < .critical, channel.audience != .pagers,
            let budget = rules.restraint(of: matter.topic.bot).budget, matter.rings(on: channel.name),
            let room = matter.interruptions.room(within: budget, on: channel.name, matter.topic.bot, at: now)
        else { return .pass }
        if let deadline = matter.deadline, deadline <= room { return .pass }
        if channel.isLevel, matter.shownOn.contains(channel.name) {
            return .change(dispatch.silent(.overBudget))
        }
        return .hold(until: room, .overBudget)
    }
}

/// Lets the messages of a thread take the place of what waits for the channel of the same thread: nobody is sent three
/// groups where the last one says everything.
package struct GroupingStage: DispatchStage {
    package var name: StageName { .grouping }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        guard !channel.isLevel, case .version(let version) = matter.subject,
            case .messages = version.content
        else { return .pass }
        var grouped = dispatch
        grouped.takesPlace = true
        return .change(grouped)
    }
}
