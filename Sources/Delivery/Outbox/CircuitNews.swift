/// A change of a circuit that people are notified of, on another channel.
package enum CircuitNews: String, Hashable, Codable, Sendable, CaseIterable {
    /// It opened: what is for it waits.
    case failing
    /// It was given up: what is for it waits.
    case disabled
    /// It works again: what waited goes out now.
    case restored

    /// The fact of it.
    package func fact(_ channel: Fact.Channel) -> Fact {
        switch self {
        case .failing: .channelFailing(channel)
        case .disabled: .channelDisabled(channel)
        case .restored: .channelRestored(channel)
        }
    }

    /// The sentence for a person: which channel, what went wrong in `error`, and for what `reason`.
    package func words(of channel: String, _ error: String, reason: DeliveryReason?) -> String {
        let why = error.isEmpty ? "" : ": \(error)"
        switch self {
        case .failing where reason?.isFinal == true:
            return "Channel \"\(channel)\" rejects deliveries\(why). Rejected entries are dead; "
                + "see: belfry outbox --state dead. New ones wait."
        case .failing: return "Channel \"\(channel)\" fails\(why). What is for it waits; see: belfry outbox"
        case .disabled:
            return "Channel \"\(channel)\" was given up\(why). What is for it waits until "
                + "belfry channel test \(channel) reaches it."
        case .restored: return "Channel \"\(channel)\" works again; what waited for it is sent now."
        }
    }

    /// What a person reads when `channel` edits in place and the news is of one `item` there.
    package func words(of item: String, on channel: String, _ error: String) -> String {
        switch self {
        case .failing, .disabled:
            let why = error.isEmpty ? "" : ": \(error)"
            return "Channel \"\(channel)\" does not show \(item)\(why). It is tried again when it changes."
        case .restored: return "Channel \"\(channel)\" shows \(item) again."
        }
    }
}
