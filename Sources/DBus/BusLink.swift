import CDBus

/// One private libdbus connection with everything that hangs on it.
///
/// Lives on its ``DBusThread`` only.
@safe final class BusLink {
    private static let messagesPerTurn = 256

    private let connection: OpaquePointer
    private let table = WatchTable()
    private let signals: AsyncStream<DBusSignal>.Continuation
    private let limit: Int
    private var lastID = 0
    private var line: [PendingCall] = []
    private var flying: [Int: PendingCall] = [:]
    /// No deadline lies before this; it may be too early, never too late.
    private var earliestDeadline: ContinuousClock.Instant?
    private(set) var isOpen = true

    /// Opens a connection to `address`, not yet introduced to the bus.
    ///
    /// The corresponding C function is `dbus_connection_open_private`: a shared connection would end the
    /// process when the bus goes.
    init(
        address: String, callsInFlight limit: Int, signals: AsyncStream<DBusSignal>.Continuation
    ) throws(DBusError) {
        LibDBus.prepare()
        var failure = unsafe CDBus.DBusError()
        unsafe dbus_error_init(&failure)
        guard let connection = unsafe dbus_connection_open_private(address, &failure) else {
            defer { unsafe dbus_error_free(&failure) }
            throw unsafe .cannotConnect(
                name: failure.name.map { unsafe String(cString: $0) } ?? "",
                message: failure.message.map { unsafe String(cString: $0) } ?? "")
        }
        unsafe dbus_connection_set_exit_on_disconnect(connection, 0)
        unsafe self.connection = unsafe connection
        self.limit = limit
        self.signals = signals
        do throws(DBusError) {
            try unsafe table.startWatching(connection)
            let isFiltered = unsafe dbus_connection_add_filter(
                connection, Self.receive, Unmanaged.passUnretained(self).toOpaque(), nil)
            guard isFiltered != 0 else { throw .outOfMemory }
        } catch {
            close()
            throw error
        }
    }

    deinit {
        precondition(!isOpen, "a link is closed on its thread before it is let go")
        unsafe dbus_connection_unref(connection)
    }

    /// Ends the connection: every waiter gets ``DBusError/disconnected``, the signals end.
    func close() {
        guard isOpen else { return }
        isOpen = false
        for call in line + flying.values { call.answer(.failure(.disconnected)) }
        line = []
        flying = [:]
        unsafe dbus_connection_remove_filter(
            connection, Self.receive, Unmanaged.passUnretained(self).toOpaque())
        unsafe table.stopWatching(connection)
        unsafe dbus_connection_close(connection)
        signals.finish()
    }

    // MARK: Calls

    /// Calls in flight and calls that wait for room.
    var load: (inFlight: Int, waiting: Int) { (flying.count, line.count) }

    /// Sends `message` as soon as there is room, and answers `waiter` exactly once, by `deadline`.
    func call(
        _ message: Message, deadline: Duration, waiter: CheckedContinuation<PendingCall.Answer, Never>
    ) {
        guard isOpen else { return waiter.resume(returning: .failure(.disconnected)) }
        lastID += 1
        let due = ContinuousClock.now + deadline
        line.append(PendingCall(id: lastID, message: message, deadline: due, waiter: waiter))
        earliestDeadline = min(earliestDeadline ?? due, due)
        sendFromLine()
    }

    /// Sends a message nobody answers.
    func send(_ message: Message) throws(DBusError) {
        guard isOpen else { throw .disconnected }
        guard unsafe dbus_connection_send(connection, message.pointer, nil) != 0 else { throw .outOfMemory }
    }

    /// Tells libdbus the name the bus gave us.
    func setUniqueName(_ name: String) {
        unsafe dbus_bus_set_unique_name(connection, name)
    }

    private func sendFromLine() {
        while flying.count < limit, !line.isEmpty {
            let call = line.removeFirst()
            flying[call.id] = call
            unsafe call.send(on: connection) { [unowned self] done in
                self.flying[done.id] = nil
                done.complete()
            }
            if call.isAnswered { flying[call.id] = nil }
        }
    }

    // MARK: Turning the loop

    /// Delivers what has arrived, up to a bound, and ends what is late.
    ///
    /// True when more is waiting.
    func advance() -> Bool {
        guard isOpen else { return false }
        var turns = Self.messagesPerTurn
        while turns > 0, unsafe dbus_connection_dispatch(connection) == DBUS_DISPATCH_DATA_REMAINS {
            turns -= 1
        }
        let now = ContinuousClock.now
        table.fireTimers(at: now)
        endLateCalls(at: now)
        // Closed here and not in the callback that heard of it: libdbus is still inside then.
        let hasMore = unsafe dbus_connection_get_dispatch_status(connection) == DBUS_DISPATCH_DATA_REMAINS
        let isConnected = unsafe dbus_connection_get_is_connected(connection) != 0
        guard hasMore || isConnected else {
            close()
            return false
        }
        sendFromLine()
        return hasMore
    }

    /// How long poll may wait: rounded up, -1 for ever.
    func millisecondsToDeadline() -> Int32 {
        guard isOpen, let next = [earliestDeadline, table.nextTimer].compactMap(\.self).min() else {
            return -1
        }
        let (seconds, attoseconds) = (next - ContinuousClock.now).components
        return Int32(clamping: max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1))
    }

    func enabledWatches() -> [WatchTable.Watch] {
        isOpen ? table.enabled() : []
    }

    func handle(_ watch: WatchTable.Watch, events: Int16) {
        table.handle(watch, events: events)
    }

    private func endLateCalls(at now: ContinuousClock.Instant) {
        guard let earliestDeadline, earliestDeadline <= now else { return }
        for call in line + flying.values where call.deadline <= now {
            flying[call.id] = nil
            call.answer(.failure(.timedOut))
        }
        line.removeAll(where: \.isAnswered)
        self.earliestDeadline = (line + flying.values).map(\.deadline).min()
    }

    // MARK: Receiving

    /// Passes signals on.
    ///
    /// Everything else is left to libdbus, which answers calls to us with an error.
    private static let receive: DBusHandleMessageFunction = { _, message, context in
        guard let message = unsafe message, let context = unsafe context else {
            return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
        }
        let link = unsafe Unmanaged<BusLink>.fromOpaque(context).takeUnretainedValue()
        let kept = unsafe Message(keeping: message)
        if !kept.saysDisconnected, let signal = kept.signal { link.signals.yield(signal) }
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
    }
}

@available(*, unavailable) extension BusLink: Sendable {}
