import CDBus

/// Settings of libdbus as a whole, made once before the first connection.
///
/// `dbus_shutdown` is never called.
enum LibDBus {
    /// Makes libdbus safe for threads, and leaves the process' SIGPIPE alone.
    static func prepare() {
        once
    }

    private static let once: Void = {
        dbus_threads_init_default()
        dbus_connection_set_change_sigpipe(0)
    }()
}
