import Delivery
package import Ledger
package import Logging
package import Timeline

/// Sends what is pending, each webhook-like channel by itself: one that is broken delays no other.
package actor OutboxPump {
    private let ledger: any Ledger
    private let clock: any WallClock
    private let activeConfiguration: ActiveConfiguration
    private let channels: ChannelBoard
    private let logger: Logger

    package init(
        ledger: any Ledger, clock: any WallClock, activeConfiguration: ActiveConfiguration,
        channels: ChannelBoard,
        logger: Logger
    ) {
        self.ledger = ledger
        self.clock = clock
        self.activeConfiguration = activeConfiguration
        self.channels = channels
        self.logger = logger
    }

    /// Notes what the last daemon knew of the channels' troubles, so that they do not show as never tried.
    package func recallTroubles() async throws(LedgerError) {
        for channel in activeConfiguration.edges {
            let record = try await ledger.channel(named: channel.name)
            let keeper = CircuitKeeper(record, of: channel.identity, at: clock.now)
            guard let (state, error) = keeper.knownTrouble else { continue }
            channels.note(state, of: channel.name, error: error, at: keeper.since ?? clock.now)
        }
    }

    /// Serves every channel of the configuration, and follows each reload, until cancelled.
    package func run() async throws {
        var tasks = ChannelTasks(logger: logger)
        for await _ in activeConfiguration.taps() {
            let configuration = activeConfiguration.configuration
            let edges = activeConfiguration.edges
            await tasks.serve(
                edges.map { channel in
                    let line = OutboxLine(
                        channel: channel, ledger: ledger, clock: clock, inHand: activeConfiguration.inHand,
                        health: channels, logger: logger)
                    return (channel.name, configuration.versions[channel.name] ?? 0, line.run)
                })
            await parkEntries(except: Set(edges.map(\.name)))
        }
        await tasks.end()
        try Task.checkCancellation()
    }

    /// What is for a channel that is missing waits until it is back: a file may be out of the way for one start.
    ///
    /// No new entries are made for it; those that are older than history is kept expire.
    private func parkEntries(except names: Set<String>) async {
        do throws(LedgerError) {
            let now = clock.now
            let channels = try await ledger.outboxCounts(byChannelIn: [.pending, .waiting]).keys
            let changes = channels.filter { !names.contains($0) }.sorted().map { channel in
                Change.parkOutbox(
                    OutboxPark(
                        channel: channel, expiring: now - Retention().age,
                        reason: "its channel was missing for too long", at: now))
            }
            if !changes.isEmpty { try await ledger.commit(changes) }
        } catch {
            logger.warning(
                "entries of missing channels could not be put aside", metadata: ["reason": "\(error)"])
        }
    }
}
