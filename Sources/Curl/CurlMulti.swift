import CCurl
import Glibc
import Synchronization

/// Makes HTTP requests and sends mails, any number at a time, on a thread of its own.
///
/// Tasks only wait: nothing of libcurl ever runs on their threads. Those that do little but make requests may run on
/// this one instead, by ``executor``. Close it when done; a request made later, or still under way, ends with
/// ``CurlError/closed``.
///
/// The corresponding C functions are those of the multi interface, libcurl-multi(3).
package final class CurlMulti: Sendable {
    let inbox: CurlInbox
    /// Runs tasks on the thread of the transfers: between such a task and its request no other thread is woken.
    ///
    /// For tasks that compute little and never block; they delay every transfer.
    package let executor: any TaskExecutor
    /// The thread, until it was joined.
    private let thread: Mutex<pthread_t?>

    /// Starts the thread.
    ///
    /// A connection that many requests share gets no further one while it has been silent for longer than `patience` though
    /// answers were due: it may be dead.
    /// - Throws: ``CurlError/library(_:)`` when libcurl or the system is out of memory or threads.
    package init(patience: Duration = .seconds(3)) throws(CurlError) {
        let loop = try CurlLoop(patience: patience)
        inbox = loop.inbox
        executor = CurlExecutor(inbox)
        thread = Mutex(try startThread(for: loop))
    }

    deinit {
        close()
    }

    /// Sends a request and waits for its answer, whatever its status.
    ///
    /// - Throws: ``CurlError/canceled`` soon after the task was cancelled; the server may have had the
    ///   request all the same.
    package func perform(_ request: CurlRequest) async throws(CurlError) -> CurlResponse {
        try await carry(.request(request))
    }

    /// Announces a request that may come within a fraction of a millisecond: wakes the thread, which waits for it without
    /// going to sleep.
    ///
    /// To be called while something is done that the request has to wait for, such as a sync of the disk.
    package func expectWork() { inbox.expectWork() }

    /// Does an errand and waits for its end.
    func carry(_ errand: CurlErrand) async throws(CurlError) -> CurlResponse {
        let ticket = inbox.makeTicket()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard inbox.leave(.start(errand, ticket: ticket, .whole(continuation))) else {
                    continuation.resume(returning: .failure(.closed))
                    return
                }
                // The handler below may have run before there was anything to cancel.
                if Task.isCancelled { _ = inbox.leave(.cancel(ticket: ticket)) }
            }
        } onCancel: {
            _ = inbox.leave(.cancel(ticket: ticket))
        }
        return try result.get()
    }

    /// Ends every request with ``CurlError/closed`` and waits until the thread has ended.
    ///
    /// Quick: nothing waits for a server or a lookup. A second call does nothing. Not to be called by an
    /// ``AddressGuard``, which runs on the very thread.
    package func close() {
        let ending = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        guard let ending else { return }
        inbox.close()
        // The last holder may be a task on the thread itself, which ends after it.
        if pthread_equal(ending, pthread_self()) != 0 {
            pthread_detach(ending)
        } else {
            pthread_join(ending, nil)
        }
    }
}

/// Runs tasks on the transfer thread, and elsewhere once that has ended.
private final class CurlExecutor: TaskExecutor {
    private let inbox: CurlInbox

    init(_ inbox: CurlInbox) {
        self.inbox = inbox
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let order = CurlInbox.Order.run { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        if !inbox.leave(order) { globalConcurrentExecutor.enqueue(job) }
    }
}

/// Runs `loop` on a thread that takes no signals: they belong to the program's own threads, and a write to
/// a connection the peer has closed must end in an error, not in SIGPIPE (libcurl is configured to install no
/// handlers).
private func startThread(for loop: CurlLoop) throws(CurlError) -> pthread_t {
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    // What the thread's own instructions raise stays deliverable, so that a crash is reported as one.
    for signal in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT] { unsafe sigdelset(&all, signal) }
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

    var thread = pthread_t()
    let argument = unsafe Unmanaged.passRetained(loop)
    let code = unsafe pthread_create(
        &thread, nil,
        { argument in
            guard let argument = unsafe argument else { return nil }
            unsafe Unmanaged<CurlLoop>.fromOpaque(argument).takeRetainedValue().run()
            return nil
        }, argument.toOpaque())
    guard code == 0 else {
        unsafe argument.release()
        throw .library(
            CurlError.Fault(code: UInt32(bitPattern: code), text: unsafe String(cString: strerror(code))))
    }
    return thread
}

