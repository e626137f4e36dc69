import Delivery
import Synchronization
import Timeline

/// How much of their rates addresses have used, shared by all lines.
///
/// Two channels with one address and one secret are one endpoint.
final class SharedRates: Sendable {
    private let rates = Mutex(EndpointRates())

    /// When something may be sent to the channel; nil: now.
    func nextAt(for channel: any Channel, on clock: any WallClock) -> Moment? {
        guard let rate = channel.form.carrier.service?.rate else { return nil }
        let wait = rates.withLock { $0.wait(for: channel.identity, rate, at: clock.sinceBoot) }
        return wait > .zero ? clock.now + wait : nil
    }

    /// Notes a request to the channel.
    func take(for channel: any Channel, on clock: any WallClock) {
        guard let rate = channel.form.carrier.service?.rate else { return }
        rates.withLock { $0.take(for: channel.identity, rate, at: clock.sinceBoot) }
    }
}

/// How many attempts are under way to each address, shared by all lines: two channels to one address are one burden to it.
final class SharedPlaces: Sendable {
    /// How many attempts are under way to one address at most.
    static let width = 4

    private struct Address {
        var taken = 0
        /// Who is rung when there is a place again.
        var waiting: [Bell] = []
    }

    private let addresses = Mutex<[String: Address]>([:])

    /// Takes a place; where there is none, `bell` is rung once there is one.
    func take(for channel: any Channel, ringing bell: Bell) -> Bool {
        addresses.withLock { addresses in
            var address = addresses[channel.identity] ?? Address()
            defer { addresses[channel.identity] = address }
            guard address.taken < Self.width else {
                if !address.waiting.contains(where: { $0 === bell }) { address.waiting.append(bell) }
                return false
            }
            address.taken += 1
            return true
        }
    }

    /// Gives a place back.
    func giveBack(for channel: any Channel) {
        let bells = addresses.withLock { addresses -> [Bell] in
            guard var address = addresses[channel.identity] else { return [] }
            address.taken -= 1
            let bells = address.waiting
            address.waiting = []
            addresses[channel.identity] = address.taken > 0 ? address : nil
            return bells
        }
        for bell in bells { bell.ring() }
    }
}
