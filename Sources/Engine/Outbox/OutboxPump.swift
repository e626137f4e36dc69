import Delivery
package import Ledger
package import Logging
package import Timeline

/// Sends what is pending, each webhook-like channel by itself: one that is broken delays no other.
package actor OutboxPump {
    private let ledger: any Ledger
    private let clock: any WallClock
    private let switchboard: Switchboard
    private let channels: ChannelBoard
    private let logger: Logger

    package init(
        ledger: any Ledger, clock: any WallClock, switchboard: Switchboard, channels: ChannelBoard,
        logger: Logger
    ) {
        self.ledger = ledger
        self.clock = clock
        self.switchboard = switchboard
        self.channels = channels
        self.logger = logger
    }

    /// Notes what the last daemon knew of the channels' troubles, so that nobody is told they were never tried.
    package func recallTroubles() async throws(LedgerError) {
        for channel in switchboard.configuration.channels where channel is any EdgeChannel {
            let keeper = CircuitKeeper(try await ledger.channel(named: channel.name), at: clock.now)
            guard let (state, error) = keeper.knownTrouble else { continue }
            channels.note(state, of: channel.name, error: error, at: keeper.since ?? clock.now)
        }
    }

    /// Serves every channel of the configuration, and begins anew after a reload, until cancelled.
    package func run() async throws {
        var crew = ChannelCrew(logger: logger)
        for await _ in switchboard.taps() {
            let configuration = switchboard.configuration
            let edges = configuration.channels.compactMap { $0 as? any EdgeChannel }
            await crew.serve(
                edges.map { channel in
                    let line = OutboxLine(
                        channel: channel, ledger: ledger, clock: clock, inHand: switchboard.inHand,
                        health: channels, logger: logger)
                    return (channel.name, configuration.versions[channel.name] ?? 0, line.run)
                })
            let leftOut = configuration.leftOut.compactMap { $0.channel?.name }
            await discardOrphans(Set(edges.map(\.name) + leftOut))
        }
        await crew.end()
        try Task.checkCancellation()
    }

    /// What waits for a channel that was removed is given up; nobody sends it any more.
    private func discardOrphans(_ names: Set<String>) async {
        do throws(LedgerError) {
            let waiting = try await ledger.outbox(states: [.pending, .held], limit: .max)
            for entry in waiting where !names.contains(entry.channel) {
                var move = OutboxMove(
                    id: entry.id, from: entry.state, attempts: entry.attempts, to: .discarded,
                    nextAttempts: entry.attempts)
                move.lastError = "the channel was removed"
                move.settledAt = clock.now
                do throws(LedgerError) {
                    try await ledger.commit([.moveOutbox(move)])
                } catch .fenced {
                    // A person was faster.
                    continue
                }
            }
        } catch {
            logger.warning(
                "entries of removed channels could not be given up", metadata: ["reason": "\(error)"])
        }
    }
}
