import Grouping
package import Timeline

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
