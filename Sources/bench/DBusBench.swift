import DBus
import Glibc
import Host

/// Calls of `Notify` on one connection to a server that does nothing, one after the other and pipelined,
/// beside a C program that uses libdbus to make the same calls of the same server in the same run.
struct DBusBench {
    private static let peer = "org.example.Nothing"
    private static let pipeline = 64
    private static let rounds = 5

    private let address: String
    private let connection: DBusConnection
    private let client: DBusPeer

    /// Makes `count` calls (10,000 unless the first argument differs) for each figure.
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
        try await connection.subscribe(to: .ownerChanged(of: Self.peer), deadline: .seconds(10))
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

/// libdbus used as C programs use it, in a process of its own: the same `Notify` to the same server.
///
/// Needs a C compiler, pkg-config and libdbus' headers.
final class DBusPeer {
    /// Where each call's message comes from.
    enum Message: String {
        /// Written argument by argument, as every client of a notification server does.
        case written
        /// A copy of one that was written before; a client with new contents can't do that.
        case copied
    }

    private let folder: BenchFolder
    private var program: String { folder.path + "/client" }

    /// Compiles the client.
    init() throws {
        folder = try BenchFolder()
        try SmallFile.replace(folder.path + "/client.c", with: Array(Self.source.utf8))
        let compiler = try BenchProcess(
            "sh", ["-c", "cc -O2 -o '\(program)' '\(program).c' $(pkg-config --cflags --libs dbus-1)"])
        guard compiler.status() == 0 else { throw BenchProcess.Failed(program: "cc with libdbus-1-dev") }
    }

    /// Calls a second, `width` at a time, without the client's start.
    func callsPerSecond(
        _ count: Int, width: Int, message: Message, to server: String, on address: String
    ) throws -> Double {
        let client = try BenchProcess(program, [address, server, "\(count)", "\(width)", message.rawValue])
        guard let rate = Double(try client.firstLine()), client.status() == 0 else {
            throw BenchProcess.Failed(program: "the C client of libdbus")
        }
        return rate
    }

    /// Without deadlines, which cost libdbus a timer a call.
    private static let source = #"""
        #include <dbus/dbus.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <time.h>

        static int received;

        static void text(DBusMessageIter *to, const char *text) {
            dbus_message_iter_append_basic(to, DBUS_TYPE_STRING, &text);
        }

        static void hint(DBusMessageIter *to, const char *name, const char *type, const void *value) {
            DBusMessageIter entry, variant;
            dbus_message_iter_open_container(to, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
            text(&entry, name);
            dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, type, &variant);
            dbus_message_iter_append_basic(&variant, type[0], value);
            dbus_message_iter_close_container(&entry, &variant);
            dbus_message_iter_close_container(to, &entry);
        }

        static DBusMessage *notify(const char *server) {
            dbus_uint32_t replaced = 7;
            dbus_int32_t value = 41, expiry = -1;
            unsigned char urgency = 1;
            const char *entry = "belfry", *bot = "ops", *tag = "belfry:thread:ops/main";
            DBusMessageIter all, inner;
            DBusMessage *message = dbus_message_new_method_call(
                server, "/org/freedesktop/Notifications", "org.freedesktop.Notifications", "Notify");
            dbus_message_set_auto_start(message, FALSE);
            dbus_message_iter_init_append(message, &all);
            text(&all, "Belfry");
            dbus_message_iter_append_basic(&all, DBUS_TYPE_UINT32, &replaced);
            text(&all, "");
            text(&all, "ops · 5 new");
            text(&all, "+2 more\ndisk is at 91 % on /srv\nrestarted nginx\nall green again");
            dbus_message_iter_open_container(&all, DBUS_TYPE_ARRAY, "s", &inner);
            text(&inner, "default");
            text(&inner, "Open");
            dbus_message_iter_close_container(&all, &inner);
            dbus_message_iter_open_container(&all, DBUS_TYPE_ARRAY, "{sv}", &inner);
            hint(&inner, "urgency", "y", &urgency);
            hint(&inner, "value", "i", &value);
            hint(&inner, "desktop-entry", "s", &entry);
            hint(&inner, "x-kde-origin-name", "s", &bot);
            hint(&inner, "x-dunst-stack-tag", "s", &tag);
            dbus_message_iter_close_container(&all, &inner);
            dbus_message_iter_append_basic(&all, DBUS_TYPE_INT32, &expiry);
            return message;
        }

        static void finish(DBusPendingCall *call, void *unused) {
            DBusMessage *reply = dbus_pending_call_steal_reply(call);
            if (dbus_message_get_type(reply) != DBUS_MESSAGE_TYPE_METHOD_RETURN) exit(1);
            dbus_message_unref(reply);
            received++;
        }

        static double now(void) {
            struct timespec time;
            clock_gettime(CLOCK_MONOTONIC, &time);
            return time.tv_sec + time.tv_nsec / 1e9;
        }

        int main(int argc, char **argv) {
            const char *server = argv[2];
            int count = atoi(argv[3]), width = atoi(argv[4]), sent = 0;
            int copies = strcmp(argv[5], "copied") == 0;
            DBusConnection *bus = dbus_connection_open_private(argv[1], NULL);
            if (!bus || !dbus_bus_register(bus, NULL)) return 1;
            DBusMessage *first = notify(server);
            double start = now();
            while (received < count) {
                for (; sent < count && sent - received < width; sent++) {
                    DBusMessage *message = copies ? dbus_message_copy(first) : notify(server);
                    DBusPendingCall *call = NULL;
                    dbus_connection_send_with_reply(bus, message, &call, DBUS_TIMEOUT_INFINITE);
                    if (!call || !dbus_pending_call_set_notify(call, finish, NULL, NULL)) return 1;
                    dbus_pending_call_unref(call);
                    dbus_message_unref(message);
                }
                if (!dbus_connection_read_write_dispatch(bus, -1)) return 1;
            }
            printf("%.0f\n", count / (now() - start));
            return 0;
        }
        """#
}
