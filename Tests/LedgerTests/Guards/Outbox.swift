import Delivery
import Grouping
import Ledger
import Testing
import Timeline

@Suite struct `an outbox entry in the ledger` {
    @Test(arguments: LedgerBackend.available)
    func `is read as it was inserted, and made once for each cause`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            var full = OutboxRecord.sample("o1", cause: "event:1:hook", item: "job:backup", seconds: 5)
            full.run = "0199"
            (full.state, full.attempts, full.status) = (.dead, 3, 503)
            (full.lastError, full.settledAt) = ("https://example.org: 503", at(9))
            full.body = [0, 255, 0]
            try await ledger.commit([
                .insertOutbox(full), .insertOutbox(.sample("o2", cause: "event:1:hook")),
            ])
            #expect(try await ledger.outbox(id: "o1") == full)
            #expect(try await ledger.outbox(id: "o2") == nil)
            await expectFenced(ledger, [.insertOutbox(.sample("o1", cause: "event:2:hook"))])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `moves only from its state and its number of attempts`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            var retry = OutboxMove(id: "o1", from: .pending, attempts: 0, to: .pending, nextAttempts: 1)
            retry.nextAt = at(30)
            retry.lastError = "connection refused"
            retry.status = 502
            await expectFenced(ledger, [.moveOutbox(retry)])
            var expected = OutboxRecord.sample("o1")
            try await ledger.commit([.insertOutbox(expected), .moveOutbox(retry)])
            (expected.attempts, expected.nextAt) = (1, at(30))
            (expected.lastError, expected.status) = ("connection refused", 502)
            #expect(try await ledger.outbox(id: "o1") == expected)
            await expectFenced(ledger, [.moveOutbox(retry)])
            await expectFenced(
                ledger,
                [.moveOutbox(OutboxMove(id: "o1", from: .held, attempts: 1, to: .pending, nextAttempts: 1))])
            var done = OutboxMove(id: "o1", from: .pending, attempts: 1, to: .delivered, nextAttempts: 2)
            done.settledAt = at(31)
            try await ledger.commit([.moveOutbox(done)])
            (expected.state, expected.attempts, expected.nextAt) = (.delivered, 2, nil)
            expected.settledAt = at(31)
            #expect(try await ledger.outbox(id: "o1") == expected)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is rewritten only while it was never tried`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let rewrite = Change.rewriteOutbox(
                id: "o1", reason: "newMessages", body: [1], item: "job:b", nextAt: at(7))
            await expectFenced(ledger, [rewrite])
            var expected = OutboxRecord.sample("o1", item: "job:a")
            try await ledger.commit([.insertOutbox(expected), rewrite])
            (expected.reason, expected.body, expected.item) = ("newMessages", [1], "job:b")
            expected.nextAt = at(7)
            #expect(try await ledger.outbox(id: "o1") == expected)
            try await ledger.commit([
                .moveOutbox(OutboxMove(id: "o1", from: .pending, attempts: 0, to: .pending, nextAttempts: 1))
            ])
            await expectFenced(ledger, [rewrite])
            var held = OutboxRecord.sample("o2")
            held.state = .held
            try await ledger.commit([.insertOutbox(held)])
            await expectFenced(
                ledger, [.rewriteOutbox(id: "o2", reason: "x", body: [], item: nil, nextAt: at(1))])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `keeps its failed attempts, and what goes elsewhere until it has arrived`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            func attempt(_ number: Int, _ answer: String?) -> OutboxAttempt {
                OutboxAttempt(
                    outbox: "o1", number: number, at: at(Double(number)), latency: .milliseconds(7),
                    reason: .serverError, status: 503, error: "it answered 503", answer: answer)
            }
            func fallback(_ id: String, due second: Double) -> FallbackRecord {
                FallbackRecord(
                    outbox: id, channel: "mail", dueAt: at(second), title: "backup failed", text: "exit 2",
                    urgency: .critical)
            }
            try await ledger.commit([
                .insertOutbox(.sample("o1", item: "job:a")), .insertOutbox(.sample("o2", item: "job:b")),
                .insertOutboxAttempt(attempt(2, nil)), .insertOutboxAttempt(attempt(1, "busy")),
                .insertOutboxAttempt(attempt(1, "another")),
                .putFallback(fallback("o1", due: 9)), .putFallback(fallback("o2", due: 50)),
                .putFallback(fallback("o2", due: 60)),
            ])
            var later = attempt(1, "another")
            later.number = 3
            #expect(
                try await ledger.outboxAttempts(of: "o1") == [attempt(1, "busy"), attempt(2, nil), later])
            #expect(try await ledger.nextFallback() == at(9))
            #expect(try await ledger.fallbacks(dueBy: at(10), limit: 9) == [fallback("o1", due: 9)])
            var move = OutboxMove(id: "o2", from: .pending, attempts: 0, to: .delivered, nextAttempts: 1)
            move.settledAt = at(5)
            try await ledger.commit([.moveOutbox(move)])
            // The earlier moment counts.
            #expect(try await ledger.fallbacks(dueBy: at(0), limit: 9) == [fallback("o2", due: 50)])
            try await ledger.commit([.removeFallback(outbox: "o2")])
            await expectFenced(ledger, [.removeFallback(outbox: "o2")])
            #expect(try await ledger.fallbacks(dueBy: at(0), limit: 9).isEmpty)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is listed by state, and by channel when due`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            var dead = OutboxRecord.sample("o4")
            dead.state = .dead
            try await ledger.commit([
                .insertOutbox(.sample("o1", item: "job:a", seconds: 9)),
                .insertOutbox(.sample("o2", item: "job:b", seconds: 3)),
                .insertOutbox(.sample("o3", channel: "other", item: "job:a")),
                .insertOutbox(dead),
            ])
            func ids(_ states: Set<OutboxState>, limit: Int = 9) async throws -> [String] {
                try await ledger.outbox(states: states, limit: limit).map(\.id)
            }
            #expect(try await ids([]) == ["o4", "o3", "o2", "o1"])
            #expect(try await ids([.pending]) == ["o3", "o2", "o1"])
            #expect(try await ids([.dead, .held, .pending], limit: 2) == ["o4", "o3"])
            #expect(try await ids([.delivered]).isEmpty)
            #expect(try await ledger.pendingOutbox(channel: "hook", limit: 9).map(\.id) == ["o2", "o1"])
            #expect(try await ledger.pendingOutbox(channel: "hook", limit: 1).map(\.id) == ["o2"])
            #expect(try await ledger.outboxCounts() == [.pending: 3, .dead: 1])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is pending behind what was made before it of the same item or run`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            func ofRun(_ id: String, seconds: Double) -> OutboxRecord {
                var entry = OutboxRecord.sample(id, seconds: seconds)
                entry.run = "r"
                return entry
            }
            try await ledger.commit([
                .insertOutbox(.sample("a1", item: "job:a", seconds: 90)),
                .insertOutbox(.sample("a2", item: "job:a", seconds: 1)),
                .insertOutbox(.sample("o1", channel: "other", item: "job:a", seconds: 1)),
                .insertOutbox(ofRun("r1", seconds: 50)), .insertOutbox(ofRun("r2", seconds: 2)),
                .insertOutbox(.sample("n1", seconds: 70)), .insertOutbox(.sample("n2", seconds: 3)),
            ])
            func pending() async throws -> [String] {
                try await ledger.pendingOutbox(channel: "hook", limit: 9).map(\.id)
            }
            #expect(try await pending() == ["n2", "r1", "n1", "a1"])
            try await ledger.commit([
                .moveOutbox(OutboxMove(id: "a1", from: .pending, attempts: 0, to: .held, nextAttempts: 0)),
                .moveOutbox(
                    OutboxMove(id: "r1", from: .pending, attempts: 0, to: .delivered, nextAttempts: 1)),
            ])
            #expect(try await pending() == ["a2", "r2", "n2", "n1"])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `collects receipts, and its channel keeps a memory`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let accepted = ReceiptRecord(
                outbox: "o1", receipt: Receipt(at: at(1), kind: .accepted, detail: "ok", status: 204))
            let acted = ReceiptRecord(outbox: "o1", receipt: Receipt(at: at(2), kind: .acted))
            try await ledger.commit([.insertReceipt(accepted), .insertReceipt(acted)])
            #expect(try await ledger.receipts(of: "o1") == [accepted, acted])
            #expect(try await ledger.receipts(of: "o2").isEmpty)
            let second = ChannelRecord(name: "hook", circuit: [2], updatedAt: at(2))
            try await ledger.commit([
                .putChannel(ChannelRecord(name: "hook", circuit: [1], updatedAt: at(1))), .putChannel(second),
            ])
            #expect(try await ledger.channel(named: "hook") == second)
            #expect(try await ledger.channel(named: "desk") == nil)
        }
    }
}
