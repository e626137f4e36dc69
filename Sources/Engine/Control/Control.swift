package import Delivery
package import Ledger
package import Logging
package import Timeline

/// What people and programs may ask of the running daemon; the API's handlers are thin over it.
///
/// Reads go to ``ledger`` and ``board`` directly. Everything that changes something is a method here, and each is
/// refused with an ``EngineError`` that says why.
package struct Control: Sendable {
    package let ledger: any Ledger
    package let clock: any WallClock
    package let board: LiveBoard
    package let slots: SlotKeeper
    package let runs: RunKeeper
    package let switchboard: Switchboard
    package let channels: ChannelBoard
    /// Where the configuration is looked for.
    package let configurationPath: String
    package let zones: ZoneLookup
    /// A fresh UUIDv7 at each call.
    package let makeID: @Sendable () -> String
    /// Reads the configuration anew; throws what is wrong with it, whole, for a person to read.
    package let readConfiguration: @Sendable () async throws -> EngineConfiguration
    /// What the daemon knows of the machine and its files that may need a look.
    package let houseFacts: @Sendable () -> [EngineProblem]
    /// Makes a channel that was left out, with its version; nil: it still can't be made.
    package let reopenChannel: @Sendable (String) async -> (any Channel, version: Int)?
    /// What is known of the machine that jobs run on.
    package let machine: MachineLook
    /// Whether the jobs of the files are in force.
    package let loading: Loading
    package let logger: Logger
    /// When this daemon started.
    package let since: Moment

    package init(
        ledger: any Ledger, clock: any WallClock, board: LiveBoard, slots: SlotKeeper, runs: RunKeeper,
        switchboard: Switchboard, channels: ChannelBoard, configurationPath: String,
        zones: @escaping ZoneLookup, makeID: @escaping @Sendable () -> String,
        readConfiguration: @escaping @Sendable () async throws -> EngineConfiguration,
        houseFacts: @escaping @Sendable () -> [EngineProblem] = { [] },
        reopenChannel: @escaping @Sendable (String) async -> (any Channel, version: Int)? = { _ in nil },
        machine: MachineLook = MachineLook(), loading: Loading = Loading(), logger: Logger
    ) {
        self.ledger = ledger
        self.clock = clock
        self.board = board
        self.slots = slots
        self.runs = runs
        self.switchboard = switchboard
        self.channels = channels
        self.configurationPath = configurationPath
        self.zones = zones
        self.makeID = makeID
        self.readConfiguration = readConfiguration
        self.houseFacts = houseFacts
        self.reopenChannel = reopenChannel
        self.machine = machine
        self.loading = loading
        self.logger = logger
        self.since = clock.now
    }
}
