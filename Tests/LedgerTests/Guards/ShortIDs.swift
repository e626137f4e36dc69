import Delivery
import Ledger
import Testing

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
