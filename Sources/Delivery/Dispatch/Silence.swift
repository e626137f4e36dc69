package import Timeline

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

    /// Whether it lasts at that moment.
    package func isActive(at moment: Moment) -> Bool { from <= moment && moment < until }

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
