import Delivery
package import Ledger
import Timeline

extension Control {
    /// Makes an entry that is dead, or waits for its next attempt, due now.
    package func retryEntry(_ id: String) async throws(EngineError) -> OutboxRecord {
        let entry = try await entry(id)
        guard entry.state == .dead || entry.state == .pending else {
            throw .notAllowed(
                entry: id, state: entry.state.rawValue, channel: entry.state == .held ? entry.channel : nil)
        }
        var move = OutboxMove(
            id: id, from: entry.state, attempts: entry.attempts, to: .pending, nextAttempts: entry.attempts)
        move.nextAt = clock.now
        try await commit([.moveOutbox(move)])
        return try await self.entry(id)
    }

    /// Gives an entry up: it is never sent.
    package func discardEntry(_ id: String) async throws(EngineError) -> OutboxRecord {
        let entry = try await entry(id)
        guard entry.state == .dead || entry.state == .pending || entry.state == .held else {
            throw .notAllowed(entry: id, state: entry.state.rawValue)
        }
        var move = OutboxMove(
            id: id, from: entry.state, attempts: entry.attempts, to: .discarded,
            nextAttempts: entry.attempts)
        move.settledAt = clock.now
        try await commit([.moveOutbox(move)])
        return try await self.entry(id)
    }

    /// Sends a test over one channel, through the same stations as everything else.
    ///
    /// - Returns: the cause of the outbox entry that it becomes, on a channel that has an outbox.
    @discardableResult
    package func testChannel(_ name: String) async throws(EngineError) -> String {
        guard let channel = switchboard.channel(name) else { throw .noSuchChannel(name) }
        await (channel as? any LevelChannel)?.look()
        let made = try await commit([.append(NewEvent(.test, at: clock.now, reason: "asked", channel: name))])
        return "event:\(made.lastEvent):\(name)"
    }

    /// What each of `entries` waits for, by its id; those that wait for nothing are not in it.
    package func waits(of entries: [OutboxRecord]) async throws(LedgerError) -> [String: OutboxWait] {
        let now = clock.now
        let unsettled = entries.filter { !$0.state.isSettled }
        var waits: [String: OutboxWait] = [:]
        for (channel, entries) in Dictionary(grouping: unsettled, by: \.channel) {
            let hold = ChannelHold(try await ledger.channel(named: channel), at: now)
            let first =
                hold == nil ? try await ledger.pendingOutbox(channel: channel, limit: Self.lookAhead) : []
            let isWhole = hold == nil && first.count < Self.lookAhead
            let ids = Set(first.map(\.id))
            for entry in entries {
                waits[entry.id] = OutboxWait(
                    entry, hold: hold, isFirst: !isWhole || ids.contains(entry.id), at: now)
            }
        }
        return waits
    }

    /// How many that could be sent are looked at, to find those that stand behind another.
    private static let lookAhead = 1024

    private func entry(_ id: String) async throws(EngineError) -> OutboxRecord {
        do throws(LedgerError) {
            if let entry = try await ledger.outbox(id: id) { return entry }
        } catch {
            throw .ledger(error)
        }
        throw .noSuchEntry(id)
    }
}
