import Grouping
package import Timeline

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

    /// What becomes of it.
    package enum Review: Hashable, Sendable {
        /// It is sent now, by itself or in a digest.
        case release
        /// It goes on being held.
        case hold(until: Moment, DispatchReason)
        /// It is not sent.
        case suppress(StageName, DispatchReason, until: Moment? = nil, rule: String? = nil)
    }
}
