import Delivery
import Ledger
package import Timeline

/// Why a channel's entries are not sent when their own moment comes, and until when.
package struct ChannelHold: Hashable, Sendable {
    /// What keeps them.
    package enum Reason: String, Hashable, Sendable {
        /// The channel fails and is left alone for a while.
        case channelFailing
        /// The channel was given up; nothing is sent before a person tries it.
        case channelDisabled
        /// The configuration has no such channel; nothing is sent before it has.
        case channelMissing
        /// The daemon could not use the channel at its start; it is tried again each minute.
        case channelLeftOut
    }

    /// What keeps them.
    package var reason: Reason
    /// When the next one is tried; nil: that is not known.
    package var until: Moment?
    /// The channel's last failure, one line.
    package var lastError: String?

    /// What the channel's circuit says; nil: nothing keeps its entries.
    init?(_ circuit: Circuit, at now: Moment, policy: CircuitPolicy = CircuitPolicy()) {
        switch circuit.state {
        case .closed: return nil
        case .disabled: reason = .channelDisabled
        case .open, .halfOpen:
            reason = .channelFailing
            var asked = circuit
            // A probe may be out already: what it finds, and when, is not known.
            if case .waitUntil(let moment) = asked.ask(at: now, policy: policy) { until = moment }
        }
        lastError = circuit.lastError
    }

    /// Of a channel that is not in the configuration.
    static let missing = ChannelHold(.channelMissing)

    /// Of a channel that was left out at the start, for this reason.
    static func leftOut(_ reason: String) -> ChannelHold {
        var hold = ChannelHold(.channelLeftOut)
        hold.lastError = reason
        return hold
    }

    private init(_ reason: Reason) { self.reason = reason }

    /// What the ledger says of the channel, as far as that is about the one of this identity.
    init?(_ record: ChannelRecord?, of identity: String, at now: Moment) {
        guard let circuit = Circuit(record, of: identity) else { return nil }
        self.init(circuit, at: now)
    }
}
