import CDBus

/// A call somebody waits for: first in line, then in flight, then answered exactly once.
@safe final class PendingCall {
    typealias Answer = Result<[DBusValue], DBusError>

    let id: Int
    let message: Message
    let deadline: ContinuousClock.Instant
    private var waiter: CheckedContinuation<Answer, Never>?
    private var handle: OpaquePointer?

    init(
        id: Int, message: Message, deadline: ContinuousClock.Instant,
        waiter: CheckedContinuation<Answer, Never>
    ) {
        self.id = id
        self.message = message
        self.deadline = deadline
        self.waiter = waiter
    }

    deinit {
        releaseHandle()
    }

    var isAnswered: Bool { waiter == nil }

    /// Sends the call; `whenDone` is called once on the thread when libdbus has an answer, maybe at once.
    ///
    /// The deadline is not given to libdbus: ours also covers the time in line.
    /// The corresponding C function is `dbus_connection_send_with_reply`.
    func send(on connection: OpaquePointer, whenDone: @escaping (PendingCall) -> Void) {
        var pending: OpaquePointer?
        guard
            unsafe dbus_connection_send_with_reply(
                connection, message.pointer, &pending, DBUS_TIMEOUT_INFINITE) != 0
        else { return answer(.failure(.outOfMemory)) }
        // libdbus says yes and gives nothing when the connection is already gone.
        guard let pending = unsafe pending else { return answer(.failure(.disconnected)) }
        unsafe handle = unsafe pending
        let completion = Completion(call: self, whenDone: whenDone)
        let context = unsafe Unmanaged.passRetained(completion).toOpaque()
        let isSet = unsafe dbus_pending_call_set_notify(
            pending,
            { _, context in unsafe Completion.from(context)?.fire() },
            context,
            { context in
                if let context = unsafe context { unsafe Unmanaged<Completion>.fromOpaque(context).release() }
            })
        guard isSet != 0 else {
            unsafe Unmanaged<Completion>.fromOpaque(context).release()
            return answer(.failure(.outOfMemory))
        }
        // An answer that was there before the notice was set is never announced.
        if unsafe dbus_pending_call_get_completed(pending) != 0 { completion.fire() }
    }

    /// Takes the answer out of libdbus and wakes the waiter.
    func complete() {
        guard let handle = unsafe handle, let reply = unsafe dbus_pending_call_steal_reply(handle) else {
            return answer(.failure(.disconnected))
        }
        let message = unsafe Message(owning: reply)
        do throws(DBusError) {
            answer(.success(try message.answer()))
        } catch {
            answer(.failure(error))
        }
    }

    /// Wakes the waiter with `answer`, unless it was woken before, and forgets the call in libdbus.
    func answer(_ answer: Answer) {
        waiter?.resume(returning: answer)
        waiter = nil
        if let handle = unsafe handle { unsafe dbus_pending_call_cancel(handle) }
        releaseHandle()
    }

    private func releaseHandle() {
        if let handle = unsafe handle { unsafe dbus_pending_call_unref(handle) }
        unsafe handle = nil
    }
}

@available(*, unavailable) extension PendingCall: Sendable {}

/// What the notice of libdbus carries.
///
/// It holds the call until libdbus frees the notice.
private final class Completion {
    private var call: PendingCall?
    private let whenDone: (PendingCall) -> Void

    init(call: PendingCall, whenDone: @escaping (PendingCall) -> Void) {
        self.call = call
        self.whenDone = whenDone
    }

    static func from(_ context: UnsafeMutableRawPointer?) -> Completion? {
        unsafe context.map { unsafe Unmanaged<Completion>.fromOpaque($0).takeUnretainedValue() }
    }

    func fire() {
        guard let call else { return }
        self.call = nil
        whenDone(call)
    }
}
