import Delivery
import DesktopChannel
import TestSupport
import Testing
import Timeline

@Suite(.timeLimit(.minutes(5))) struct `the way to the desktop` {
    @Test func `is searched for in the order of the session's variables`() {
        func addresses(_ environment: [String: String]) -> [String] {
            SessionBus(environment: environment, userID: 1000).addresses
        }
        #expect(addresses([:]) == ["unix:path=/run/user/1000/bus"])
        #expect(
            addresses(["DBUS_SESSION_BUS_ADDRESS": "unix:abstract=x", "XDG_RUNTIME_DIR": "/tmp/a b,c"])
                == ["unix:abstract=x", "unix:path=/tmp/a%20b%2cc/bus", "unix:path=/run/user/1000/bus"])
        #expect(
            addresses(["DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": "/run/user/1000"])
                == ["unix:path=/run/user/1000/bus"])
        #expect(addresses(["XDG_RUNTIME_DIR": "relative"]) == ["unix:path=/run/user/1000/bus"])
    }

    @Test func `is found when the bus appears later, and again when it comes back`() async throws {
        let folder = try TemporaryFolder()
        let address = "unix:path=\(folder.file("bus"))"
        try await Scene.run(at: address) { scene in
            let start = scene.clock.now
            guard case .absent(let reason) = await scene.next() else {
                Issue.record("there is no bus yet")
                return
            }
            #expect(
                reason == """
                    no session bus: \(address): No such file or directory; \
                    unix:path=/run/user/4000000000/bus: No such file or directory
                    """)
            await #expect(throws: DeliveryError.unreachable(.noBus)) {
                try await scene.desktop.show(makeNotice(), replacing: nil)
            }
            for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
                let until = await scene.clock.nextSleeper()
                #expect(until - scene.clock.now == .seconds(seconds))
                scene.clock.advance(to: until)
            }
            _ = await scene.clock.nextSleeper()
            #expect(scene.clock.now - start == .seconds(183))

            let bus = try await PrivateBus.start(in: folder)
            scene.clock.advance(by: .seconds(60))
            #expect(await scene.next() == .absent("no notification server on the session bus"))
            let server = try await NotificationServer.start(at: address)
            let before = try await scene.nextGeneration()
            await bus.daemon.end()
            #expect(await scene.next() == .unavailable("the session bus closed the connection"))

            let next = try await PrivateBus.start(in: folder)
            let another = try await NotificationServer.start(at: address)
            let until = await scene.clock.nextSleeper()
            #expect(until - scene.clock.now == .seconds(1))
            scene.clock.advance(to: until)
            let after = try await scene.nextGeneration()
            #expect(before != after)
            withExtendedLifetime((next, another, server)) {}
        }
    }

    @Test func `is searched for at once when somebody asks`() async throws {
        let folder = try TemporaryFolder()
        try await Scene.run(at: "unix:path=\(folder.file("bus"))") { scene in
            _ = await scene.next()
            _ = await scene.clock.nextSleeper()
            let bus = try await PrivateBus.start(in: folder)
            await scene.desktop.retryNow()
            #expect(await scene.next() == .absent("no notification server on the session bus"))
            withExtendedLifetime(bus) {}
        }
    }

    @Test func `is open to a server that comes by itself after one that did not start`() async throws {
        let bus = try await PrivateBus.start(services: ["org.freedesktop.Notifications": "/bin/false"])
        try await Scene.run(at: bus.address) { scene in
            let asleep = try await scene.nextGeneration()
            await #expect(throws: DeliveryError.self) {
                try await scene.desktop.show(makeNotice(), replacing: nil)
            }
            guard case .unavailable = await scene.next() else {
                Issue.record("the server did not start")
                return
            }
            let server = try await NotificationServer.start(at: bus.address)
            #expect(try await scene.nextGeneration() != asleep)
            _ = try await scene.desktop.show(makeNotice(), replacing: nil)
            withExtendedLifetime(server) {}
        }
    }

    @Test func `leaves a sleeping server asleep until there is something to show`() async throws {
        let folder = try TemporaryFolder()
        let command = [
            try PythonTools.interpreter(), PythonTools.script("notification-server.py"),
            "--address", "unix:path=\(folder.file("bus"))", "--record", folder.file("calls"),
            "--stay",
        ].joined(separator: " ")
        let bus = try await PrivateBus.start(
            in: folder, services: ["org.freedesktop.Notifications": command])
        try await Scene.run(at: bus.address) { scene in
            let asleep = try await scene.nextGeneration()
            #expect(try folder.text("calls") == nil)
            let remote = try await scene.desktop.show(makeNotice(), replacing: nil)
            let awake = try await scene.nextGeneration()
            #expect(asleep != awake)
            #expect(remote.generation == awake)
            #expect(try folder.text("calls")?.contains("\"Notify\"") == true)
        }
    }

    @Test func `is given up for a while when the server can't be started`() async throws {
        let bus = try await PrivateBus.start(services: ["org.freedesktop.Notifications": "/bin/false"])
        try await Scene.run(at: bus.address) { scene in
            for pause in [1, 2, 4] {
                _ = try await scene.nextGeneration()
                let error = await #expect(throws: DeliveryError.self) {
                    try await scene.desktop.show(makeNotice(), replacing: nil)
                }
                #expect(error?.reason == .noServer)
                guard case .unavailable(let reason) = await scene.next() else {
                    Issue.record("the server did not start")
                    return
                }
                #expect(reason.hasPrefix("the notification server does not start: "))
                let until = await scene.clock.nextSleeper()
                #expect(until - scene.clock.now == .seconds(pause))
                scene.clock.advance(to: until)
            }
        }
    }
}
