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
