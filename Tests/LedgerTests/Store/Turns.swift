import Delivery
import Grouping
import Ledger
import Synchronization
import TestSupport
import Testing
import Timeline

@Suite struct `a turn` {
    @Test(arguments: LedgerBackend.available)
    func `decides by what its transaction holds, and learns that it is kept`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([.event()])
            let turn = Decision(TurnReads(events: .after(0, limit: 9))) { input in
                [.setFact(name: "seen", value: "\(input.events.count)")]
            }
            try await ledger.commit(turn)
            #expect(try await ledger.fact(named: "seen") == "1")
            #expect(turn.settled == [true])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is given what the events it reads first name, and nothing else`(
        _ backend: LedgerBackend
    ) async throws {
        let thread = ItemKey.thread(bot: "ops", thread: "main")
        let item = ItemRecord(key: thread, revision: 1, state: [1], flushAt: at(5), updatedAt: at(1))
        try await backend.withNew { ledger in
            try await ledger.commit([
                .run("r1", job: "a"), .run("r2", job: "b"), .insertMessage(.sample("m1")),
                .insertMessage(.sample("m2", pinned: true)),
                .insertMessage(.sample("m3", thread: "other", pinned: true)),
                .putItem(item, replacing: nil), .putItem(.sample("a"), replacing: nil),
                .putItem(.sample("b"), replacing: nil),
                .insertOutbox(.sample("o0", item: "\(thread)")),
                .moveOutbox(OutboxMove(id: "o0", from: .pending, attempts: 0, to: .pending, nextAttempts: 1)),
                .insertOutbox(.sample("o0", item: "\(thread)")),
                // What is written into it comes after all that waits.
                .insertOutbox(.sample("o1", item: "\(thread)")),
                .insertOutbox(.sample("o2", channel: "other", item: "\(thread)")),
                .insertOutbox(.sample("o3", item: "job:a")), .event(), .event(), .event(),
                .moveConsumer(name: "tail", from: 0, to: 1),
            ])
            var named = TurnReads()
            named.runs = ["r1", "none"]
            named.specs = ["r1", "none"]
            named.messages = ["m1", "none"]
            named.items = [.job("a"), .job("none")]
            named.channels = ["hook"]
            named.unreadCount = 1
            let seen = Mutex<TurnInput?>(nil)
            let turn = Decision(
                TurnReads(events: .of(consumer: "tail", limit: 1), itemsToWake: 9), then: named
            ) { input in
                seen.withLock { $0 = input }
                return []
            }
            try await ledger.commit(turn)
            let kept = seen.withLock { $0 }
            let input = try #require(kept)
            #expect(input.cursor == 1)
            #expect(input.events.map(\.seq) == [2])
            #expect(input.itemsToWake == [item])
            #expect(input.runs.mapValues(\.job) == ["r1": "a"])
            #expect(
                input.messages.mapValues(\.message.thread) == ["m1": "main", "m2": "main"],
                "the message that was named, and the newest of its thread")
            #expect(input.items == [.job("a"): .sample("a"), thread: item])
            #expect(input.untried.mapValues { $0.mapValues(\.id) } == [thread: ["hook": "o1"]])
            #expect(input.pinned == ["m2"])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `reads the specs of jobs that name their outcomes with every run of them`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            var loud = JobRecord.sample("loud")
            loud.spec.notify = .only([.completed])
            for job in [loud, .sample("plain")] {
                try await ledger.commit([
                    .putJob(job, replacing: nil), .run("run of \(job.spec.name)", job: job.spec.name),
                ])
            }
            var reads = TurnReads()
            reads.runs = ["run of loud", "run of plain"]
            reads.jobs = ["loud", "plain", "none"]
            let seen = Mutex<TurnInput?>(nil)
            try await ledger.commit(
                Decision(reads) { input in
                    seen.withLock { $0 = input }
                    return []
                })
            let kept = seen.withLock { $0 }
            let input = try #require(kept)
            #expect(input.specs == ["run of loud": loud.spec])
            #expect(input.jobSpecs == ["loud": loud.spec])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `that follows shares the transaction of the events it follows`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            let turn = follower()
            ledger.follow(turn)
            let before = backend.transactions(of: ledger)
            let commit = try await ledger.commit([.event(), .event()])
            #expect(backend.transactions(of: ledger) == before + 1)
            #expect(turn.asked == 1, "its cursor is at the newest event")
            #expect(commit.lastEvent == 2)
            #expect(try await ledger.cursor(of: "tail") == 2)
            try await ledger.commit([.setFact(name: "a", value: "b")])
            #expect(turn.settled == [true], "no event, no turn")
            ledger.unfollow(turn)
            try await ledger.commit([.event()])
            #expect(try await ledger.cursor(of: "tail") == 2)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `that follows has a list that comes meanwhile join its transaction`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            let late = Mutex<Task<Commit, any Error>?>(nil)
            let turn = follower { last in
                // It is in line when this returns: it runs here until it waits.
                if last == 1 {
                    late.withLock { $0 = Task.immediate { try await ledger.commit([.event()]) } }
                }
                return []
            }
            ledger.follow(turn)
            let before = backend.transactions(of: ledger)
            try await ledger.commit([.event()])
            let task = late.withLock(\.self)
            #expect(try await task?.value.lastEvent == 2)
            #expect(backend.transactions(of: ledger) == before + 1)
            #expect(try await ledger.cursor(of: "tail") == 2)
            #expect(turn.settled == [true])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `that follows is given what the transaction wrote as it is stored`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([.insertMessage(.sample("m0", text: "the first")), .event()])
            let seen = Mutex<TurnInput?>(nil)
            var messages = TurnReads()
            messages.messages = ["m0", "m1", "m2"]
            let turn = Decision(TurnReads(events: .after(1, limit: 2)), then: messages) { input in
                seen.withLock { if $0 == nil { $0 = input } }
                return []
            }
            ledger.follow(turn)
            try await ledger.commit([
                .insertMessage(.sample("m0", text: "the same again")), .insertMessage(.sample("m1")),
                .append(NewEvent(.messagePosted(Fact.Post("m1", bot: "ops")), at: at(1))), .event(), .event(),
                .markRead(bot: "ops", thread: "main", through: at(9)), .insertMessage(.sample("m2")),
            ])
            let kept = seen.withLock(\.self)
            let input = try #require(kept)
            #expect(input.events == Array(try await ledger.events(after: 1, limit: 2)))
            #expect(input.events.count == 2)
            for id in ["m0", "m1", "m2"] {
                #expect(try await input.messages[id] == ledger.message(id: id), "\(id)")
            }
            #expect(input.messages["m0"]?.message.text == "the first")
            #expect(input.messages["m1"]?.read == true)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `that follows decides again for the events it makes itself`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let turn = follower { $0 < 4 ? [.event()] : [] }
            ledger.follow(turn)
            try await ledger.commit([.event()])
            #expect(try await ledger.lastEvent() == 4)
            #expect(try await ledger.cursor(of: "tail") == 4)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `that is refused takes only its own changes with it`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let turn = Decision(TurnReads()) { _ in
                [.setFact(name: "half", value: "done"), .moveConsumer(name: "tail", from: 77, to: 78)]
            }
            ledger.follow(turn)
            let commit = try await ledger.commit([.event()])
            #expect(commit.lastEvent == 1)
            #expect(try await ledger.lastEvent() == 1)
            #expect(try await ledger.fact(named: "half") == nil)
            #expect(turn.settled.first == false)
            await #expect(throws: LedgerError.self) { try await ledger.commit(turn) }
            #expect(try await ledger.fact(named: "half") == nil)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is undone with a list that is refused, and those beside it are not`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            let turn = follower()
            ledger.follow(turn)
            await expectFenced(ledger, at: 1, [.event(), .moveConsumer(name: "other", from: 5, to: 6)])
            #expect(try await ledger.cursor(of: "tail") == 0)
            try await ledger.commit([.event()])
            #expect(try await ledger.cursor(of: "tail") == 1)
        }
    }
}

