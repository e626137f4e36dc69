import Delivery
import Ledger
package import Timeline

/// What an entry that is not sent now waits for.
package enum OutboxWait: Hashable, Sendable {
    /// Its own next attempt, after one that failed.
    case retry(at: Moment)
    /// An earlier entry of the same item or run, which goes first.
    case earlier
    /// Its channel.
    case channel(ChannelHold)
    /// The end of what a rule decided.
    case rule(until: Moment?)

    /// What `entry` waits for; nil: nothing, it is settled or its turn is now.
    init?(_ entry: OutboxRecord, hold: ChannelHold?, isFirst: Bool, at now: Moment) {
        switch entry.state {
        case .held: self = .rule(until: entry.nextAt)
        // Its channel was given up or is missing, or works again this very moment.
        case .waiting:
            guard let hold else { return nil }
            self = .channel(hold)
        case .pending:
            // A test is a person's question, which no circuit keeps.
            if var hold, entry.type != EventType.test.rawValue {
                if let until = hold.until, let own = entry.nextAt { hold.until = max(until, own) }
                self = .channel(hold)
            } else if !isFirst {
                self = .earlier
            } else if let nextAt = entry.nextAt, nextAt > now {
                self = .retry(at: nextAt)
            } else {
                return nil
            }
        case .delivered, .dead, .suppressed, .superseded, .expired, .discarded: return nil
        }
    }

    /// The word for it.
    package var word: String {
        switch self {
        case .retry: "retry"
        case .earlier: "earlier"
        case .channel(let hold): hold.reason.rawValue
        case .rule: "rule"
        }
    }

    /// When the entry is tried next; nil: that is not known.
    package var nextAt: Moment? {
        switch self {
        case .retry(let moment): moment
        case .earlier: nil
        case .channel(let hold): hold.until
        case .rule(let until): until
        }
    }
}

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
