package import Delivery
import Synchronization

/// The configuration in force, shared by the keepers; a reload replaces it in one step and taps them.
package final class Switchboard: Sendable {
    private let current: Mutex<EngineConfiguration>
    private let lastRefusal = Mutex<String?>(nil)
    private let changes = Taps()
    /// Those who decide by the configuration what is in force go through one by one.
    let turnstile = Turnstile()
    /// What the keeper of items and those who send for the channels must agree on.
    package let inHand = EntriesInHand()

    package init(_ configuration: EngineConfiguration) {
        current = Mutex(configuration)
    }

    /// The configuration now.
    package var configuration: EngineConfiguration { current.withLock { $0 } }

    /// Why the last reload was refused; nil: it was not.
    package var refusal: String? {
        get { lastRefusal.withLock { $0 } }
        set { lastRefusal.withLock { $0 = newValue } }
    }

    /// Puts another one in force.
    package func replace(with configuration: EngineConfiguration) {
        current.withLock { $0 = configuration }
        changes.tap()
    }

    /// Changes a part of it in one step.
    @discardableResult
    package func change<Result: Sendable>(_ body: (inout EngineConfiguration) -> Result) -> Result {
        let result = current.withLock { body(&$0) }
        changes.tap()
        return result
    }

    /// A tap at once, and after every reload.
    package func taps() -> AsyncStream<Void> { changes.stream() }

    /// The channels that have an outbox.
    package var edges: [any EdgeChannel] { configuration.channels.compactMap { $0 as? any EdgeChannel } }

    /// The channel of that name; nil: it was removed, or never was.
    package func channel(_ name: String) -> (any Channel)? {
        configuration.channels.first { $0.name == name }
    }
}
