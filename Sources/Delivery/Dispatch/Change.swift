package import Timeline

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
