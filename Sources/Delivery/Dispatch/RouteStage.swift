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
