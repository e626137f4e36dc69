import CDBus

/// A private connection for a few questions in a row: each call blocks its caller until the answer, or the deadline of
/// them all.
///
/// For synchronous code that reads something before anything else can be done, as it would read a file. Whoever serves
/// somebody meanwhile uses ``DBusConnection``.
@safe package final class BlockingConnection {
    private let connection: OpaquePointer
    private let due: ContinuousClock.Instant
    private var lastSerial: UInt32 = 0

    /// Connects to `address` and sends the bus its greeting; all calls together end by `deadline`.
    ///
    /// The corresponding C function is `dbus_connection_open_private`.
    /// - Throws: why it could not be opened, with libdbus' own message.
    package init(to address: String, deadline: Duration) throws(DBusError) {
        try Name.check(address: address)
        LibDBus.prepare()
        due = ContinuousClock.now + deadline
        var failure = unsafe CDBus.DBusError()
        unsafe dbus_error_init(&failure)
        guard let connection = unsafe dbus_connection_open_private(address, &failure) else {
            let (name, message) = unsafe Self.take(&failure)
            throw .cannotConnect(name: name, message: message)
        }
        unsafe dbus_connection_set_exit_on_disconnect(connection, 0)
        unsafe self.connection = unsafe connection
        let answer = try call(.bus("Hello"))
        guard let name = answer.first?.text else { throw .unexpectedReply("a greeting without a name") }
        unsafe dbus_bus_set_unique_name(connection, name)
    }

    deinit {
        unsafe dbus_connection_close(connection)
        unsafe dbus_connection_unref(connection)
    }

    /// Calls `method` and returns what it answers.
    ///
    /// The corresponding C function is `dbus_connection_send_with_reply_and_block`.
    /// - Throws: the peer's error as `.refused`, or why no answer came.
    package func call(_ method: DBusMethod, _ arguments: [DBusValue] = []) throws(DBusError) -> [DBusValue] {
        let left = due - ContinuousClock.now
        guard left > .zero else { throw .timedOut }
        lastSerial += 1
        let message = try Message(ReceivedMessage(MessageHead(method), arguments), serial: lastSerial)
        let (seconds, attoseconds) = left.components
        let milliseconds = Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
        var failure = unsafe CDBus.DBusError()
        unsafe dbus_error_init(&failure)
        guard
            let answer = unsafe dbus_connection_send_with_reply_and_block(
                connection, message.pointer, milliseconds, &failure)
        else {
            let (name, text) = unsafe Self.take(&failure)
            switch name {
            case DBUS_ERROR_NO_REPLY, DBUS_ERROR_TIMEOUT: throw .timedOut
            case DBUS_ERROR_DISCONNECTED: throw .disconnected
            case DBUS_ERROR_NO_MEMORY: throw .outOfMemory
            default: throw .refused(name: name, message: text)
            }
        }
        return try unsafe Message(owning: answer).answer()
    }

    /// The error's name and its text; it is empty afterwards.
    private static func take(_ failure: inout CDBus.DBusError) -> (name: String, message: String) {
        defer { unsafe dbus_error_free(&failure) }
        return unsafe (
            failure.name.map { unsafe String(cString: $0) } ?? "",
            failure.message.map { unsafe String(cString: $0) } ?? ""
        )
    }
}

@available(*, unavailable) extension BlockingConnection: Sendable {}
