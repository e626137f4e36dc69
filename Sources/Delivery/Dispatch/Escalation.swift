import Grouping
package import Timeline

/// Lets other channels have a matter first: what somebody has seen by then is not sent any more.
///
/// Two rules lead here. A route with a wait (`after: 15m`) leads to its channels only when nobody has read, dismissed or
/// answered the matter meanwhile, and it is not over; a channel that edits in place never waits by a route. A question
/// with a grace is asked on the desktop at once, and elsewhere when it is still open at the grace's end.
///
/// Whoever carries the verdict out takes what is held out of line when somebody has seen it.
package struct EscalationStage: DispatchStage {
    package var name: StageName { .escalation }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        guard !channel.isNear, matter.canBeHeld, let begin = matter.escalatesFrom(at: now) else {
            return .pass
        }
        var release = channel.isLevel ? now : begin
        if matter.only == nil, !channel.isLevel, rules.routing.hasWaits {
            release = begin + rules.routing.wait(for: matter, to: channel.name, at: now)
        }
        if let grace = matter.graceUntil, rules.channels.contains(where: \.isNear) {
            release = max(release, grace)
        }
        guard release > now else { return .pass }
        return matter.isClosedQuestion
            ? .suppress(.answeredBefore) : .hold(until: release, .othersFirst)
    }
}

extension Matter {
    /// From when on channels wait for others; nil: what has ended, or good news, waits for nobody.
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

    /// Until when a question is asked on the desktop only.
    fileprivate var graceUntil: Moment? {
        switch subject {
        case .fact(let fact): return fact.question?.question?.graceUntil
        case .version(let version):
            guard case .question(let question) = version.content else { return nil }
            return question.graceUntil
        case .read, .brief: return nil
        }
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
