import CDBus

/// One private connection to a message bus.
///
/// All of libdbus happens on a thread this actor owns and runs on. No method blocks; every call has a
/// deadline. A connection that ended stays ended: make a new one.
package actor DBusConnection {
    private let thread: DBusThread
    private let arrivals: AsyncStream<DBusSignal>.Continuation
    private var link: BusLink?

    /// Signals in the order they came, the newest 4096 of those not yet read.
    ///
    /// Ends with the connection.
    /// For one reader.
    package nonisolated let signals: AsyncStream<DBusSignal>

    /// The actor runs on its own thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe thread.asUnownedSerialExecutor()
    }

    /// Our name on the bus, such as `:1.42`; empty until the bus has answered the greeting.
    package private(set) var uniqueName = ""

    /// Connects to `address`, authenticates as this user, and sends the bus its greeting, all by `deadline`.
    ///
    /// Only connect(2) itself has no deadline: on a bus that is stopped and has a full queue it waits, on
    /// the connection's own thread.
    /// - Parameters:
    ///   - address: such as `unix:path=/run/user/1000/bus`. Addresses that start a process are refused.
    ///   - callsInFlight: how many calls may wait for an answer at once; more wait in line.
    ///   - deadline: for the greeting and its answer.
    /// - Returns: an open connection with a name of its own.
    /// - Throws: why it could not be opened, with libdbus' own message.
    package static func connect(
        to address: String, callsInFlight: Int = 64, deadline: Duration
    ) async throws(DBusError) -> DBusConnection {
        try Name.check(address: address)
        let connection = try DBusConnection()
        do throws(DBusError) {
            try await connection.open(address, callsInFlight: callsInFlight)
            try await connection.greet(deadline: deadline)
        } catch {
            await connection.close()
            throw error
        }
        return connection
    }

    private init() throws(DBusError) {
        thread = try DBusThread()
        (signals, arrivals) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4096))
    }

    isolated deinit {
        close()
        thread.stop()
    }

    /// Whether the connection is open, as far as is known.
    package var isOpen: Bool { link?.isOpen ?? false }

    /// Calls that wait for an answer, and calls that wait for room.
    package var load: (inFlight: Int, waiting: Int) { link?.load ?? (0, 0) }

    /// Ends the connection: every waiter gets ``DBusError/disconnected``, ``signals`` ends.
    package func close() {
        link?.close()
        link = nil
        thread.attach(nil)
    }

    /// Calls `method` and returns what it answers.
    ///
    /// Cancelling the task does not cut the call short; the deadline and ``close()`` do.
    /// - Parameters:
    ///   - method: where the call goes.
    ///   - arguments: its arguments, as its signature demands.
    ///   - deadline: covers the time in line and the answer.
    ///   - late: called once, on the connection's thread, with the answer to a call that was sent and not
    ///     answered by its deadline, whenever it comes; or with ``DBusError/disconnected`` at the end of the
    ///     connection. Only enqueue there.
    /// - Returns: the answer's values, often none.
    /// - Throws: the peer's error as `.refused`, or why no answer came.
    package nonisolated func call(
        _ method: DBusMethod, _ arguments: [DBusValue] = [], deadline: Duration,
        late: (@Sendable (Result<[DBusValue], DBusError>) -> Void)? = nil
    ) async throws(DBusError) -> [DBusValue] {
        let message = try ReceivedMessage(MessageHead(method), arguments)
        let due = ContinuousClock.now + deadline
        let answer = await withCheckedContinuation { continuation in
            let waiter = Waiter(deadline: due, continuation: continuation, late: late)
            thread.post(PendingCall(message: message, waiter: waiter))
        }
        return try answer.get()
    }

    /// Broadcasts a signal to all connections with a match rule for it.
    package func emit(
        path: String, interface: String, member: String, _ arguments: [DBusValue] = []
    ) throws(DBusError) {
        guard let link else { throw .disconnected }
        let head = MessageHead(path: path, interface: interface, signal: member)
        try link.send(ReceivedMessage(head, arguments))
    }

    /// Subscribes to the signals that fit `match`.
    package nonisolated func subscribe(to match: DBusMatch, deadline: Duration) async throws(DBusError) {
        try Name.check(match.rule, as: .rule)
        _ = try await call(.bus("AddMatch"), [.string(match.rule)], deadline: deadline)
    }

    /// The first thing done on the thread: connecting may wait for a bus that is slow to accept.
    private func open(_ address: String, callsInFlight: Int) throws(DBusError) {
        let link = try BusLink(address: address, callsInFlight: callsInFlight, signals: arrivals)
        thread.attach(link)
        self.link = link
    }

    private func greet(deadline: Duration) async throws(DBusError) {
        let answer = try await call(.bus("Hello"), deadline: deadline)
        guard let name = answer.first?.text else { throw .unexpectedReply("a greeting without a name") }
        link?.setUniqueName(name)
        uniqueName = name
    }
}

