import DBus
import Glibc

/// Calls of `Notify` on one connection to a server that does nothing, one after the other and pipelined,
/// beside a C program that uses libdbus to make the same calls of the same server in the same run.
struct DBusBench {
    private static let peer = "org.example.Nothing"
    private static let pipeline = 64
    private static let rounds = 5

    private let address: String
    private let connection: DBusConnection
    private let client: DBusPeer

    /// Makes `count` calls (10,000 unless the first argument says otherwise) for each figure.
    ///
    /// Needs `dbus-daemon`, `dbus-test-tool` of Debian's package dbus-tests, and what ``DBusPeer`` needs.
    static func run(arguments: [String]) async throws {
        let count = arguments.first.flatMap { Int($0) } ?? 10_000
        let daemon = try BenchProcess("dbus-daemon", ["--session", "--nofork", "--print-address"])
        defer { daemon.end() }
        let address = try daemon.firstLine()
        let server = try BenchProcess(
            "dbus-test-tool", ["echo", "--name=\(peer)"], environment: ["DBUS_SESSION_BUS_ADDRESS": address])
        defer { server.end() }
        let bench = DBusBench(
            address: address,
            connection: try await DBusConnection.connect(
                to: address, callsInFlight: pipeline, deadline: .seconds(10)),
            client: try DBusPeer())
        try await bench.waitForServer()
        print("dbus: \(rounds) rounds of \(count) calls of Notify to a server that does nothing; medians")
        try await bench.compare("one by one", count, width: 1, limit: 0.9)
        try await bench.compare("\(pipeline) in flight", count, width: pipeline, limit: 0.7)
        await bench.connection.close()
    }

    /// The bus notifies us when the server has its name.
    private func waitForServer() async throws {
        try await connection.listen(for: .ownerChanged(of: Self.peer), deadline: .seconds(10))
        if try await connection.owner(of: Self.peer, deadline: .seconds(10)) != nil { return }
        for await signal in connection.signals where signal.arguments.first?.text == Self.peer { return }
    }

    /// Each round measures all sides within a few seconds; a ratio is one round's.
    private func compare(_ what: String, _ count: Int, width: Int, limit: Double) async throws {
        var ours: [Double] = []
        var written: [Double] = []
        var copied: [Double] = []
        for _ in 0..<Self.rounds {
            written.append(
                try client.callsPerSecond(
                    count, width: width, message: .written, to: Self.peer, on: address))
            ours.append(try await notify(count, width: width))
            copied.append(
                try client.callsPerSecond(
                    count, width: width, message: .copied, to: Self.peer, on: address))
        }
        let ratios = Figures(zip(ours, written).map { $0 / $1 })
        report(
            what,
            "\(Int(Figures(ours).median))/s, C \(Int(Figures(written).median))/s: "
                + "\(Self.percent(ratios.median)) (least \(Self.percent(ratios.at(0))))",
            limit: ">= \(Self.percent(limit)) of libdbus in C", isKept: ratios.median >= limit)
        print(
            "    beside C that sends copies of one message: \(Int(Figures(copied).median))/s, "
                + Self.percent(Figures(zip(ours, copied).map { $0 / $1 }).median))
    }

    private static func percent(_ ratio: Double) -> String { "\(Int((ratio * 100).rounded())) %" }

    /// Calls a second of ours, each with what a notice usually carries.
    private func notify(_ count: Int, width: Int) async throws -> Double {
        let method = DBusMethod(
            destination: Self.peer, path: "/org/freedesktop/Notifications",
            interface: "org.freedesktop.Notifications", member: "Notify")
        let watch = Stopwatch()
        try await withThrowingTaskGroup(of: Void.self) { [connection] group in
            for lane in 0..<width {
                group.addTask {
                    for _ in stride(from: lane, to: count, by: width) {
                        _ = try await connection.call(method, Self.arguments, deadline: .seconds(10))
                    }
                }
            }
            try await group.waitForAll()
        }
        return Double(count) / watch.seconds
    }

    /// Made again for every call, as the client in C does.
    private static var arguments: [DBusValue] {
        [
            .string("Belfry"), .uint32(7), .string(""), .string("ops · 5 new"),
            .string("+2 more\ndisk is at 91 % on /srv\nrestarted nginx\nall green again"),
            .strings(["default", "Open"]),
            .hints([
                "urgency": .byte(1), "value": .int32(41), "desktop-entry": .string("belfry"),
                "x-kde-origin-name": .string("ops"), "x-dunst-stack-tag": .string("belfry:thread:ops/main"),
            ]),
            .int32(-1),
        ]
    }
}
