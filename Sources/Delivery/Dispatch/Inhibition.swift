package import Timeline
import Tracking

/// Keeps quiet what the failure of another job explains: while `ping` of a host fails, the jobs on that host do.
package struct Inhibition: Hashable, Sendable {
    /// What must fail: all of these hold for it.
    package var failing: [Matcher]
    /// What is kept quiet meanwhile: all of these hold for it.
    package var silences: [Matcher]
    /// The labels that both must have, with the same value.
    package var equal: [String]

    /// A rule.
    package init(failing: [Matcher], silences: [Matcher], equal: [String]) {
        self.failing = failing
        self.silences = silences
        self.equal = equal
    }

    /// Whether a job that fails can be what explains others.
    package func isCause(_ topic: Topic) -> Bool {
        failing.allSatisfy { $0.matches(topic, on: "", event: RouteWord.failed.rawValue) }
    }

    /// Whether the failure of `cause` explains the matter; nothing explains itself.
    ///
    /// As in Alertmanager a label that is missing on both sides is equal, and what could itself be such a cause is not
    /// kept quiet by another one.
    func explains(_ matter: Matter, on channel: String, by cause: Topic) -> Bool {
        let topic = matter.topic
        return cause.job != topic.job && isCause(cause)
            && silences.allSatisfy { $0.matches(matter, on: channel) } && !isCause(topic)
            && equal.allSatisfy { (cause.labels[$0] ?? "") == (topic.labels[$0] ?? "") }
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
