import Grouping
package import Timeline

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
