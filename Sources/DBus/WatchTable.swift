import CDBus
import Glibc

/// The descriptors and timers that libdbus wants watched.
///
/// Each registration has a number of its own: libdbus may free a watch and get the same address for the
/// next, between the poll and the handling.
@safe final class WatchTable {
    /// One descriptor to poll.
    struct Watch {
        var id: Int
        var descriptor: Int32
        var events: Int16
    }

    @safe private struct Registered {
        var pointer: OpaquePointer
    }

    @safe private struct Timer {
        var pointer: OpaquePointer
        var due: ContinuousClock.Instant
    }

    private var lastID = 0
    private var watches: [Int: Registered] = [:]
    private var timers: [Int: Timer] = [:]
    /// What ``enabled()`` returned last; `nil` after libdbus changed a watch.
    private var current: [Watch]?

    /// Hands libdbus our tables.
    ///
    /// The tables must outlive the connection or ``stopWatching(_:)``.
    ///
    /// The corresponding C functions are `dbus_connection_set_watch_functions` and `..._timeout_functions`.
    func startWatching(_ connection: OpaquePointer) throws(DBusError) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let watching = unsafe dbus_connection_set_watch_functions(
            connection,
            { watch, context in
                unsafe WatchTable.from(context)?.add(watch: watch)
                return 1
            },
            { watch, context in unsafe WatchTable.from(context)?.remove(watch: watch) },
            { _, context in unsafe WatchTable.from(context)?.current = nil },
            context, nil)
        let timing = unsafe dbus_connection_set_timeout_functions(
            connection,
            { timeout, context in
                unsafe WatchTable.from(context)?.add(timeout: timeout)
                return 1
            },
            { timeout, context in unsafe WatchTable.from(context)?.remove(timeout: timeout) },
            { timeout, context in
                unsafe WatchTable.from(context)?.remove(timeout: timeout)
                unsafe WatchTable.from(context)?.add(timeout: timeout)
            },
            context, nil)
        guard watching != 0, timing != 0 else { throw .outOfMemory }
    }

    /// Takes the tables away from libdbus again.
    func stopWatching(_ connection: OpaquePointer) {
        unsafe dbus_connection_set_watch_functions(connection, nil, nil, nil, nil, nil)
        unsafe dbus_connection_set_timeout_functions(connection, nil, nil, nil, nil, nil)
    }

    /// What to poll now.
    func enabled() -> [Watch] {
        if let current { return current }
        let enabled = watches.compactMap { id, watch in
            unsafe dbus_watch_get_enabled(watch.pointer) != 0 ? Self.watch(id, watch.pointer) : nil
        }
        current = enabled
        return enabled
    }

    private static func watch(_ id: Int, _ pointer: OpaquePointer) -> Watch {
        let flags = unsafe dbus_watch_get_flags(pointer)
        var events: Int32 = 0
        if flags & DBUS_WATCH_READABLE.rawValue != 0 { events |= POLLIN }
        if flags & DBUS_WATCH_WRITABLE.rawValue != 0 { events |= POLLOUT }
        return Watch(id: id, descriptor: unsafe dbus_watch_get_unix_fd(pointer), events: Int16(events))
    }

    /// Passes poll's result to libdbus, if the watch still exists.
    func handle(_ watch: Watch, events: Int16) {
        guard let pointer = unsafe watches[watch.id]?.pointer,
            unsafe dbus_watch_get_enabled(pointer) != 0
        else { return }
        let events = Int32(events)
        var flags: UInt32 = 0
        if events & POLLIN != 0 { flags |= DBUS_WATCH_READABLE.rawValue }
        if events & POLLOUT != 0 { flags |= DBUS_WATCH_WRITABLE.rawValue }
        if events & (POLLERR | POLLNVAL) != 0 { flags |= DBUS_WATCH_ERROR.rawValue }
        if events & POLLHUP != 0 { flags |= DBUS_WATCH_HANGUP.rawValue }
        unsafe dbus_watch_handle(pointer, flags)
    }

    /// When libdbus' next timer is due.
    var nextTimer: ContinuousClock.Instant? {
        timers.isEmpty ? nil : timers.values.map(\.due).min()
    }

    /// Fires the timers that are due at `now`.
    func fireTimers(at now: ContinuousClock.Instant) {
        for (id, timer) in timers where timer.due <= now {
            guard timers[id] != nil else { continue }  // an earlier one removed it
            timers[id]?.due = unsafe now + Self.interval(of: timer.pointer)
            unsafe dbus_timeout_handle(timer.pointer)
        }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> WatchTable? {
        unsafe context.map { unsafe Unmanaged<WatchTable>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func interval(of timeout: OpaquePointer) -> Duration {
        .milliseconds(unsafe dbus_timeout_get_interval(timeout))
    }

    private func add(watch: OpaquePointer?) {
        guard let watch = unsafe watch else { return }
        lastID += 1
        watches[lastID] = unsafe Registered(pointer: watch)
        current = nil
    }

    private func remove(watch: OpaquePointer?) {
        watches = watches.filter { unsafe $0.value.pointer != watch }
        current = nil
    }

    private func add(timeout: OpaquePointer?) {
        guard let timeout = unsafe timeout, unsafe dbus_timeout_get_enabled(timeout) != 0 else { return }
        lastID += 1
        timers[lastID] = unsafe Timer(
            pointer: timeout, due: ContinuousClock.now + Self.interval(of: timeout))
    }

    private func remove(timeout: OpaquePointer?) {
        timers = timers.filter { unsafe $0.value.pointer != timeout }
    }
}

@available(*, unavailable) extension WatchTable: Sendable {}
