import Delivery
package import Ledger
package import Logging
package import Timeline

/// Brings what channels that edit in place show to what they should, each channel by itself.
package actor SurfaceKeeper {
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

    /// Serves every channel of the configuration, and follows each reload, until cancelled.
    package func run() async throws {
        var crew = ChannelCrew(logger: logger)
        for await _ in switchboard.taps() {
            let configuration = switchboard.configuration
            await crew.serve(
                configuration.channels.compactMap { $0 as? any LevelChannel }.map { channel in
                    let line = SurfaceLine(
                        channel: channel, ledger: ledger, clock: clock, switchboard: switchboard,
                        health: channels, logger: logger)
                    return (channel.name, configuration.versions[channel.name] ?? 0, line.run)
                })
        }
        await crew.end()
        try Task.checkCancellation()
    }
}
