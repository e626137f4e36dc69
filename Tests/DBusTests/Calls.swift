import DBus
import Glibc
import TestSupport
import Testing

private let soon = Duration.seconds(60)

@Suite struct `a method call` {
    @Test func `brings back the peer's error as it is`() async throws {
        let bus = try await PrivateBus.start()
        let connection = try await DBusConnection.connect(to: bus.address, deadline: soon)
        let error = await #expect(throws: DBusError.self) {
            try await connection.call(.bus("NoSuchMethod"), deadline: soon)
        }
        guard case .refused("org.freedesktop.DBus.Error.UnknownMethod", let message) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message.contains("NoSuchMethod"))
    }

    @Test func `fails at its deadline and leaves the connection usable`() async throws {
        let bus = try await PrivateBus.start()
        let connection = try await DBusConnection.connect(to: bus.address, deadline: soon)
        let id = try await connection.busID(deadline: soon)
        bus.daemon.signal(SIGSTOP)
        await #expect(throws: DBusError.timedOut) {
            try await connection.busID(deadline: .milliseconds(20))
        }
        bus.daemon.signal(SIGCONT)
        #expect(try await connection.busID(deadline: soon) == id)
    }

    @Test func `does not get the late answer to the call before it`() async throws {
        let bus = try await PrivateBus.start()
        let connection = try await DBusConnection.connect(to: bus.address, deadline: soon)
        let name = await connection.uniqueName
        bus.daemon.signal(SIGSTOP)
        await #expect(throws: DBusError.timedOut) {
            try await connection.busID(deadline: .milliseconds(20))
        }
        async let names = connection.call(.bus("ListNames"), deadline: soon)
        bus.daemon.signal(SIGCONT)
        #expect(try await names.first?.strings?.contains(name) == true)
        #expect(await connection.load == (0, 0))
    }

    @Test func `waits in line when too many are in flight, and its deadline counts there too`() async throws {
        let bus = try await PrivateBus.start()
        let connection = try await DBusConnection.connect(
            to: bus.address, callsInFlight: 3, deadline: soon)
        bus.daemon.signal(SIGSTOP)
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addImmediateTask { try await connection.busID(deadline: soon) } }
            #expect(await connection.load == (3, 97))
            await #expect(throws: DBusError.timedOut) {
                try await connection.busID(deadline: .milliseconds(20))
            }
            #expect(await connection.load == (3, 97))
            bus.daemon.signal(SIGCONT)
            let ids = try await group.reduce(into: Set<String>()) { $0.insert($1) }
            #expect(ids.count == 1)
        }
        #expect(await connection.load == (0, 0))
    }

    @Test func `to us from outside is answered with an error, not with silence`() async throws {
        let bus = try await PrivateBus.start()
        let asked = try await DBusConnection.connect(to: bus.address, deadline: soon)
        let asking = try await DBusConnection.connect(to: bus.address, deadline: soon)
        let method = DBusMethod(
            destination: await asked.uniqueName, path: "/", interface: "org.example.X", member: "Y")
        let error = await #expect(throws: DBusError.self) { try await asking.call(method, deadline: soon) }
        guard case .refused("org.freedesktop.DBus.Error.UnknownMethod", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: [
        DBusMethod(destination: "no name", path: "/", interface: "a.b", member: "C"),
        DBusMethod(destination: "a.b", path: "relative", interface: "a.b", member: "C"),
        DBusMethod(destination: "a.b", path: "/", interface: "single", member: "C"),
        DBusMethod(destination: "a.b", path: "/", interface: "a.b", member: "C.D"),
        DBusMethod(destination: "a.b", path: "/\0", interface: "a.b", member: "C"),
    ])
    func `to a malformed name is refused before it is sent`(method: DBusMethod) async throws {
        let bus = try await PrivateBus.start()
        let connection = try await DBusConnection.connect(to: bus.address, deadline: soon)
        let error = await #expect(throws: DBusError.self) {
            try await connection.call(method, deadline: soon)
        }
        guard case .invalidArgument = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