extension DBusConnection {
    /// The unique name of the connection that owns `name`; `nil` when none does.
    ///
    /// Starts no service.
    package nonisolated func owner(of name: String, deadline: Duration) async throws(DBusError) -> String? {
        do throws(DBusError) {
            let answer = try await call(.bus("GetNameOwner"), [.string(name)], deadline: deadline)
            guard let owner = answer.first?.text else { throw .unexpectedReply("an owner without a name") }
            return owner
        } catch .refused(name: "org.freedesktop.DBus.Error.NameHasNoOwner", _) {
            return nil
        } catch {
            throw error
        }
    }

    /// Whether the bus can start a service for `name`.
    ///
    /// Starts no service.
    package nonisolated func canStart(_ name: String, deadline: Duration) async throws(DBusError) -> Bool {
        let answer = try await call(.bus("ListActivatableNames"), deadline: deadline)
        return answer.first?.strings?.contains(name) ?? false
    }

    /// Starts the service of `name`, and returns when it owns the name.
    package nonisolated func start(_ name: String, deadline: Duration) async throws(DBusError) {
        _ = try await call(
            .bus("StartServiceByName"), [.string(name), .uint32(0)], deadline: deadline)
    }

    /// Requests `name`; false when another connection owns it.
    package nonisolated func own(_ name: String, deadline: Duration) async throws(DBusError) -> Bool {
        let doNotQueue: UInt32 = 4
        let answer = try await call(
            .bus("RequestName"), [.string(name), .uint32(doNotQueue)], deadline: deadline)
        return answer.first?.uint32 == 1 || answer.first?.uint32 == 4
    }

    /// The id of this instance of the bus: unique, and another one after a restart.
    package nonisolated func busID(deadline: Duration) async throws(DBusError) -> String {
        let answer = try await call(.bus("GetId"), deadline: deadline)
        guard let id = answer.first?.text else { throw .unexpectedReply("a bus without an id") }
        return id
    }
}

/// A call that is not sent yet: posted to the connection's thread, then in line.
struct PendingCall: Sendable {
    var message: ReceivedMessage
    var waiter: Waiter
}

/// Who waits for the answer to a call, in line and in flight.
///
/// The code that removes it from the queue or from the calls in flight answers it, so that it is answered once.
struct Waiter: Sendable {
    typealias Answer = Result<[DBusValue], DBusError>

    /// Covers the time in line and the answer; nil once it has passed and a late answer is still wanted.
    private(set) var deadline: ContinuousClock.Instant?
    private let continuation: CheckedContinuation<Answer, Never>
    private let late: (@Sendable (Answer) -> Void)?

    /// Waits until `deadline`; `late` is called once with an answer that comes after it.
    init(
        deadline: ContinuousClock.Instant, continuation: CheckedContinuation<Answer, Never>,
        late: (@Sendable (Answer) -> Void)? = nil
    ) {
        self.deadline = deadline
        self.continuation = continuation
        self.late = late
    }

    func answer(_ answer: Answer) {
        if deadline == nil { late?(answer) } else { continuation.resume(returning: answer) }
    }

    func isDue(at now: ContinuousClock.Instant) -> Bool { deadline.map { $0 <= now } ?? false }

    /// Answers that the deadline has passed; who still waits for a late answer to a call that was sent.
    func expired() -> Waiter? {
        continuation.resume(returning: .failure(.timedOut))
        guard late != nil else { return nil }
        var waiter = self
        waiter.deadline = nil
        return waiter
    }
}

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