/// A turn that decides by a closure, and remembers how it was settled.
private final class Decision: Turn {
    private let first: TurnReads?
    private let second: TurnReads
    private let decision: @Sendable (TurnInput) -> [Change]
    private let kept = Mutex<[Bool]>([])
    private let asks = Atomic(0)

    init(
        _ first: TurnReads?, then second: TurnReads = TurnReads(),
        _ decision: @escaping @Sendable (TurnInput) -> [Change]
    ) {
        (self.first, self.second, self.decision) = (first, second, decision)
    }

    /// What `settle` was called with, in order.
    var settled: [Bool] { kept.withLock(\.self) }

    /// How often it was asked what it reads.
    var asked: Int { asks.load(ordering: .relaxed) }

    func opening() -> TurnReads? {
        asks.add(1, ordering: .relaxed)
        return first
    }

    func reads(by input: TurnInput) -> TurnReads { second }

    func decide(_ input: TurnInput) -> [Change] { decision(input) }

    func settle(_ isKept: Bool) { kept.withLock { $0.append(isKept) } }
}

/// A turn that moves its cursor past every event, and adds what `also` returns for the newest one's number.
private func follower(also: @escaping @Sendable (Int64) -> [Change] = { _ in [] }) -> Decision {
    Decision(TurnReads(events: .of(consumer: "tail", limit: 99))) { input in
        guard let last = input.events.last?.seq else { return [] }
        return [.moveConsumer(name: "tail", from: input.cursor, to: last)] + also(last)
    }
}
