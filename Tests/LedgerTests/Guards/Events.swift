import Delivery
import Ledger
import Testing
import Timeline
import Tracking

@Suite struct `events in the ledger` {
    @Test(arguments: LedgerBackend.available)
    func `are numbered from 1 in commit order and read as they were appended`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            let run = Fact.Run(job: "backup", id: "0199", bot: "ops")
            let full = NewEvent(.runFailed(Fact.End(run, reason: .exitCode, message: "no")), at: at(1))
            #expect(try await ledger.lastEvent() == 0)
            #expect(try await ledger.commit([]).lastEvent == 0)
            #expect(try await ledger.commit([.append(full), .event(seconds: 2)]).lastEvent == 2)
            #expect(try await ledger.commit([.event(.runLate, seconds: 3)]).lastEvent == 3)
            #expect(try await ledger.lastEvent() == 3)
            let all = try await ledger.events(after: 0, limit: 9)
            #expect(all.map(\.seq) == [1, 2, 3])
            #expect(all.first?.event == full)
            #expect(try await ledger.events(after: 1, limit: 1).map(\.seq) == [2])
            #expect(try await ledger.events(after: 3, limit: 9).isEmpty)
            let late = try await ledger.events(of: [.runLate, .test], after: 0, limit: 9)
            #expect(late == all.filter { [.runLate, .test].contains($0.event.type) })
            #expect(try await ledger.events(of: [.runLate], after: 0, limit: 0).isEmpty)
            #expect(try await ledger.events(of: [.runLate], after: 3, limit: 9).isEmpty)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `hold every fact as it was`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            #expect(Set(Fact.samples.map(\.type)) == Set(EventType.allCases))
            // With all that they can hold, and with what the columns alone say.
            let events = Fact.samples.flatMap { fact in
                [fact, Fact(fact.type, fact.columns)].map { NewEvent($0, at: at(1)) }
            }
            try await ledger.commit(events.map { .append($0) })
            let read = try await ledger.events(after: 0, limit: 99)
            #expect(read.map(\.event) == events)
            #expect(read.allSatisfy { $0.fault == nil })
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `are read by each consumer from its own cursor, which only its reader moves`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            #expect(try await ledger.cursor(of: "items") == 0)
            await expectFenced(ledger, [.moveConsumer(name: "items", from: 1, to: 2)])
            try await ledger.commit([.moveConsumer(name: "items", from: 0, to: 7)])
            await expectFenced(ledger, [.moveConsumer(name: "items", from: 0, to: 7)])
            try await ledger.commit([.moveConsumer(name: "items", from: 7, to: 9)])
            #expect(try await ledger.cursor(of: "items") == 9)
            #expect(try await ledger.cursor(of: "outbox") == 0)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `of a refused list were never there`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([.event()])
            await expectFenced(
                ledger, at: 1, [.event(.runLost), .moveConsumer(name: "items", from: 5, to: 6), .event()])
            #expect(try await ledger.lastEvent() == 1)
            #expect(try await ledger.commit([.event(.runLate)]).lastEvent == 2)
            #expect(try await ledger.events(after: 1, limit: 9).map(\.event.type) == [.runLate])
        }
    }
}

private let one = "019a2f6c-5f40-7c3e-9d2b-0c6f2f1b7a11"
private let two = "019a2f6c-5f41-7000-8000-0c6f2f1baaaa"
private let three = "019a2f6d-0000-7000-8000-00000190cafe"

@Suite struct `a short id` {
    @Test(arguments: [
        ("019a", "019a"), ("2F1B7A11", "2f1b7a11"), ("019a2f6c-5f", "019a2f6c-5f"), ("019", nil), ("", nil),
        ("backup", nil), ("019g", nil), ("01 9a", nil), ("019%", nil), ("job:a", nil),
    ])
    func `has four digits or more and nothing else`(_ text: String, _ read: String?) {
        #expect(ShortID(text)?.text == read)
    }

    @Test func `is shown by its last eight digits, or whole where those are shared`() {
        #expect(ShortID.shown([one, three]) == ["2f1b7a11", "0190cafe"])
        let same = "019b0000-0000-7000-8000-00002f1b7a11"
        #expect(ShortID.shown([one, two, same]) == [one, "2f1baaaa", same])
        #expect(ShortID.shown([one, one, "e1"]) == ["2f1b7a11", "2f1b7a11", "e1"])
    }

    @Test(arguments: LedgerBackend.available)
    func `finds messages by their start, or else by their last digits`(_ backend: LedgerBackend) async throws
    {
        try await backend.withNew { ledger in
            try await ledger.commit([one, two, three].map { .insertMessage(.sample($0)) })
            func ids(_ text: String, limit: Int = 9, of kind: IDKind = .message) async throws -> [String] {
                try await ledger.ids(of: kind, matching: #require(ShortID(text)), limit: limit)
            }
            #expect(try await ids("019a") == [three, two, one])
            #expect(try await ids("019a", limit: 2) == [three, two])
            #expect(try await ids("019a2f6c") == [two, one])
            #expect(try await ids("019A2F6C-5F40") == [one])
            #expect(try await ids(one) == [one])
            #expect(try await ids("2f1b") == [two, one])
            #expect(try await ids("2f1b7") == [one])
            // Also the last digits of the third, but ids that begin so go before.
            #expect(try await ids("0190") == [three])
            #expect(try await ids("7a11").isEmpty)
            #expect(try await ids("6f2f1b7a11").isEmpty)
            #expect(try await ids("2f1b7a11", of: .outbox).isEmpty)
            try await ledger.commit([.run(two)])
            #expect(try await ids("2f1b", of: .run) == [two])
        }
    }
}
