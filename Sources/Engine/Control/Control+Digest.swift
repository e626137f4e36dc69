package import Delivery
package import Grouping
package import Ledger
package import Timeline

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
        let waiting = entries.compactMap { entry -> HeldItem? in
            guard let held = entry.held, held.isJudgedAgain else { return nil }
            return HeldItem(channel: entry.channel, content: .entry(entry, held), until: entry.nextAt)
        }
        activeConfiguration.askForRelease()
        return (versions + waiting).sorted { $0.weight > $1.weight }
    }
}
