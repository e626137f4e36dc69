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

    /// Whether it is about a matter on a channel.
    package func matches(_ matter: Matter, on channel: String) -> Bool {
        matchers.allSatisfy { $0.matches(matter, on: channel) }
    }

    /// How a verdict names it.
    package var rule: String { "silence \(id.suffix(8))" }
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
        guard !rules.silences.isEmpty, matter.canBeHeld else { return .pass }
        let matching = rules.silences.filter { $0.isActive(at: now) && $0.matches(matter, on: channel.name) }
        guard let silence = matching.max(by: { $0.until < $1.until }) else { return .pass }
        guard channel.isLevel else {
            if case .fact(.runRecovered) = matter.subject { return .pass }
            return .suppress(.silenced, until: silence.until, rule: silence.rule)
        }
        if matter.shownOn.contains(channel.name) { return .change(dispatch.silent(.silenced)) }
        return .hold(until: silence.until, .silenced, rule: silence.rule)
    }
}
