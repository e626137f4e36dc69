import ArgumentParser
import DesktopChannel
import Glibc
import Host

/// Shows on this session's desktop what the system daemon sends to channels of this user.
struct Agent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the system daemon's notifications to this user on this desktop.",
        discussion: """
            Serves channels of the system daemon that name this user (kind: desktop, user: NAME), and no \
            others. Runs until SIGTERM, and reconnects when the daemon restarts. Usually started by \
            units/user/belfry-agent.service.

            Examples:
              belfryd agent
              belfryd agent --at /run/belfry/agents.sock
            """)

    @Option(help: ArgumentHelp("The socket on which the daemon accepts agents.", valueName: "path"))
    var at = "/run/belfry/agents.sock"

    @Option(
        help: ArgumentHelp(
            "The log level: trace, debug, info, notice, warning or error.", valueName: "level"))
    var logLevel = "notice"

    func run() async throws {
        Signals.ignoreBrokenPipes()
        let (clock, logger) = (try SystemClock(), try Log.make(level: logLevel))
        let agent = DesktopAgent(instance: UniqueID.v4(), clock: clock, logger: logger) { channel in
            Desktop(
                name: channel, bus: SessionBus(environment: Machine.environment, userID: geteuid()),
                clock: clock, logger: logger)
        }
        let arrivals = try Signals.stream()
        let path = at
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await agent.run(at: path) }
            group.addTask {
                for await signal in arrivals where signal != .hangup { return }
            }
            try await group.next()
            group.cancelAll()
            do { try await group.waitForAll() } catch is CancellationError {}
        }
    }
}
