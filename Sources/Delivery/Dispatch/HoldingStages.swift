import Grouping
package import Timeline
import Tracking

/// A time in which what matches notifies nobody, made by a person: it may begin later, before there is anything to silence.
package struct Silence: Hashable, Sendable {
    /// What identifies it.
    package var id: String
    /// All of them must hold.
    package var matchers: [Matcher]
    /// When it begins.
    package var from: Moment
    /// When it ends.
    package var until: Moment
    /// Who made it.
    package var by: String
    /// Why, in the words of whoever made it.
    package var note: String?

    /// The most matchers of one silence.
    package static let mostMatchers = 16

    /// A silence.
    ///
    /// - Throws: why the matchers are refused: there is none, or they hold for everything.
    package init(
        id: String, matchers: [Matcher], from: Moment, until: Moment, by: String, note: String? = nil
    ) throws(MatcherError) {
        guard !matchers.isEmpty else { throw .none }
        guard !matchers.allSatisfy(\.holdsForNothing) else { throw .everything }
        (self.id, self.matchers, self.from, self.until) = (id, matchers, from, until)
        (self.by, self.note) = (by, note)
    }

    /// How a verdict names it.
    package var rule: String { "silence \(id.suffix(8))" }
}

/// What people silenced, found by what it is about.
package struct Silences: Hashable, Sendable {
    /// All of them, in the order in which they were made.
    package let all: [Silence]
    private let index: MatchIndex

    /// These, and no others.
    package init(_ all: [Silence] = []) {
        self.all = all
        var index = MatchIndex()
        for (place, silence) in all.enumerated() { index.add(silence.matchers, at: place) }
        self.index = index
    }

    /// The one that holds for a matter on a channel now and ends last; of those that end together the oldest.
    func last(for topic: Topic, on channel: String, event: String?, at now: Moment) -> Silence? {
        if all.isEmpty { return nil }
        var last: Int?
        index.forEach(about: topic) { place in
            if let last, all[last].until >= all[place].until { return }
            guard all[place].from <= now, now < all[place].until else { return }
            for index in all[place].matchers.indices
            where !all[place].matchers[index].matches(topic, on: channel, event: event) {
                return
            }
            last = place
        }
        return last.map { all[$0] }
    }
}

/// Keeps back what a person silenced.
///
/// Where items are edited in place it is held: what is still so when the silence ends is shown then, and what is on the
/// screen already goes on without a sound. What is sent only once is not sent. A recovery follows its failure in any
/// case, and a test is what its asker waits for.
package struct SilenceStage: DispatchStage {
    package var name: StageName { .silence }

    package init() {}

    package func review(
        _ dispatch: Dispatch, of matter: Matter, for channel: DispatchRules.Channel, by rules: DispatchRules,
        at now: Moment
    ) -> StageDecision {
        guard !rules.silenced.all.isEmpty, matter.canBeHeld,
            let silence = rules.silenced.last(
                for: matter.topic, on: channel.name, event: matter.word?.rawValue, at: now)
        else { return .pass }
        guard channel.isLevel else {
            if case .fact(.runRecovered) = matter.subject { return .pass }
            return .suppress(.silenced, until: silence.until, rule: silence.rule)
        }
        if matter.shownOn.contains(channel.name) { return .change(dispatch.silent(.silenced)) }
        return .hold(until: silence.until, .silenced, rule: silence.rule)
    }
}

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
        // Progress disturbs nobody.
        guard !dispatch.isSilent, matter.canBeHeld, !matter.isWanted, !matter.isProgress,
            matter.topic.urgency < .critical, channel.audience != .pagers,
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
