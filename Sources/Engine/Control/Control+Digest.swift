import Delivery
package import Grouping
import Ledger
package import Timeline

/// What quiet hours or a budget keep back of an item from a channel.
package struct HeldItem: Hashable, Sendable {
    package var channel: String
    package var version: ItemSnapshot
    /// When it is shown by itself.
    package var until: Moment?
}

extension Control {
    /// What quiet hours and budgets keep back on channels that edit in place, the most relevant first; it is shown now, and
    /// what they hold in the outbox is sent.
    package func digest() async throws(EngineError) -> [HeldItem] {
        let records = try await read { () async throws(LedgerError) in
            try await ledger.itemsToWake(limit: .max)
        }
        let held = records.flatMap { record -> [(HeldBack, Moment?)] in
            let item = KeptItem(record, bot: OwnThread.bot)
            return item.digestible(at: .distantFuture).map { ($0, item.held[$0.channel]) }
        }.sorted { HeldBack.isBefore($0.0, $1.0) }
        let now = clock.now
        let releases = activeConfiguration.edges.map {
            Change.releaseOutbox(OutboxRelease(channel: $0.name, reviving: [.held], at: now))
        }
        if !releases.isEmpty { try await commit(releases) }
        activeConfiguration.askForRelease()
        return held.map { HeldItem(channel: $0.channel, version: $0.version, until: $1) }
    }
}
