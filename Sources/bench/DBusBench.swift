import DBus
import Glibc

/// Calls of `Notify` on one connection to a server that does nothing, one after the other and pipelined,
/// beside libdbus' own C client doing the same to the same server in the same run.
enum DBusBench {
    private static let peer = "org.example.Nothing"
    private static let pipeline = 64

    /// Makes `count` calls (20,000 unless the first argument says otherwise) for each figure.
    ///
    /// Needs `dbus-daemon`, and `dbus-test-tool` of Debian's package dbus-tests.
    static func run(arguments: [String]) async throws {
        let count = arguments.first.flatMap { Int($0) } ?? 20_000
        let daemon = try BenchProcess("dbus-daemon", ["--session", "--nofork", "--print-address"])
        defer { daemon.end() }
        let address = try daemon.firstLine()
        let server = try BenchProcess(
            "dbus-test-tool", ["echo", "--name=\(peer)"], environment: ["DBUS_SESSION_BUS_ADDRESS": address])
        defer { server.end() }
        let connection = try await DBusConnection.connect(
            to: address, callsInFlight: pipeline, deadline: .seconds(10))
        try await waitForServer(connection)

        print("dbus: \(count) calls of Notify to a server that does nothing; best of 3")
        for (name, width, target) in [("one by one", 1, 10_000), ("\(pipeline) in flight", pipeline, 30_000)]
        {
            var ours = 0.0
            var theirs = 0.0
            for _ in 0..<3 {
                theirs = max(theirs, try spam(count, width: width, address))
                ours = max(ours, try await notify(count, width: width, connection))
            }
            print(
                "  \(name): \(Int(ours))/s, libdbus in C \(Int(theirs))/s, ratio "
                    + "\(Int(ours / theirs * 100)) %; to reach: \(target)/s")
        }
        await connection.close()
    }

    /// The bus tells when the server has its name.
    private static func waitForServer(_ connection: DBusConnection) async throws {
        try await connection.listen(for: .ownerChanged(of: peer), deadline: .seconds(10))
        if try await connection.owner(of: peer, deadline: .seconds(10)) != nil { return }
        for await signal in connection.signals where signal.arguments.first?.text == peer { return }
    }

    /// Calls a second of ours, each with what a notice usually carries.
    private static func notify(_ count: Int, width: Int, _ connection: DBusConnection) async throws -> Double
    {
        let method = DBusMethod(
            destination: peer, path: "/org/freedesktop/Notifications",
            interface: "org.freedesktop.Notifications", member: "Notify")
        let arguments: [DBusValue] = [
            .string("Belfry"), .uint32(7), .string(""), .string("ops · 5 new"),
            .string("+2 more\ndisk is at 91 % on /srv\nrestarted nginx\nall green again"),
            .strings(["default", "Open"]),
            .hints([
                "urgency": .byte(1), "value": .int32(41), "desktop-entry": .string("belfry"),
                "x-kde-origin-name": .string("ops"), "x-dunst-stack-tag": .string("belfry:thread:ops/main"),
            ]),
            .int32(-1),
        ]
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<width {
                group.addTask {
                    for _ in stride(from: lane, to: count, by: width) {
                        _ = try await connection.call(method, arguments, deadline: .seconds(10))
                    }
                }
            }
            try await group.waitForAll()
        }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    /// Calls a second of the C client, its start included, with as many bytes of text.
    private static func spam(_ count: Int, width: Int, _ address: String) throws -> Double {
        let start = ContinuousClock.now
        let client = try BenchProcess(
            "dbus-test-tool",
            [
                "spam", "--dest=\(peer)", "--count=\(count)", "--queue=\(width)",
                "--payload=\(String(repeating: "x", count: 300))",
            ], environment: ["DBUS_SESSION_BUS_ADDRESS": address])
        guard client.status() == 0 else { throw BenchProcess.Failed(program: "dbus-test-tool spam") }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }
}
