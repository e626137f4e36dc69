import Grouping
package import Timeline

/// Lets other channels have a matter first: what somebody has seen by then is not sent any more.
///
/// A channel that edits in place has everything at once. For the others two rules lead here. A route with a wait
/// (`after: 15m`) leads to its channels only when nobody has read, dismissed or answered the matter meanwhile, and it is
/// not over. A question with a grace is asked at once where it is edited in
/// place, and elsewhere when it is still open at the grace's end.
///
/// Whoever carries the verdict out takes what is held out of line when somebody has seen it.
package struct EscalationStage: DispatchStage {
    package var name: StageName { .escalation }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        guard !channel.isLevel, matter.canBeHeld, let begin = matter.escalatesFrom(at: now) else {
            return .pass
        }
        var release = begin
        if matter.only == nil {
            release = begin + rules.routing.wait(for: matter, to: channel.name, at: now)
        }
        if let grace = matter.graceUntil, rules.channels.contains(where: \.isLevel) {
            release = max(release, grace)
        }
        guard release > now else { return .pass }
        return matter.isClosedQuestion
            ? .suppress(.answeredBefore) : .hold(until: release, .othersFirst)
    }
}

extension Matter {
    /// From when on channels wait for others; nil: what is over, or good news, waits for nobody.
    fileprivate func escalatesFrom(at now: Moment) -> Moment? {
        switch subject {
        case .fact(.runCompleted), .fact(.runRecovered), .fact(.runCanceled), .fact(.runStarted),
            .fact(.channelRestored), .fact(.ledgerRestored), .fact(.configReloaded):
            return nil
        case .fact(let fact): return fact.askedAt ?? now
        case .version(let version): return version.at
        case .read, .brief: return nil
        }
    }

    /// Until when a question is asked only where it is edited in place.
    fileprivate var graceUntil: Moment? {
        if case .fact(let fact) = subject { fact.question?.question?.graceUntil } else { nil }
    }

    fileprivate var isClosedQuestion: Bool {
        if case .fact(let fact) = subject { fact.question?.end != nil } else { false }
    }
}

extension Fact {
    fileprivate var question: QuestionNews? {
        switch self {
        case .questionAsked(let news), .questionAnswered(let news), .questionExpired(let news),
            .questionWithdrawn(let news):
            news
        default: nil
        }
    }

    /// When the question that it is about was asked.
    fileprivate var askedAt: Moment? { question?.question?.askedAt }
}
