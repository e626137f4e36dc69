import DBus
import Engine
import Host
import Logging
import Timeline

/// Hears from logind that the machine falls asleep or has woken up, where there is a system bus.
///
/// Only a hint that comes early: without it the clock's own timer, and the difference between the clock that
/// counts sleep and the one that does not, say the same a moment later.
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

    /// Listens until cancelled; a bus that goes is tried again soon, and then ever more rarely.
    ///
    /// One that was never there is hardly going to come: it is older than any daemon, or the machine has none.
    func run() async throws {
        var pause: Duration = .seconds(60)
        while true {
            do throws(DBusError) {
                let bus = try await DBusConnection.connect(to: address, deadline: Self.deadline)
                try await bus.listen(
                    for: DBusMatch(
                        sender: Self.login, interface: Self.login + ".Manager", member: "PrepareForSleep"),
                    deadline: Self.deadline)
                logger.debug("logind reports when the machine sleeps")
                pause = .seconds(1)
                for await signal in bus.signals { try await take(signal, from: bus) }
            } catch {
                logger.debug("logind can't be heard", metadata: ["reason": "\(error)"])
            }
            try await clock.sleep(until: clock.now + pause)
            pause = min(pause * 2, .seconds(600))
        }
    }

    private func take(_ signal: DBusSignal, from bus: DBusConnection) async throws(DBusError) {
        guard signal.member == "PrepareForSleep", let isAboutToSleep = signal.arguments.first?.bool,
            // Anybody may send a signal to us alone.
            try await bus.owner(of: Self.login, deadline: Self.deadline) == signal.sender
        else { return }
        logger.notice("the machine \(isAboutToSleep ? "falls asleep" : "woke up")")
        await slots.look()
    }
}
