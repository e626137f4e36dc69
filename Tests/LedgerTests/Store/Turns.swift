import Ledger
import Synchronization
import TestSupport
import Testing

@Suite struct `a turn` {
    @Test(arguments: LedgerBackend.available)
    func `decides by what its transaction holds, and is told that it is kept`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([.event()])
            let turn = Decision { reads throws(LedgerError) in
                let last = try reads.events(after: 0, limit: 9).count
                return [.setFact(name: "seen", value: "\(last)")]
            }
            try await ledger.commit(turn)
            #expect(try await ledger.fact(named: "seen") == "1")
            #expect(turn.settled == [true])
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
    func `that follows is asked again for the events it makes itself`(_ backend: LedgerBackend) async throws {
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
            let turn = Decision { _ in
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

    /// Moves its cursor behind every event, and adds what `also` says by the newest one's number.
    private func follower(also: @escaping @Sendable (Int64) -> [Change] = { _ in [] }) -> Decision {
        Decision { reads throws(LedgerError) in
            let cursor = try reads.cursor(of: "tail")
            guard let last = try reads.events(after: cursor, limit: 99).last?.seq else { return [] }
            return [.moveConsumer(name: "tail", from: cursor, to: last)] + also(last)
        }
    }
}

/// A turn that decides by a closure, and remembers what it was told.
private final class Decision: Turn {
    private let decision: @Sendable (any TurnReading) throws(LedgerError) -> [Change]
    private let told = Mutex<[Bool]>([])

    init(_ decision: @escaping @Sendable (any TurnReading) throws(LedgerError) -> [Change]) {
        self.decision = decision
    }

    /// What it was told, in order.
    var settled: [Bool] { told.withLock(\.self) }

    func decide(by ledger: any TurnReading) throws(LedgerError) -> [Change] { try decision(ledger) }

    func settle(_ isKept: Bool) { told.withLock { $0.append(isKept) } }
}
