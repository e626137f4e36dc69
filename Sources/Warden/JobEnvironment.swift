import Host
import Performing
import WardenProtocol

/// What a job finds in its environment.
enum JobEnvironment {
    /// Variables by which a service manager speaks to the warden itself, or that name what it opened.
    private static let managers: Set<String> = [
        "CACHE_DIRECTORY", "CONFIGURATION_DIRECTORY", "CREDENTIALS_DIRECTORY", "FDSTORE", "INVOCATION_ID",
        "JOURNAL_STREAM", "LISTEN_FDNAMES", "LISTEN_FDS", "LISTEN_PID", "LISTEN_PIDFDID", "LOGS_DIRECTORY",
        "MAINPID",
        "MANAGERPID", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE", "NOTIFY_SOCKET", "RUNTIME_DIRECTORY",
        "STATE_DIRECTORY", "SYSTEMD_EXEC_PID", "WATCHDOG_PID", "WATCHDOG_USEC",
    ]

    /// The warden's own environment without what is meant for it alone.
    static func scrubbed(_ own: [String: String]) -> [String: String] {
        own.filter { !managers.contains($0.key) && !$0.key.hasPrefix("BELFRY_") }
    }

    /// The job's environment: the scrubbed one, the order's on top, and how it reports; of an order with a
    /// terminal attached the order's alone.
    ///
    /// The run's id is always in it: by it a process that left its session is recognised.
    static func make(
        from scrubbed: ChildEnvironment.Shared, for order: ProcessOrder, notifySocket: String
    ) -> ChildEnvironment {
        var environment = ChildEnvironment(
            order.environment, sharing: order.attachment == nil ? scrubbed : nil)
        if environment["PATH"] == nil {
            environment.own["PATH"] = scrubbed.values["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        }
        if environment.own["BELFRY_ATTEMPT"] == nil {
            environment.own["BELFRY_ATTEMPT"] = String(order.key.attempt)
        }
        environment.own["BELFRY_RUN_ID"] = order.key.run
        environment.own["NOTIFY_SOCKET"] = notifySocket
        environment.own["PROGRESS_FD"] = "3"
        return environment
    }
}
