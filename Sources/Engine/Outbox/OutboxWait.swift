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
