import CCurl
import Synchronization

/// What tasks ask of the transfer thread: the one thing both sides touch.
final class CurlInbox: Sendable {
    /// A wish of some task.
    enum Order: Sendable {
        /// Begin a request and answer through the continuation.
        case start(CurlRequest, ticket: UInt64, CheckedContinuation<Result<CurlResponse, CurlError>, Never>)
        /// End a request whose task was cancelled.
        case cancel(ticket: UInt64)
    }

    /// Everything asked since the last look.
    struct Batch {
        var orders: [Order] = []
        var isClosing = false
    }

    private struct State {
        var batch = Batch()
        var nextTicket: UInt64 = 0
        /// The handle to wake; `nil` when its thread waits no more.
        var waker: Waker?
    }

    /// The handle, for the one call that any thread may make on it.
    @safe
    private struct Waker: @unchecked Sendable {  // SAFE: libcurl allows its one call from every thread,
        // and it is only made under the lock that `stop` takes before the handle is freed.
        let multi: UnsafeMutableRawPointer

        func wake() { unsafe _ = curl_multi_wakeup(multi) }
    }

    private let state: Mutex<State>

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
            if state.batch.orders.isEmpty { waker.wake() }
            state.batch.orders.append(order)
            return true
        }
    }

    /// Asks the thread to end everything.
    func close() {
        state.withLock { state in
            state.batch.isClosing = true
            state.waker?.wake()
        }
    }

    /// Takes everything left so far.
    func take() -> Batch {
        state.withLock { state in
            defer { state.batch.orders = [] }
            return state.batch
        }
    }

    /// Called by the thread when it will look no more, before it frees the handle.
    func stop() {
        state.withLock { $0.waker = nil }
    }
}
