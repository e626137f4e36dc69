import Delivery
package import Ledger
import Logging
import Timeline

/// Sends what is pending, each webhook-like channel by itself: one that is broken delays no other.
package struct OutboxPump: Sendable {
    private let tools: ChannelTools
    /// What the clocks showed when the daemon began.
    private let start: ClockReading

    package init(_ tools: ChannelTools) {
        self.tools = tools
        start = ClockReading(of: tools.clock)
    }

    /// Notes what the last daemon knew of the channels' troubles, so that they do not show as never tried.
    package func recallTroubles() async throws(LedgerError) {
        for channel in tools.activeConfiguration.edges {
            let (record, now) = (try await tools.ledger.channel(named: channel.name), tools.clock.now)
            let keeper = CircuitKeeper(record, of: channel.identity, at: now)
            guard let (state, error) = keeper.knownTrouble else { continue }
            tools.board.note(state, of: channel.name, error: error, at: keeper.since ?? now)
        }
    }

    /// Serves every channel of the configuration, and follows each reload, until cancelled.
    package func run() async throws {
        try await tools.serve({ [tools] channel in
            (channel as? any EdgeChannel).map { channel in
                let line = OutboxLine(channel: channel, tools)
                // From the commit of an entry to its request one thread is woken.
                return { try await withTaskExecutorPreference(channel.executor) { try await line.run() } }
            }
        }) {
            await parkEntries()
        }
    }

    /// What is for a channel that is missing waits until it is back: a file may be out of the way for one start.
    ///
    /// No new entries are made for it; those that are older than history is kept expire.
    private func parkEntries() async {
        do throws(LedgerError) {
            let now = tools.clock.now
            // No entry gets old by a clock that leaps ahead.
            let counted = start.now + (tools.clock.sinceBoot - start.sinceBoot)
            let names = Set(tools.activeConfiguration.edges.map(\.name))
            let channels = try await tools.ledger.outboxCounts(byChannelIn: [.pending, .waiting]).keys
            let changes = channels.filter { !names.contains($0) }.sorted().map { channel in
                Change.parkOutbox(
                    OutboxPark(
                        channel: channel, expiring: min(now, counted) - Retention().age,
                        reason: "its channel was missing for too long", at: now))
            }
            if !changes.isEmpty { try await tools.ledger.commit(changes) }
        } catch {
            tools.logger.warning(
                "entries of missing channels could not be put aside", metadata: ["reason": "\(error)"])
        }
    }
}
