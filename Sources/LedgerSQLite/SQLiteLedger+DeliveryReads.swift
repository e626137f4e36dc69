package import Delivery
import Grouping
package import Ledger
package import Timeline
import Tracking

extension SQLiteLedger {
    package func outbox(id: String) async throws(LedgerError) -> OutboxRecord? {
        try await read { database throws(StoreFailure) in try OutboxRows.entry(id: id, in: database) }
    }

    package func outbox(cause: String) async throws(LedgerError) -> OutboxRecord? {
        try await read { database throws(StoreFailure) in
            try OutboxRows.entry(cause: cause, in: database)
        }
    }

    package func outbox(
        item: String, channel: String, limit: Int
    ) async throws(LedgerError) -> [OutboxRecord] {
        try await read { database throws(StoreFailure) in
            try OutboxRows.entries(item: item, channel: channel, limit: limit, in: database)
        }
    }

    package func outbox(states: Set<OutboxState>, limit: Int) async throws(LedgerError) -> [OutboxRecord] {
        try await read { database throws(StoreFailure) in
            try OutboxRows.entries(states: states, limit: limit, in: database)
        }
    }

    package func pendingOutbox(channel: String, limit: Int) async throws(LedgerError) -> [OutboxRecord] {
        try await read { database throws(StoreFailure) in
            try OutboxRows.pending(channel: channel, limit: limit, in: database)
        }
    }

    package func outboxLine(
        of channel: String, limit: Int
    ) async throws(LedgerError) -> (pending: [OutboxRecord], heldUntil: Moment?) {
        try await readInPlace { database throws(StoreFailure) in
            (
                try OutboxRows.pending(channel: channel, limit: limit, in: database),
                try OutboxRows.heldUntil(channel: channel, in: database)
            )
        }
    }

    package func failureArrivals(
        before run: String
    ) async throws(LedgerError) -> [String: FailureArrival] {
        try await readInPlace { database throws(StoreFailure) in
            try OutboxRows.failureArrivals(before: run, in: database)
        }
    }

    package func outboxCounts(
        byChannelIn states: Set<OutboxState>
    ) async throws(LedgerError) -> [String: Int] {
        try await read { database throws(StoreFailure) in
            try OutboxRows.counts(byChannelIn: states, in: database)
        }
    }

    package func outboxCounts() async throws(LedgerError) -> [OutboxState: Int] {
        try await read { database throws(StoreFailure) in try OutboxRows.counts(in: database) }
    }

    package func surfaces(channel: String, all: Bool) async throws(LedgerError) -> [SurfaceRecord] {
        try await read { database throws(StoreFailure) in
            try SurfaceRows.surfaces(channel: channel, all: all, in: database)
        }
    }

    package func refusedSurfaces(channel: String) async throws(LedgerError) -> [SurfaceRecord] {
        try await read { database throws(StoreFailure) in
            try SurfaceRows.refused(channel: channel, in: database)
        }
    }

    package func surface(channel: String, item: String) async throws(LedgerError) -> SurfaceRecord? {
        try await read { database throws(StoreFailure) in
            try SurfaceRows.surface(channel: channel, item: item, in: database)
        }
    }

    package func surface(channel: String, remote: RemoteID) async throws(LedgerError) -> SurfaceRecord? {
        try await read { database throws(StoreFailure) in
            try SurfaceRows.surface(channel: channel, remote: remote, in: database)
        }
    }

    package func outboxAttempts(of outbox: String) async throws(LedgerError) -> [OutboxAttempt] {
        try await read { database throws(StoreFailure) in
            try FallbackRows.attempts(of: outbox, in: database)
        }
    }

    package func fallbacks(
        dueBy moment: Moment, limit: Int
    ) async throws(LedgerError) -> [FallbackRecord] {
        try await read { database throws(StoreFailure) in
            try FallbackRows.fallbacks(dueBy: moment, limit: limit, in: database)
        }
    }

    package func nextFallback() async throws(LedgerError) -> Moment? {
        try await read { database throws(StoreFailure) in try FallbackRows.next(in: database) }
    }

    package func fallbackCount() async throws(LedgerError) -> Int {
        try await read { database throws(StoreFailure) in try FallbackRows.count(in: database) }
    }

    package func outboxWeights(of channel: String) async throws(LedgerError) -> [OutboxWeight] {
        try await read { database throws(StoreFailure) in
            try OutboxRows.weights(channel: channel, in: database)
        }
    }

    package func receipts(of outbox: String) async throws(LedgerError) -> [ReceiptRecord] {
        try await read { database throws(StoreFailure) in
            try OutboxRows.receipts(of: outbox, in: database)
        }
    }

    package func channel(named name: String) async throws(LedgerError) -> ChannelRecord? {
        try await read { database throws(StoreFailure) in
            try OutboxRows.channel(named: name, in: database)
        }
    }
}