/// What tasks ask of the transfer thread: the one thing both sides touch.
final class CurlInbox: Sendable {
    /// A wish of some task.
    enum Order: Sendable {
        /// Begin a request, or a mail.
        case start(CurlErrand, ticket: UInt64, Reply)
        /// Let a paused transfer continue: its reader has room again.
        case resume(ticket: UInt64)
        /// End a request whose task was cancelled.
        case cancel(ticket: UInt64)
        /// Run a part of a task.
        case run(@Sendable () -> Void)
    }

    /// How the task that made a request gets the answer.
    enum Reply: Sendable {
        /// When it is complete.
        case whole(CheckedContinuation<Result<CurlResponse, CurlError>, Never>)
        /// Piece by piece.
        case pieces(CurlFlow)

        /// Hands over the outcome of the transfer.
        func finish(_ result: Result<CurlResponse, CurlError>) {
            switch self {
            case .whole(let continuation): continuation.resume(returning: result)
            case .pieces(let flow): flow.finish(result.map { _ in })
            }
        }
    }

    /// Everything asked since the last look.
    struct Batch {
        var orders: [Order] = []
        var isClosing = false
        /// Whether there is nothing in it for libcurl.
        var isOfParts: Bool { orders.allSatisfy { if case .run = $0 { true } else { false } } }
    }

    private struct State {
        var batch = Batch()
        var nextTicket: UInt64 = 0
        /// The handle to wake; `nil` when its thread waits no more.
        var waker: Waker?
        /// The thread that works; it looks again before it waits.
        var worker: pthread_t?
        /// Whether the thread was woken for orders that are about to come; it looks again before it waits.
        var isExpecting = false
    }

    /// The handle, for the one call that any thread may make on it.
    @safe
    private struct Waker: @unchecked Sendable {  // SAFE: libcurl allows its one call from every thread,
        // and it is only made under the lock that `stop` takes before the handle is freed.
        let multi: UnsafeMutableRawPointer

        func wake() { unsafe _ = curl_multi_wakeup(multi) }
    }

    private let state: Mutex<State>
    /// Whether there is anything to take; for a look without the lock.
    private let isFilled = Atomic(false)

    init(waking multi: UnsafeMutableRawPointer) {
        state = Mutex(State(waker: unsafe Waker(multi: multi)))
    }

    /// A number no other request has.
    func makeTicket() -> UInt64 {
        state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
    }

    /// Leaves an order.
    ///
    /// False when the thread takes none any more.
    func leave(_ order: Order) -> Bool {
        state.withLock { state in
            guard let waker = state.waker, !state.batch.isClosing else { return false }
            // A full inbox has woken the thread already: one wake-up serves them all.
            if state.batch.orders.isEmpty, state.worker != pthread_self(), !state.isExpecting { waker.wake() }
            state.batch.orders.append(order)
            isFilled.store(true, ordering: .releasing)
            return true
        }
    }

    /// Wakes the thread for orders that are about to come, unless it is awake.
    func expectWork() {
        state.withLock { state in
            guard let waker = state.waker, state.batch.orders.isEmpty, !state.batch.isClosing,
                !state.isExpecting, state.worker != pthread_self()
            else { return }
            state.isExpecting = true
            waker.wake()
        }
    }

    /// Whether orders are expected.
    var isExpecting: Bool { state.withLock(\.isExpecting) }

    /// Waits for an order without going to sleep, for so long at most; false: none came.
    func awaitOrder(for patience: Duration) -> Bool {
        let end = ContinuousClock.now + patience
        while !isFilled.load(ordering: .acquiring) {
            if ContinuousClock.now >= end { return false }
            sched_yield()
        }
        return true
    }

    /// From now on, whoever leaves an order wakes the thread again.
    func endExpecting() { state.withLock { $0.isExpecting = false } }

    /// The thread that calls this takes the orders from now on.
    func begin() {
        state.withLock { $0.worker = pthread_self() }
    }

    /// Whether nothing was left since the last look.
    var isEmpty: Bool { state.withLock { $0.batch.orders.isEmpty && !$0.batch.isClosing } }

    /// Asks the thread to end everything.
    func close() {
        state.withLock { state in
            state.batch.isClosing = true
            isFilled.store(true, ordering: .releasing)
            state.waker?.wake()
        }
    }

    /// Takes everything left so far.
    func drain() -> Batch {
        state.withLock { state in
            defer { state.batch.orders = [] }
            isFilled.store(state.batch.isClosing, ordering: .releasing)
            return state.batch
        }
    }

    /// Called by the thread when it will look no more, before it frees the handle.
    func stop() {
        state.withLock { $0.waker = nil }
    }
}
