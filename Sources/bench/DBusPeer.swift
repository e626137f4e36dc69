import Host

/// libdbus used as C programs use it, in a process of its own: the same `Notify` to the same server.
///
/// Needs a C compiler, pkg-config and libdbus' headers.
final class DBusPeer {
    /// Where each call's message comes from.
    enum Message: String {
        /// Written argument by argument, as every client of a notification server does.
        case written
        /// A copy of one that was written before; no client with something new to say can do that.
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
