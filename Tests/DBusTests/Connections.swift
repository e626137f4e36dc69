import DBus
import Glibc
import TestSupport
import Testing

private let soon = Duration.seconds(60)

@Suite struct `a bus connection` {
    @Test func `is greeted with a name of its own`() async throws {
        let bus = try await PrivateBus.start()
        let first = try await DBusConnection.connect(to: bus.address, deadline: soon)
        let second = try await DBusConnection.connect(to: bus.address, deadline: soon)
        let names = (await first.uniqueName, await second.uniqueName)
        #expect(names.0.hasPrefix(":"))
        #expect(names.0 != names.1)
        let listed = try await first.call(.bus("ListNames"), deadline: soon).first?.strings ?? []
        #expect(Set(listed).isSuperset(of: [names.0, names.1]))
    }

    @Test(arguments: ["", "autolaunch:", "unixexec:path=/bin/true", "unix:path=/x;autolaunch:", "unix:a\0b"])
    func `refuses an address that would start a process or can't be read`(address: String) async throws {
        await #expect(throws: DBusError.badAddress(address)) {
            try await DBusConnection.connect(to: address, deadline: soon)
        }
    }

    @Test func `shows why there is nothing to connect to`() async throws {
        let folder = try TemporaryFolder()
        let error = await #expect(throws: DBusError.self) {
            try await DBusConnection.connect(to: "unix:path=\(folder.file("bus"))", deadline: soon)
        }
        guard case .cannotConnect("org.freedesktop.DBus.Error.FileNotFound", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `may block its caller, until an answer or a deadline for all calls`() async throws {
        let bus = try await PrivateBus.start()
        let connection = try BlockingConnection(to: bus.address, deadline: soon)
        let names = try connection.call(.bus("ListNames")).first?.strings ?? []
        #expect(names.contains("org.freedesktop.DBus"))
        #expect(throws: DBusError.self) {
            try connection.call(.bus("GetNameOwner"), [.string("org.example.nobody")])
        }
        let error = #expect(throws: DBusError.self) { try connection.call(.bus("NoSuchMethod")) }
        guard case .refused("org.freedesktop.DBus.Error.UnknownMethod", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let brief = try BlockingConnection(to: bus.address, deadline: .milliseconds(200))
        bus.daemon.signal(SIGSTOP)
        defer { bus.daemon.signal(SIGCONT) }
        #expect(throws: DBusError.timedOut) { try brief.call(.bus("ListNames")) }
        #expect(throws: DBusError.badAddress("autolaunch:")) {
            try BlockingConnection(to: "autolaunch:", deadline: soon)
        }
    }

    @Test func `gives up greeting a bus that does not answer`() async throws {
        let bus = try await PrivateBus.start()
        bus.daemon.signal(SIGSTOP)
        await #expect(throws: DBusError.timedOut) {
            try await DBusConnection.connect(to: bus.address, deadline: .milliseconds(50))
        }
    }

    @Test func `ends its signals and its calls when the bus dies`() async throws {
        let bus = try await PrivateBus.start()
        let connection = try await DBusConnection.connect(to: bus.address, deadline: soon)
        bus.daemon.signal(SIGSTOP)
        async let error = failure { () throws(DBusError) in
            _ = try await connection.busID(deadline: soon)
        }
        await bus.daemon.end()
        #expect(await error == .disconnected)
        for await _ in connection.signals {}
        #expect(await connection.isOpen == false)
        await #expect(throws: DBusError.disconnected) {
            try await connection.call(.bus("GetId"), deadline: soon)
        }
    }

    @Test func `is closed when nobody holds it any more`() async throws {
        let bus = try await PrivateBus.start()
        let watcher = try await DBusConnection.connect(to: bus.address, deadline: soon)
        var connection: DBusConnection? = try await DBusConnection.connect(to: bus.address, deadline: soon)
        let name = try #require(await connection?.uniqueName)
        try await watcher.subscribe(to: .ownerChanged(of: name), deadline: soon)
        connection = nil
        for await signal in watcher.signals where signal.member == "NameOwnerChanged" {
            #expect(signal.arguments == [.string(name), .string(name), .string("")])
            return
        }
        Issue.record("the watcher's connection ended first")
    }

    @Test func `closes with every waiter answered`() async throws {
        let bus = try await PrivateBus.start()
        let connection = try await DBusConnection.connect(
            to: bus.address, callsInFlight: 2, deadline: soon)
        bus.daemon.signal(SIGSTOP)
        let errors = await withTaskGroup(of: DBusError?.self) { group in
            for _ in 0..<5 {
                group.addImmediateTask {
                    await failure { () throws(DBusError) in _ = try await connection.busID(deadline: soon) }
                }
            }
            #expect(await connection.load == (2, 3))
            await connection.close()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(errors == Array(repeating: .disconnected, count: 5))
    }
}

/// How `work` failed; `nil` when it did not.
private func failure(of work: () async throws(DBusError) -> Void) async -> DBusError? {
    do throws(DBusError) {
        try await work()
        return nil
    } catch {
        return error
    }
}
