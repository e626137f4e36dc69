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

/// A matter that a rule keeps back from a channel that sends things once: what it takes to decide about it again at its
/// release, and to list it in a digest.
///
/// Stored beside the entry, whose bytes say nothing about any of it.
package struct HeldMatter: Hashable, Codable, Sendable {
    /// The rule that keeps it back.
    package var reason: DispatchReason
    /// The event that the verdict on it is about; nil: it has none of its own.
    package var event: Int64?
    /// What it is about, as far as rules ask.
    package var topic: Topic
    /// One line, as a digest lists it.
    package var line: String
    /// How much it matters among things of the same urgency; see ``relevance(of:)``.
    package var relevance: Int
    /// When it comes to nothing by itself, as a question does: it is not held beyond that; nil: never.
    package var deadline: Moment?

    /// Something that is kept back.
    package init(
        reason: DispatchReason, event: Int64?, topic: Topic, line: String, relevance: Int
    ) {
        self.reason = reason
        self.event = event
        self.topic = topic
        self.line = line
        self.relevance = relevance
    }

    /// Whether it is released by being judged again; another channel's turn just comes to its end.
    package var isJudgedAgain: Bool { Self.judgedAgain.contains(reason) }

    /// The reasons of what is judged again at its release, and can be asked for by `belfry digest`.
    package static let judgedAgain: Set<DispatchReason> = [.quietHours, .overBudget]

    /// Questions first, then failures, then messages, then the rest.
    package static func relevance(of type: String) -> Int {
        switch EventType(rawValue: type) {
        case .questionAsked: 3
        case .runFailed, .runLost, .runBlocked, .runMissed: 2
        case .messageGroup: 1
        default: 0
        }
    }

    /// What rules make of it now, on this channel.
    ///
    /// `type` is what routes name it by. Where a person asked for it (`isWanted`), quiet hours and budgets do not apply.
    package func review(
        type: String, for channel: DispatchRules.Channel, by rules: DispatchRules,
        _ interruptions: Interruptions, isWanted: Bool, at now: Moment
    ) -> Review {
        let restraint = rules.restraint(of: topic.bot)
        guard restraint.isShown else { return .suppress(.shown, .switchedOff) }
        let word = RouteWord(eventType: type)?.rawValue
        if type != EventType.runRecovered.rawValue,
            let last = rules.silenced.last(for: topic, on: channel.name, event: word, at: now)
        {
            return .suppress(.silence, .silenced, until: last.until, rule: last.rule)
        }
        guard !isWanted, channel.audience != .pagers else { return .release }
        if let end = restraint.quiet?.end(at: now), isInTime(end) { return .hold(until: end, .quietHours) }
        if let budget = restraint.budget,
            let room = interruptions.room(within: budget, on: channel.name, topic.bot, at: now),
            isInTime(room)
        {
            return .hold(until: room, .overBudget)
        }
        return .release
    }

    private func isInTime(_ end: Moment) -> Bool { deadline.map { $0 > end } ?? true }

    /// What happens to it.
    package enum Review: Hashable, Sendable {
        /// It is sent now, by itself or in a digest.
        case release
        /// It goes on being held.
        case hold(until: Moment, DispatchReason)
        /// It is not sent.
        case suppress(StageName, DispatchReason, until: Moment? = nil, rule: String? = nil)
    }
}
