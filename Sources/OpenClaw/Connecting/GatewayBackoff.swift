/// How long to wait before the next attempt to connect: 800 ms, 1.7 times as long after each failure, at most 15 s, and a
/// fifth more or less by chance.
package struct GatewayBackoff: Hashable, Sendable {
    /// The first pause.
    package static let first = Duration.milliseconds(800)
    /// The longest pause, before chance.
    package static let longest = Duration.seconds(15)

    private var pause = Self.first

    /// Nothing has failed yet.
    package init() {}

    /// The gateway accepted a connection.
    package mutating func succeeded() { pause = Self.first }

    /// How long to wait after this trouble; nil: not to connect again.
    ///
    /// `chance` is 0...1, so that many clients do not all come back at one moment.
    package mutating func wait(after trouble: GatewayTrouble, chance: Double) -> Duration? {
        let scale = 0.8 + 0.4 * min(max(chance, 0), 1)
        switch trouble.reconnect {
        case .never: return nil
        case .after(let asked): return max(asked, .milliseconds(50))
        case .soon:
            defer { pause = min(pause * 1.7, Self.longest) }
            return pause * scale
        }
    }
}

/// Notices where events are missing in what a gateway sent to all.
package struct SequenceWatch: Hashable, Sendable {
    private var last: Int?
    /// How many gaps there were.
    package private(set) var gaps = 0

    /// A watch of one connection: the first number is an arbitrary one.
    package init() {}

    /// Notes an event's number; whether some are missing before it.
    package mutating func note(_ seq: Int?) -> Bool {
        guard let seq else { return false }
        defer { last = seq }
        guard let last, seq > last, seq - last > 1 else { return false }
        gaps += 1
        return true
    }
}
