import DBus
import Delivery
import DesktopChannel
import TestSupport
import Testing

private let soon = Duration.seconds(60)

@Suite(
    .timeLimit(.minutes(5)), .enabled(if: VirtualScreen.isInstalled, "dunst or Xvfb is not installed"))
struct `dunst on a virtual screen` {
    @Test func `shows five versions of an item as one, with its bar and its text unharmed`() async throws {
        let (bus, screen) = (try await PrivateBus.start(), try await VirtualScreen.start())
        let dunst = try screen.startDunst(at: bus.address)
        let eye = try await DBusConnection.connect(to: bus.address, deadline: soon)
        try await Scene.run(at: bus.address) { scene in
            try await scene.awaitServer()
            var remote: RemoteID?
            for revision in 1...5 {
                var notice = makeNotice("Backup", "<i>\(revision) & \"more\"</i>", revision: revision)
                notice.value = revision * 20
                remote = try await scene.desktop.show(notice, replacing: remote)
            }
            let shown = try #require(remote)
            #expect(try await popups(eye) == 1)
            await scene.desktop.close(shown)
            #expect(await scene.next() == .closed(shown, .closedByUs, revision: nil))

            let kept = try await history(eye)
            #expect(kept.count == 1)
            #expect(kept.first?["summary"] == .string("Backup"))
            // Kept as it came; dunst renders markup with these settings, though it does not announce it.
            #expect(kept.first?["body"] == .string("&lt;i&gt;5 &amp; \"more\"&lt;/i&gt;"))
            #expect(kept.first?["progress"] == .int32(100))
        }
        withExtendedLifetime(dunst) {}
    }

    @Test func `replaces by tag what an earlier daemon showed and forgot`() async throws {
        let (bus, screen) = (try await PrivateBus.start(), try await VirtualScreen.start())
        let dunst = try screen.startDunst(at: bus.address)
        let eye = try await DBusConnection.connect(to: bus.address, deadline: soon)
        try await Scene.run(at: bus.address) { scene in
            try await scene.awaitServer()
            _ = try await scene.desktop.show(makeNotice("before"), replacing: nil)
            _ = try await scene.desktop.show(makeNotice("after"), replacing: nil)
            #expect(try await popups(eye) == 1)
        }
        withExtendedLifetime(dunst) {}
    }

    @Test func `reports to us alone what a person did`() async throws {
        let (bus, screen) = (try await PrivateBus.start(), try await VirtualScreen.start())
        let dunst = try screen.startDunst(at: bus.address)
        let hand = try await DBusConnection.connect(to: bus.address, deadline: soon)
        try await Scene.run(at: bus.address) { scene in
            try await scene.awaitServer()
            var notice = makeNotice()
            notice.actions = [.init(key: "default", label: "Open")]
            let remote = try await scene.desktop.show(notice, replacing: nil)
            _ = try await hand.call(dunstMethod("NotificationAction"), [.uint32(0)], deadline: soon)
            #expect(await scene.next() == .action(remote, key: "default"))
            _ = try await hand.call(dunstMethod("NotificationCloseLast"), deadline: soon)
            #expect(await scene.next() == .closed(remote, .dismissed, revision: 1))
        }
        withExtendedLifetime(dunst) {}
    }

    @Test func `that is killed and started again is a new life`() async throws {
        let (bus, screen) = (try await PrivateBus.start(), try await VirtualScreen.start())
        let dunst = try screen.startDunst(at: bus.address)
        try await Scene.run(at: bus.address) { scene in
            let before = try await scene.awaitServer()
            let remote = try await scene.desktop.show(makeNotice(), replacing: nil)
            await dunst.end()
            #expect(await scene.next() == .unavailable("no notification server on the session bus"))
            let again = try screen.startDunst(at: bus.address)
            let after = try await scene.awaitServer()
            #expect(before != after)
            let shown = try await scene.desktop.show(makeNotice(revision: 2), replacing: remote)
            #expect(shown.generation == after)
            withExtendedLifetime(again) {}
        }
    }
}

extension Scene {
    /// Waits for a server; a bus without one may be reported before.
    @discardableResult
    func awaitServer(isolation: isolated (any Actor)? = #isolation) async throws -> String {
        while let report = await next() {
            if case .available(let generation) = report { return generation }
        }
        throw Unexpected(report: nil)
    }
}

private func dunstMethod(_ member: String) -> DBusMethod {
    DBusMethod(
        destination: "org.freedesktop.Notifications", path: "/org/freedesktop/Notifications",
        interface: "org.dunstproject.cmd0", member: member)
}

/// How many notifications dunst shows or is about to show.
private func popups(_ connection: DBusConnection) async throws -> UInt32 {
    var count: UInt32 = 0
    for property in ["displayedLength", "waitingLength"] {
        var method = dunstMethod("Get")
        method.interface = "org.freedesktop.DBus.Properties"
        let answer = try await connection.call(
            method, [.string("org.dunstproject.cmd0"), .string(property)], deadline: soon)
        guard case .variant(.uint32(let number)) = answer.first else { throw Unexpected(report: nil) }
        count += number
    }
    return count
}

/// What dunst has shown before, each as its properties.
private func history(_ connection: DBusConnection) async throws -> [[String: DBusValue]] {
    let answer = try await connection.call(dunstMethod("NotificationListHistory"), deadline: soon)
    guard case .array(_, let items) = answer.first else { return [] }
    return items.map { item in
        guard case .dictionary(_, _, let entries) = item else { return [:] }
        return entries.reduce(into: [:]) { properties, entry in
            if let key = entry.key.text, case .variant(let value) = entry.value { properties[key] = value }
        }
    }
}
