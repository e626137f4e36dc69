import Delivery
import Ledger
import Testing
import Timeline

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
