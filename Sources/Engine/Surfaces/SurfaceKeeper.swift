import Delivery
package import Ledger
package import Logging
package import Timeline

/// Brings what channels that edit in place show to what they should, each channel by itself.
package actor SurfaceKeeper {
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

    /// Serves every channel of the configuration, and follows each reload, until cancelled.
    package func run() async throws {
        var tasks = ChannelTasks(logger: logger)
        for await _ in activeConfiguration.taps() {
            let configuration = activeConfiguration.configuration
            await tasks.serve(
                configuration.channels.compactMap { $0 as? any LevelChannel }.map { channel in
                    let line = SurfaceLine(
                        channel: channel, ledger: ledger, clock: clock,
                        activeConfiguration: activeConfiguration,
                        health: channels, logger: logger)
                    return (channel.name, configuration.versions[channel.name] ?? 0, line.run)
                })
        }
        await tasks.end()
        try Task.checkCancellation()
    }
}
