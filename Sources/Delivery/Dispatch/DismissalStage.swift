import Grouping
package import Timeline

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
