/// A change of a circuit that people are told of, on another channel.
package enum CircuitNews: String, Hashable, Codable, Sendable, CaseIterable {
    /// It opened: what is for it waits. The event `channel.failing`.
    case failing
    /// It was given up. The event `channel.disabled`.
    case disabled
    /// It works again: what waited goes out now. The event `channel.restored`.
    case restored

    /// The event's type.
    package var eventType: String { "channel.\(rawValue)" }
}
