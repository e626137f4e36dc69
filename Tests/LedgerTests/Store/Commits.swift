import Delivery
import Glibc
import Ledger
import Synchronization
import Testing
import Timeline
import Tracking

@Suite struct `a commit` {
    @Test(arguments: LedgerBackend.available)
    func `makes all of a list true, or nothing`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([.run("r0", slot: 1), .event()])
            let last = Change.pauseJob(name: "none", nil)
            await expectFenced(
                ledger, at: 14,
                [
                    .putJob(.sample("backup"), replacing: nil), .setFact(name: "zone", value: "UTC"),
                    .moveWatermark(
                        from: Watermark(decidedUntil: at(0), era: 0),
                        to: Watermark(decidedUntil: at(1), era: 0)),
                    .recordSpan(
                        SlotSpan(
                            job: "backup", era: 0, first: at(0), last: at(0), count: 1, state: .missed,
                            reason: .catchUpNone), follows: nil),
                    .run("r1", slot: 2), .move("r0", from: [.queued], to: .completed),
                    .insertMessage(.sample("m1")), .putItem(.sample("a"), replacing: nil),
                    .insertOutbox(.sample("o1")),
                    .putChannel(ChannelRecord(name: "c", circuit: [], updatedAt: at(0))),
                    .wantSurface(channel: "desk", item: "job:a", revision: 1, ring: true, at: at(0)),
                    .insertReceipt(ReceiptRecord(outbox: "o1", receipt: .init(at: at(0), kind: .shown))),
                    .event(), .moveConsumer(name: "items", from: 0, to: 1), last,
                ])
            #expect(try await ledger.jobs().isEmpty)
            #expect(try await ledger.lastRevision(of: "backup") == 0)
            #expect(try await ledger.fact(named: "zone") == nil)
            #expect(try await ledger.watermark() == nil)
            #expect(try await ledger.spans(of: nil, limit: 9).isEmpty)
            #expect(try await ledger.runs(RunFilter()).map(\.id) == ["r0"])
            #expect(try await ledger.run(id: "r0")?.state == .queued)
            #expect(try await ledger.messages(bot: nil, search: nil, limit: 9).isEmpty)
            #expect(try await ledger.items(limit: 9).isEmpty)
            #expect(try await ledger.outbox(states: [], limit: 9).isEmpty)
            #expect(try await ledger.channel(named: "c") == nil)
            #expect(try await ledger.surfaces(channel: "desk", all: true).isEmpty)
            #expect(try await ledger.receipts(of: "o1").isEmpty)
            #expect(try await ledger.lastEvent() == 1)
            #expect(try await ledger.cursor(of: "items") == 0)
            #expect(try await ledger.commit([.run("r2", slot: 3)]).ordinals == ["r2": 2])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `of many tasks at once is each accepted or refused alone`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            // Every cause is wanted by four tasks; exactly one of them may have it.
            let winners = await withTaskGroup(of: String?.self) { group in
                for number in 0..<400 {
                    group.addTask {
                        let list: [Change] = [
                            .event(), .run("r\(number)", slot: Double(number % 100)), .event(),
                        ]
                        return (try? await ledger.commit(list)) == nil ? nil : "r\(number)"
                    }
                }
                return await group.reduce(into: Set<String>()) { if let id = $1 { $0.insert(id) } }
            }
            #expect(winners.count == 100)
            let runs = try await ledger.runs(RunFilter())
            #expect(Set(runs.map(\.id)) == winners)
            #expect(runs.map(\.ordinal) == Array((1...100).reversed()))
            #expect(try await ledger.lastEvent() == 200)
            #expect(try await ledger.events(after: 0, limit: 999).map(\.seq) == Array(1...200))
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `shares its transaction with those that came while another was written`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            let before = backend.transactions(of: ledger)
            let begun = Arrivals()
            // Whoever writes the first is held up until all the others come.
            let observation = ledger.observeCommits { _ in
                while begun.count < 1000 { sched_yield() }
            }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<1000 {
                    group.addTask {
                        begun.note()
                        _ = try? await ledger.commit([.run("r\(number)", slot: Double(number))])
                    }
                }
            }
            withExtendedLifetime(observation) {}
            let runs = try await ledger.runs(RunFilter())
            #expect(runs.count == 1000)
            let transactions = backend.transactions(of: ledger) - before
            #expect(transactions >= 1)
            #expect(transactions < 500, "\(transactions) transactions for 1,000 lists")
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `of one caller follows the one before it`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            await withTaskGroup(of: Void.self) { group in
                for caller in 0..<8 {
                    group.addTask {
                        for step in 0..<25 {
                            let name = "caller\(caller)"
                            _ = try? await ledger.commit([
                                .moveConsumer(name: name, from: Int64(step), to: Int64(step) + 1)
                            ])
                        }
                    }
                }
            }
            for caller in 0..<8 {
                let cursor = try await ledger.cursor(of: "caller\(caller)")
                #expect(cursor == 25)
            }
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is seen by a read that begins after it`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            for number in 1...50 {
                let commit = try await ledger.commit([.event()])
                #expect(commit.lastEvent == Int64(number))
                #expect(try await ledger.lastEvent() == Int64(number))
            }
        }
    }
}

/// How many have come so far.
private final class Arrivals: Sendable {
    private let mutex = Mutex(0)

    var count: Int { mutex.withLock(\.self) }

    func note() { mutex.withLock { $0 += 1 } }
}
