import Grouping
package import Timeline

/// How much the messages of a bot, and what its jobs do, may disturb.
package struct Restraint: Hashable, Sendable {
    /// Whether it notifies anybody at all.
    package var isShown = true
    /// The failures in a row after which a job notifies.
    package var alertAfter = 1
    /// When only what is critical is shown.
    package var quiet: DailyHours?
    /// Whether people are sent each failure of a scheduled job, also one that is like those before it.
    package var sendsEachFailure = false
    /// How often an hour it may interrupt on one channel; nil: as often as it likes.
    package var budget: Int?
    /// How long it holds that somebody acknowledged a failure, before a reminder follows; nil: for as long as it fails.
    package var acknowledgedFor: Duration?

    /// None.
    package init() {}
}

/// Keeps back all that a bot says and does which is switched off, and failures until there are enough in a row.
///
/// A question is shown in any case: somebody waits for its answer.
package struct ShownStage: DispatchStage {
    package var name: StageName { .shown }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        let restraint = rules.restraint(of: matter.topic.bot)
        guard matter.canBeHeld, !matter.isQuestion else { return .pass }
        guard restraint.isShown else { return .suppress(.switchedOff) }
        let least = matter.alertAfter ?? restraint.alertAfter
        guard matter.isFailure, let failures = matter.failures, failures < least else { return .pass }
        return .suppress(.fewFailures)
    }
}

/// Keeps back what is not critical in the quiet hours of its bot.
///
/// What is on the screen already goes on without a sound; all else is shown at their end. A question that must be
/// answered before is asked at once.
package struct QuietHoursStage: DispatchStage {
    package var name: StageName { .quietHours }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        guard matter.canBeHeld, !matter.isWanted, matter.topic.urgency < .critical,
            channel.audience != .pagers,
            let end = rules.restraint(of: matter.topic.bot).quiet?.end(at: now)
        else { return .pass }
        if let deadline = matter.deadline, deadline <= end { return .pass }
        if channel.isLevel, matter.shownOn.contains(channel.name) {
            return .change(dispatch.silent(.quietHours))
        }
        return .hold(until: end, .quietHours)
    }
}

/// Keeps back what rings when its bot has interrupted often enough within the last hour on this channel.
///
/// Nothing is dropped: it is shown once there is room again, together with what came meanwhile.
package struct BudgetStage: DispatchStage {
    package var name: StageName { .budget }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        guard !dispatch.isSilent, matter.canBeHeld, !matter.isWanted, matter.topic.urgency < .critical,
            channel.audience != .pagers,
            let budget = rules.restraint(of: matter.topic.bot).budget, matter.rings(on: channel.name),
            let room = matter.interruptions.room(within: budget, on: channel.name, matter.topic.bot, at: now)
        else { return .pass }
        if let deadline = matter.deadline, deadline <= room { return .pass }
        if channel.isLevel, matter.shownOn.contains(channel.name) {
            return .change(dispatch.silent(.overBudget))
        }
        return .hold(until: room, .overBudget)
    }
}

/// When bots interrupted within the last hour, by channel.
package struct Interruptions: Hashable, Codable, Sendable {
    /// Moments in their order, by bot and channel.
    private var rings: [String: [Moment]] = [:]
    private static let hour = Duration.seconds(3600)

    /// None.
    package init() {}

    /// A bot rang on a channel; only the newest `budget` matter.
    package mutating func note(on channel: String, _ bot: String, at now: Moment, budget: Int) {
        let key = Self.key(channel, bot)
        // A clock that went back would keep a bot silent until it is there again.
        let kept = (rings[key] ?? []).filter { $0 > now - Self.hour && $0 <= now }
        rings[key] = (kept + [now]).suffix(budget)
    }

    /// When the bot may ring again on this channel; nil: now.
    func room(within budget: Int, on channel: String, _ bot: String?, at now: Moment) -> Moment? {
        guard let bot else { return nil }
        let recent = (rings[Self.key(channel, bot)] ?? []).filter { $0 > now - Self.hour && $0 <= now }
        guard recent.count >= budget, let first = recent.suffix(budget).first else { return nil }
        return first + Self.hour
    }

    private static func key(_ channel: String, _ bot: String) -> String { "\(channel)/\(bot)" }
}
