import Host
import Synchronization

/// What callers want of the client's thread, and the bell that wakes it.
final class ClientMailbox: Sendable {
    enum Request: Sendable {
        case connect(WardenLaunch?, CheckedContinuation<Result<WardenHello, WardenError>, Never>)
        case send([UInt8])
        case close
    }

    let wakeUp: WakeUp
    private let requests = Mutex<[Request]>([])

    init() throws(HostError) {
        wakeUp = try WakeUp()
    }

    func post(_ request: Request) {
        requests.withLock { $0.append(request) }
        wakeUp.ring()
    }

    func take() -> [Request] {
        wakeUp.clear()
        return requests.withLock { requests in
            defer { requests = [] }
            return requests
        }
    }
}
