import Curl
import Synchronization

/// The addresses a guard was asked about, in order.
final class Seen: Sendable {
    private let addresses = Mutex<[SocketAddress]>([])

    func note(_ address: SocketAddress) {
        addresses.withLock { $0.append(address) }
    }

    var all: [SocketAddress] { addresses.withLock { $0 } }
}
