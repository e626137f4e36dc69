import Synchronization
package import Timeline

/// How each channel is doing, for people to see; kept in memory by whoever serves the channel.
package final class ChannelBoard: Sendable {
    /// A channel's health.
    package struct Health: Hashable, Sendable {
        package enum State: String, Hashable, Sendable {
            /// It takes what is sent.
            case working
            /// Nobody is there to take it; it is tried again when somebody is.
            case away
            /// It fails; attempts are spaced out.
            case failing
            /// It is not tried until a person says so.
            case disabled
        }

        package var state: State
        package var since: Moment
        package var lastError: String?
        /// Whether it is away because this machine has no such thing, as far as was seen.
        package var isAbsent = false
    }

    private let channels = Mutex<[String: Health]>([:])

    package init() {}

    /// Notes a channel's state.
    ///
    /// Returns whether it is another one than before.
    @discardableResult
    package func note(
        _ state: Health.State, of channel: String, error: String?, isAbsent: Bool = false, at now: Moment
    ) -> Bool {
        channels.withLock { channels in
            let isNew = channels[channel]?.state != state
            let since = isNew ? now : channels[channel]?.since ?? now
            channels[channel] = Health(
                state: state, since: since, lastError: error, isAbsent: isAbsent)
            return isNew
        }
    }

    /// Forgets a channel: another receiver bears its name now.
    package func forget(_ channel: String) {
        channels.withLock { $0[channel] = nil }
    }

    /// The channel's health; nil: nothing was tried yet.
    package subscript(channel: String) -> Health? { channels.withLock { $0[channel] } }
}
