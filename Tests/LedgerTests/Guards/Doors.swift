import Delivery
import Ledger
import Testing
import Timeline

@Suite struct `a token of the door` {
    @Test(arguments: LedgerBackend.available)
    func `is kept once under its name, found by its digest, and removed once`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            let one = TokenRecord(
                id: "t1", name: "phone", digest: "aa", scopes: [.publish, .read],
                madeAt: Moment(microseconds: 1))
            var other = TokenRecord(
                id: "t2", name: "deploy", digest: "bb", scopes: [], job: "deploy",
                madeAt: Moment(microseconds: 2))
            other.signature = .github
            try await ledger.commit([.putToken(one), .putToken(other)])
            #expect(try await ledger.tokens() == [other, one])
            #expect(try await ledger.token(digest: "aa") == one)
            #expect(try await ledger.token(digest: "cc") == nil)
            await #expect(throws: LedgerError.self) { try await ledger.commit([.putToken(one)]) }
            // It was used; never earlier than is known, and what was removed is ignored.
            for (id, moment) in [("t1", 30), ("t1", 20), ("gone", 10)] {
                try await ledger.commit([.noteToken(id: id, usedAt: Moment(microseconds: Int64(moment)))])
            }
            #expect(try await ledger.token(digest: "aa")?.usedAt == Moment(microseconds: 30))
            #expect(try await ledger.token(digest: "bb")?.usedAt == nil)
            var twin = other
            twin.name = "twin"
            await #expect(throws: LedgerError.self) { try await ledger.commit([.putToken(twin)]) }
            try await ledger.commit([.removeToken(name: "phone")])
            #expect(try await ledger.token(digest: "aa") == nil)
            await #expect(throws: LedgerError.self) { try await ledger.commit([.removeToken(name: "phone")]) }
        }
    }
}

@Suite struct `an expectation` {
    @Test(arguments: LedgerBackend.available)
    func `is kept once under its name and its digest, changed by one at a time, and removed once`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            let schedule = ScheduleSpec(kind: .every, text: "1d", zone: "UTC")
            func make(_ name: String, _ digest: String) -> ExpectationRecord {
                ExpectationRecord(
                    name: name, seed: "s-\(name)", digest: digest, schedule: schedule,
                    grace: .seconds(3600), madeAt: Moment(microseconds: 5))
            }
            let (one, other) = (make("nightly", "aa"), make("backup", "bb"))
            try await ledger.commit([
                .putExpectation(one, replacing: nil), .putExpectation(other, replacing: nil),
            ])
            #expect(try await ledger.expectations() == [other, one])
            #expect(try await ledger.expectation(digest: "aa") == one)
            #expect(try await ledger.expectation(digest: "cc") == nil)
            for again in [one, make("twin", "aa")] {
                await #expect(throws: LedgerError.self) {
                    try await ledger.commit([.putExpectation(again, replacing: nil)])
                }
            }
            var late = one
            late.revision = 2
            late.reports.lateSince = Moment(microseconds: 9)
            late.reports.reason = .unfinished
            late.reports.message = "half done"
            try await ledger.commit([.putExpectation(late, replacing: 1)])
            await #expect(throws: LedgerError.self) {
                try await ledger.commit([.putExpectation(late, replacing: 1)])
            }
            #expect(try await ledger.expectation(digest: "aa") == late)
            try await ledger.commit([.removeExpectation(name: "nightly")])
            #expect(try await ledger.expectations() == [other])
            await #expect(throws: LedgerError.self) {
                try await ledger.commit([.removeExpectation(name: "nightly")])
            }
        }
    }
}
