import Ledger
import Testing
import Tracking

@Suite struct `a channel entry` {
    @Test(arguments: LedgerBackend.available)
    func `is kept once under its name, and removed once`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let settings = JSON.object(["kind": .string("ntfy"), "url": .string("https://ntfy.sh/a")])
            let one = ChannelEntry(name: "team", settings: settings, when: ["failed", "test"])
            let other = ChannelEntry(name: "pager", settings: settings)
            try await ledger.commit([.putChannelEntry(one), .putChannelEntry(other)])
            #expect(try await ledger.channelEntries() == [one, other])
            await #expect(throws: LedgerError.self) { try await ledger.commit([.putChannelEntry(one)]) }
            try await ledger.commit([.removeChannelEntry(name: "team")])
            #expect(try await ledger.channelEntries() == [other])
            await #expect(throws: LedgerError.self) {
                try await ledger.commit([.removeChannelEntry(name: "team")])
            }
        }
    }
}
