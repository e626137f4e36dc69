package import Timeline

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
