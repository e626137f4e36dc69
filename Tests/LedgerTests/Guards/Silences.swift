import Delivery
import Ledger
import Testing
import Timeline

@Suite struct `a stored silence` {
    @Test(arguments: LedgerBackend.available)
    func `is kept as it was made, is ended once, and is forgotten long after its end`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            func silence(_ id: String, until second: Int64) throws -> Silence {
                try Silence(
                    id: id, matchers: [Matcher("host=db1"), Matcher("job!~\"web-.*\"")],
                    from: Moment(seconds: 10), until: Moment(seconds: second), by: "desk", note: "upgrade")
            }
            let (one, other) = (try silence("a", until: 100), try silence("b", until: 200))
            let start = Moment(seconds: 0)
            try await ledger.commit([.putSilence(one, endedBefore: start)])
            try await ledger.commit([.putSilence(other, endedBefore: start)])
            #expect(try await ledger.silences() == [one, other])
            await #expect(throws: LedgerError.self) {
                try await ledger.commit([.putSilence(one, endedBefore: start)])
            }
            try await ledger.commit([.endSilence(id: "a", at: Moment(seconds: 50))])
            #expect(try await ledger.silences().map(\.until.seconds) == [50, 200])
            await #expect(throws: LedgerError.self) {
                try await ledger.commit([.endSilence(id: "a", at: Moment(seconds: 60))])
            }
            try await ledger.commit([
                .putSilence(try silence("c", until: 300), endedBefore: Moment(seconds: 51))
            ])
            #expect(try await ledger.silences().map(\.id) == ["b", "c"])
        }
    }
}
