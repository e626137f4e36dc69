import DBus
import TestSupport
import Testing

private let soon = Duration.seconds(60)
private let name = "org.example.Bell"

@Suite struct `a well-known name` {
    @Test func `notifies its listeners when its owner comes and goes`() async throws {
        let bus = try await PrivateBus.start()
        let watcher = try await DBusConnection.connect(to: bus.address, deadline: soon)
        try await watcher.subscribe(to: .ownerChanged(of: name), deadline: soon)
        #expect(try await watcher.owner(of: name, deadline: soon) == nil)

        let owner = try await DBusConnection.connect(to: bus.address, deadline: soon)
        let unique = await owner.uniqueName
        #expect(try await owner.own(name, deadline: soon))
        #expect(try await watcher.own(name, deadline: soon) == false)
        #expect(try await watcher.owner(of: name, deadline: soon) == unique)
        await owner.close()

        var arrivals = watcher.signals.makeAsyncIterator()
        var changes: [[DBusValue]] = []
        while changes.count < 2, let signal = await arrivals.next() {
            if signal.member == "NameOwnerChanged" { changes.append(signal.arguments) }
        }
        #expect(
            changes == [
                [.string(name), .string(""), .string(unique)],
                [.string(name), .string(unique), .string("")],
            ])
    }

    @Test func `is not started by asking for it`() async throws {
        let bus = try await PrivateBus.start(services: [name: "/bin/false"])
        let connection = try await DBusConnection.connect(to: bus.address, deadline: soon)
        #expect(try await connection.canStart(name, deadline: soon))
        #expect(try await connection.canStart("org.example.Other", deadline: soon) == false)
        #expect(try await connection.owner(of: name, deadline: soon) == nil)
        let error = await #expect(throws: DBusError.self) {
            try await connection.call(
                DBusMethod(destination: name, path: "/", interface: "a.b", member: "C"), deadline: soon)
        }
        guard case .refused("org.freedesktop.DBus.Error.NameHasNoOwner", _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let failed = await #expect(throws: DBusError.self) {
            try await connection.start(name, deadline: soon)
        }
        guard case .refused("org.freedesktop.DBus.Error.Spawn.ChildExited", _) = failed else {
            Issue.record("\(String(describing: failed))")
            return
        }
    }

    @Test func `in a match rule may hold a quote`() {
        #expect(
            DBusMatch(interface: "a.b", firstArgument: "it's").rule
                == #"type='signal',interface='a.b',arg0='it'\''s'"#)
    }
}
