import Grouping
package import Timeline

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
            guard case .messages = version.content else { return .ignore }
        }
        if let only = matter.only { return only.contains(channel.name) ? .pass : .ignore }
        var named = rules.routing.channels(for: matter.type, about: matter.troubled)
        if matter.wish == .always && matter.isEnd || matter.wish?.names(matter.type) == true {
            named += rules.routing.channels(for: EventType.runFailed.rawValue)
        }
        return named.contains(channel.name) ? .pass : .ignore
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
