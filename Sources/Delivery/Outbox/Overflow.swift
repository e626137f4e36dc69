package import Timeline

/// What an entry that is not settled takes up, and how much it matters.
package struct OutboxWeight: Hashable, Sendable {
    /// The entry's id.
    package let id: String
    /// The event's type.
    package let type: String
    /// Its state.
    package let state: OutboxState
    /// How often it was tried.
    package let attempts: Int
    /// When it was made.
    package let createdAt: Moment
    /// The bytes of its body.
    package let bytes: Int

    /// An entry that waits.
    package init(
        id: String, type: String, state: OutboxState, attempts: Int, createdAt: Moment, bytes: Int
    ) {
        (self.id, self.type, self.state) = (id, type, state)
        (self.attempts, self.createdAt, self.bytes) = (attempts, createdAt, bytes)
    }

    /// How much somebody misses it, 0...3.
    package var rank: Int {
        switch EventType(rawValue: type) {
        case .runProgress, .runStarted, .messageRead, .itemDismissed, .itemActed: 0
        case .runFailed, .runLost, .runBlocked, .questionAsked, .channelFailing, .channelDisabled,
            .ledgerFull,
            .expectLate:
            3
        case .runMissed, .runRecovered, .runStuck, .messagePosted, .messageGroup, .questionAnswered,
            .questionExpired, .questionWithdrawn, .channelRestored, .configPartial, .jobLeftOut, .botStatus,
            .botBudget, .gatewayJob, .expectRecovered, .ledgerRestored, .clockBack:
            2
        default: 1
        }
    }
}

/// How much may wait for one channel.
package struct OutboxRoom: Hashable, Sendable {
    /// So many entries.
    package let rows: Int
    /// So many bytes of their bodies.
    package let bytes: Int

    /// Room for so much.
    package init(rows: Int, bytes: Int) { (self.rows, self.bytes) = (rows, bytes) }

    /// 10,000 entries and 64 MiB.
    package static let usual = OutboxRoom(rows: 10_000, bytes: 64 << 20)

    /// What must go so that the rest has room: of the least rank the oldest first.
    package func overflow(of entries: [OutboxWeight]) -> [OutboxWeight] {
        var (rows, bytes) = (entries.count, entries.reduce(0) { $0 + $1.bytes })
        guard rows > self.rows || bytes > self.bytes else { return [] }
        var dropped: [OutboxWeight] = []
        for entry in entries.sorted(by: { ($0.rank, $0.createdAt, $0.id) < ($1.rank, $1.createdAt, $1.id) }) {
            guard rows > self.rows || bytes > self.bytes else { break }
            rows -= 1
            bytes -= entry.bytes
            dropped.append(entry)
        }
        return dropped
    }
}
