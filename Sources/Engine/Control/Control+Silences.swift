package import Delivery
package import Grouping
package import Ledger
package import Timeline

/// A silence before it is made.
package struct SilenceDraft: Hashable, Sendable {
    /// The text forms of its matchers.
    package var matchers: [String]
    /// Nil: now.
    package var from: Moment?
    package var until: Moment
    package var by: String
    package var note: String?

    package init(matchers: [String], until: Moment, by: String) {
        self.matchers = matchers
        self.until = until
        self.by = by
    }
}

// What people silence: rows of the ledger, and a part of the rules by which items are dispatched.

extension Control {
    /// How long a silence is listed after its end.
    static let silencesKept = Duration.seconds(90 * 86_400)
    /// The most that have not ended.
    private static let mostSilences = 1000
    /// The longest: whoever wants to hear of something never again writes routes.
    package static let longestSilence = Duration.seconds(366 * 86_400)

    /// The silences that have not ended, or all that are kept; the newest first.
    package func silences(all: Bool) async throws(EngineError) -> [Silence] {
        let kept = try await read { () async throws(LedgerError) in try await ledger.silences() }
        let now = clock.now
        return kept.reversed().filter { all || $0.until > now }
    }

    /// Silences what matches, from now or a later time on.
    package func addSilence(_ draft: SilenceDraft) async throws(EngineError) -> Silence {
        let now = clock.now
        let silence = try Self.silence(draft, id: makeID(), at: now)
        try await activeConfiguration.turnstile.pass { () async throws(EngineError) in
            guard try await silences(all: false).count < Self.mostSilences else {
                throw .invalid("there are \(Self.mostSilences) silences already")
            }
            try await commit([.putSilence(silence, endedBefore: now - Self.silencesKept)])
            activeConfiguration.change { configuration in
                configuration.silences.removeAll { $0.until <= now }
                configuration.silences.append(silence)
            }
        }
        return silence
    }

    /// Ends a silence, whose id may be shortened; what it kept back and is still so is shown.
    package func endSilence(_ id: String) async throws(EngineError) -> Silence {
        try await activeConfiguration.turnstile.pass { () async throws(EngineError) in
            var silence = try Self.silence(id, among: await silences(all: true))
            let now = clock.now
            guard silence.until > now else { throw .silenceEnded(silence.id, silence.until) }
            try await commit([.endSilence(id: silence.id, at: now)])
            activeConfiguration.change { $0.silences.removeAll { $0.id == silence.id } }
            silence.until = now
            return silence
        }
    }

    private static func silence(
        _ draft: SilenceDraft, id: String, at now: Moment
    ) throws(EngineError) -> Silence {
        let from = draft.from ?? now
        guard draft.until > from, draft.until > now else {
            throw .invalid("a silence must end after its start, and not in the past")
        }
        guard draft.until - from <= longestSilence, from - now <= longestSilence else {
            throw .invalid("a silence lasts up to 366 days, and begins within as many")
        }
        guard draft.matchers.count <= Silence.mostMatchers else {
            throw .invalid("a silence has at most \(Silence.mostMatchers) matchers")
        }
        do throws(MatcherError) {
            var matchers: [Matcher] = []
            for text in draft.matchers { matchers.append(try Matcher(text)) }
            return try Silence(
                id: id, matchers: matchers, from: from, until: draft.until, by: draft.by, note: draft.note)
        } catch {
            throw .badMatcher(error)
        }
    }

    /// The one silence that `id` is, or is short for.
    private static func silence(_ id: String, among silences: [Silence]) throws(EngineError) -> Silence {
        if let exact = silences.first(where: { $0.id == id }) { return exact }
        guard let short = ShortID(id) else { throw .noSuchSilence(id) }
        let found = silences.filter { $0.id.hasPrefix(short.text) || $0.id.hasSuffix(short.text) }
        guard let first = found.first else { throw .noSuchSilence(id) }
        guard found.count == 1 else {
            throw .ambiguousID(
                id,
                candidates: found.prefix(5).map {
                    "\($0.id)  \($0.matchers.map(\.text).joined(separator: " "))"
                })
        }
        return first
    }
}

/// What quiet hours or a budget keep back from a channel.
package struct HeldItem: Hashable, Sendable {
    /// What it is.
    package enum Content: Hashable, Sendable {
        /// What an item would show, on a channel that edits in place.
        case version(ItemSnapshot)
        /// What waits in the outbox, and how a digest lists it.
        case entry(OutboxRecord, HeldMatter)
    }

    package var channel: String
    package var content: Content
    /// When it is shown, or sent, by itself.
    package var until: Moment?

    /// The most relevant first: by urgency, then questions, failures and messages, then the newest.
    fileprivate var weight: (Urgency, Int, Moment) {
        switch content {
        case .version(let version): (version.urgency, version.content.relevance, version.at)
        case .entry(let entry, let held): (held.topic.urgency, held.relevance, entry.createdAt)
        }
    }
}

extension Control {
    /// What quiet hours and budgets keep back, the most relevant first; it is shown, and sent, now.
    package func digest() async throws(EngineError) -> [HeldItem] {
        let (records, entries) = try await read { () async throws(LedgerError) in
            (
                try await ledger.itemsToWake(limit: .max),
                try await ledger.outbox(states: [.held], limit: .max)
            )
        }
        let versions = records.flatMap { record -> [HeldItem] in
            let item = KeptItem(record, bot: OwnThread.bot)
            return item.digestible(at: .distantFuture).map {
                HeldItem(channel: $0.channel, content: .version($0.version), until: item.held[$0.channel])
            }
        }
        let rules = activeConfiguration.configuration.rules
        let now = clock.now
        let waiting = entries.compactMap { entry -> HeldItem? in
            guard let held = entry.held, held.isJudgedAgain else { return nil }
            let channel =
                rules.channels.first { $0.name == entry.channel }
                ?? DispatchRules.Channel(entry.channel, isLevel: false)
            // What was silenced meanwhile stays where it is.
            let review = held.review(
                type: entry.type, for: channel, by: rules, Interruptions(), isWanted: true, at: now)
            guard review == .release else { return nil }
            return HeldItem(channel: entry.channel, content: .entry(entry, held), until: entry.nextAt)
        }
        activeConfiguration.askForRelease()
        return (versions + waiting).sorted { $0.weight > $1.weight }
    }
}
