import Delivery
import DesktopChannel
import Glibc
import TestSupport
import Testing

@Suite struct `what happens on the desktop` {
    @Test(arguments: [[], ["--unicast"]])
    func `comes back: closed by whom, pressed which`(options: [String]) async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address, options)
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            let remote = try await scene.desktop.show(makeNotice(), replacing: nil)
            try server.press("default", of: 1)
            for reason in 1...5 { try server.close(1, reason: reason) }
            #expect(await scene.next() == .action(remote, key: "default"))
            let reasons: [CloseReason] = [.expired, .dismissed, .closedByUs, .undefined, .undefined]
            for reason in reasons { #expect(await scene.next() == .closed(remote, reason)) }
        }
    }

    @Test func `is not believed from somebody who is not the server`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await Scene.run(at: bus.address) { scene in
            _ = try await scene.nextGeneration()
            let remote = try await scene.desktop.show(makeNotice(), replacing: nil)
            let us = try #require(try await server.next()).sender
            let liar = try ChildProcess(
                "dbus-send",
                [
                    "--bus=\(bus.address)", "--dest=\(us)", "--type=signal",
                    "/org/freedesktop/Notifications", "org.freedesktop.Notifications.ActionInvoked",
                    "uint32:1", "string:forged",
                ])
            #expect(await liar.status() == 0)
            try server.press("true", of: 1)
            #expect(await scene.next() == .action(remote, key: "true"))
        }
    }

    @Test func `a server that dies and comes back is a new life: old ids are not used again`() async throws {
        let bus = try await PrivateBus.start()
        let first = try await NotificationServer.start(at: bus.address, "--first-id", "5")
        try await Scene.run(at: bus.address) { scene in
            let before = try await scene.nextGeneration()
            let remote = try await scene.desktop.show(makeNotice(), replacing: nil)
            await first.process.end()
            #expect(await scene.next() == .unavailable("no notification server on the session bus"))
            await #expect(throws: DeliveryError.unreachable(.noServer)) {
                try await scene.desktop.show(makeNotice(revision: 2), replacing: remote)
            }

            let second = try await NotificationServer.start(
                at: bus.address, "--capabilities", "body", "--first-id", "1")
            let after = try await scene.nextGeneration()
            #expect(before != after)
            await scene.desktop.close(remote)
            let shown = try await scene.desktop.show(makeNotice("<b>", "<b>", revision: 2), replacing: remote)
            #expect(shown == RemoteID(generation: after, id: "1"))
            let call = try #require(try await second.next())
            #expect(call.replacesID == 0)
            #expect(call.body == "<b>")
        }
    }

    @Test func `a server that hangs costs one deadline, and is taken up again with its ids`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        try await Scene.run(at: bus.address) { scene in
            let generation = try await scene.nextGeneration()
            let remote = try await scene.desktop.show(makeNotice("1"), replacing: nil)
            server.process.signal(SIGSTOP)
            for title in ["2", "3"] {
                let error = await #expect(throws: DeliveryError.self) {
                    try await scene.desktop.show(makeNotice(title, revision: 2), replacing: remote)
                }
                #expect(error?.reason == .timeout)
            }
            #expect(await scene.next() == .unavailable("the notification server does not answer"))

            server.process.signal(SIGCONT)
            #expect(await scene.next() == .available(generation: generation))
            let again = try await scene.desktop.show(makeNotice("4", revision: 2), replacing: remote)
            #expect(again == remote)
            for title in ["1", "2", "4"] { #expect(try await server.next()?.summary == title) }
        }
    }

    @Test func `a server that hangs and dies makes room for the next`() async throws {
        let bus = try await PrivateBus.start()
        let first = try await NotificationServer.start(at: bus.address)
        try await Scene.run(at: bus.address) { scene in
            let before = try await scene.nextGeneration()
            first.process.signal(SIGSTOP)
            await #expect(throws: DeliveryError.self) {
                try await scene.desktop.show(makeNotice(), replacing: nil)
            }
            #expect(await scene.next() == .unavailable("the notification server does not answer"))
            await first.process.end()
            #expect(await scene.next() == .unavailable("no notification server on the session bus"))
            let second = try await NotificationServer.start(at: bus.address)
            #expect(try await scene.nextGeneration() != before)
            _ = try await scene.desktop.show(makeNotice(), replacing: nil)
            #expect(try await second.next()?.replacesID == 0)
        }
    }
}
