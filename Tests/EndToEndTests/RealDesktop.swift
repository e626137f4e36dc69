import DBus
import TestSupport
import Testing

@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: VirtualScreen.isInstalled, "dunst or Xvfb is not installed"))
struct `a real desktop` {
    @Test func `shows what the daemon sends, as it was written`() async throws {
        let (bus, screen) = (try await PrivateBus.start(), try await VirtualScreen.start())
        let dunst = try screen.startDunst(at: bus.address)
        let belfry = try await Belfry.start(bus: bus)
        // It may not have come up yet.
        try await belfry.until { try await belfry.run("channel", "test", "desk").code == 0 }

        let eye = try await DBusConnection.connect(to: bus.address, deadline: .seconds(60))
        _ = try await eye.call(method("NotificationCloseAll"), deadline: .seconds(60))
        let answer = try await eye.call(method("NotificationListHistory"), deadline: .seconds(60))
        let kept = texts(in: answer)
        #expect(kept.contains { $0.contains("This is a test of the channel \"desk\".") })
        withExtendedLifetime(dunst) {}
    }

    private func method(_ member: String) -> DBusMethod {
        DBusMethod(
            destination: "org.freedesktop.Notifications", path: "/org/freedesktop/Notifications",
            interface: "org.dunstproject.cmd0", member: member)
    }

    /// Every text in what dunst answered.
    private func texts(in values: [DBusValue]) -> [String] {
        values.flatMap { value -> [String] in
            switch value {
            case .string(let text): [text]
            case .array(_, let items): texts(in: items)
            case .dictionary(_, _, let entries): texts(in: entries.map(\.value))
            case .variant(let inner): texts(in: [inner])
            default: []
            }
        }
    }
}
