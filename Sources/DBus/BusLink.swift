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
    private var lastSerial: UInt32 = 0
    private var line: ArraySlice<PendingCall> = []
    private var flying: [UInt32: Waiter] = [:]
    /// No deadline lies before this; it may be too early, never too late.
    private var earliestDeadline: ContinuousClock.Instant?
    private(set) var isOpen = true

    /// Opens a connection to `address`, not yet introduced to the bus.
    ///
    /// The corresponding C function is `dbus_connection_open_private`: a shared connection would end the
    /// process when the bus exits.
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
        for waiter in line.map(\.waiter) + flying.values { waiter.answer(.failure(.disconnected)) }
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

    /// Sends `call` as soon as there is room, and answers its waiter exactly once, by its deadline.
    ///
    /// What comes after it goes to the taker of late answers, once.
    func make(_ call: PendingCall) {
        guard isOpen else { return call.waiter.answer(.failure(.disconnected)) }
        if let due = call.waiter.deadline { earliestDeadline = min(earliestDeadline ?? due, due) }
        line.append(call)
        sendFromLine()
    }

    /// Sends a message, and returns the number it was sent under, which a reply to it names.
    ///
    /// The corresponding C function is `dbus_connection_send`.
    @discardableResult
    func send(_ wire: ReceivedMessage) throws(DBusError) -> UInt32 {
        guard isOpen else { throw .disconnected }
        lastSerial &+= 1
        if lastSerial == 0 { lastSerial = 1 }  // 0 is no number
        let message = try Message(wire, serial: lastSerial)
        guard unsafe dbus_connection_send(connection, message.pointer, nil) != 0 else { throw .outOfMemory }
        return lastSerial
    }

    /// Passes the name the bus gave us to libdbus.
    func setUniqueName(_ name: String) {
        unsafe dbus_bus_set_unique_name(connection, name)
    }

    private func sendFromLine() {
        while flying.count < limit, let call = line.popFirst() {
            do throws(DBusError) {
                let serial = try send(call.message)
                flying[serial] = call.waiter
            } catch {
                call.waiter.answer(.failure(error))
            }
        }
    }

    /// Answers the call that `message` replies to; false when nobody waits for it, or nobody any more.
    private func finishCall(with message: Message) -> Bool {
        guard let waiter = flying.removeValue(forKey: message.replySerial) else { return false }
        if flying.isEmpty, line.isEmpty { earliestDeadline = nil }
        do throws(DBusError) {
            waiter.answer(.success(try message.answer()))
        } catch {
            waiter.answer(.failure(error))
        }
        return true
    }

    // MARK: Turning the loop

    /// Delivers what has arrived, up to a bound, and ends what is late.
    func advance() {
        guard isOpen else { return }
        var turns = Self.messagesPerTurn
        while turns > 0, unsafe dbus_connection_dispatch(connection) == DBUS_DISPATCH_DATA_REMAINS {
            turns -= 1
        }
        let now = ContinuousClock.now
        table.fireTimers(at: now)
        endLateCalls(at: now)
        // Closed here and not in the callback that reported it: libdbus is still inside then.
        let isConnected = unsafe dbus_connection_get_is_connected(connection) != 0
        guard isConnected || hasMore else { return close() }
        sendFromLine()
    }

    /// Whether ``advance()`` has something to deliver without waiting for the bus.
    ///
    /// A send that fails makes libdbus deliver the end of the connection, with no word from poll.
    var hasMore: Bool {
        guard isOpen else { return false }
        return unsafe dbus_connection_get_dispatch_status(connection) == DBUS_DISPATCH_DATA_REMAINS
    }

    /// How long poll may wait: rounded up, -1 for ever.
    func millisecondsToDeadline() -> Int32 {
        guard isOpen else { return -1 }
        var next = table.nextTimer
        if let earliestDeadline { next = min(next ?? earliestDeadline, earliestDeadline) }
        guard let next else { return -1 }
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
        for (serial, waiter) in flying where waiter.isDue(at: now) { flying[serial] = waiter.expired() }
        for call in line where call.waiter.isDue(at: now) { call.waiter.answer(.failure(.timedOut)) }
        line.removeAll { $0.waiter.isDue(at: now) }
        self.earliestDeadline = (line.map(\.waiter) + flying.values).compactMap(\.deadline).min()
    }

    // MARK: Receiving

    /// Passes replies and signals on.
    ///
    /// All else is left to libdbus, which answers calls to us with an error.
    private static let receive: DBusHandleMessageFunction = { _, message, context in
        guard let message = unsafe message, let context = unsafe context else {
            return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
        }
        let link = unsafe Unmanaged<BusLink>.fromOpaque(context).takeUnretainedValue()
        let kept = unsafe Message(keeping: message)
        if kept.isReply, link.finishCall(with: kept) { return DBUS_HANDLER_RESULT_HANDLED }
        if let signal = kept.signal, !kept.saysDisconnected { link.signals.yield(signal) }
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED
    }
}

@available(*, unavailable) extension BusLink: Sendable {}
