import Host
import Synchronization

/// What callers want of the client's thread, and the bell that wakes it.
final class ClientMailbox: Sendable {
    enum Request: Sendable {
        case connect(WardenLaunch?, AsyncStream<Result<WardenHello, WardenError>>.Continuation)
        case send(WardenCommand)
        case close
    }

    let wakeUp: WakeUp
    /// Nil once the thread has ended.
    private let requests = Mutex<[Request]?>([])

    init() throws(HostError) {
        wakeUp = try WakeUp()
    }

    /// False when nobody will look at it any more.
    @discardableResult func post(_ request: Request) -> Bool {
        let isFirst = requests.withLock { requests -> Bool? in
            defer { requests?.append(request) }
            return requests?.isEmpty
        }
        // Behind the first the bell was rung, and the thread has not looked since.
        if isFirst == true { wakeUp.ring() }
        return isFirst != nil
    }

    func take() -> [Request] {
        wakeUp.clear()
        return requests.withLock { requests in
            defer { if requests != nil { requests = [] } }
            return requests ?? []
        }
    }

    /// The thread ends: who still waits for a connection will not get one.
    func close(_ error: WardenError) {
        let rest = requests.withLock { requests in
            defer { requests = nil }
            return requests ?? []
        }
        for case .connect(_, let caller) in rest { caller.yield(.failure(error)) }
    }
}
