import DBus
import Engine
import Host
import Logging
import Timeline

/// Follows logind's signals that the machine goes to sleep or has woken up, where there is a system bus.
///
/// Only a hint that comes early: without it the clock's own timer, and the difference between the clock that
/// counts sleep and the one that does not, show the same a moment later.
struct SleepWatch {
    private static let login = "org.freedesktop.login1"
    private static let deadline: Duration = .seconds(10)

    /// Where the bus may be.
    let address: String
    let slots: SlotKeeper
    let clock: any WallClock
    let logger: Logger

    init(environment: [String: String], slots: SlotKeeper, clock: any WallClock, logger: Logger) {
        address =
            environment["DBUS_SYSTEM_BUS_ADDRESS"] ?? "unix:path=/run/dbus/system_bus_socket"
        self.slots = slots
        self.clock = clock
        self.logger = logger
    }

    /// Listens until cancelled; a lost bus is tried again soon, and then less and less often.
    ///
    /// A missing bus will hardly appear: it starts before any daemon, or the machine has none.
    func run() async throws {
        var pause: Duration = .seconds(60)
        while true {
            do throws(DBusError) {
                let bus = try await DBusConnection.connect(to: address, deadline: Self.deadline)
                try await bus.subscribe(
                    to: DBusMatch(
                        sender: Self.login, interface: Self.login + ".Manager", member: "PrepareForSleep"),
                    deadline: Self.deadline)
                logger.debug("logind reports when the machine sleeps")
                pause = .seconds(1)
                for await signal in bus.signals { try await apply(signal, from: bus) }
            } catch {
                logger.debug("logind is not available", metadata: ["reason": "\(error)"])
            }
            try await clock.sleep(until: clock.now + pause)
            pause = min(pause * 2, .seconds(600))
        }
    }

    private func apply(_ signal: DBusSignal, from bus: DBusConnection) async throws(DBusError) {
        guard signal.member == "PrepareForSleep", let isAboutToSleep = signal.arguments.first?.bool,
            // Any program may send this signal to us directly.
            try await bus.owner(of: Self.login, deadline: Self.deadline) == signal.sender
        else { return }
        logger.notice("the machine \(isAboutToSleep ? "falls asleep" : "woke up")")
        await slots.checkClocks()
    }
}
