import Delivery
import Ledger
import Testing
import Timeline
import Tracking

@Suite struct `a surface in the ledger` {
    private let item = "job:backup"
    private let here = RemoteID(generation: ":1.7", id: "42")

    private func want(_ revision: Int64, ring: Bool = false) -> Change {
        .wantSurface(channel: "desk", item: item, revision: revision, ring: ring, at: at(Double(revision)))
    }

    private func show(_ revision: Int64, _ remote: RemoteID?) -> Change {
        .showSurface(channel: "desk", item: item, revision: revision, remote: remote, at: at(0))
    }

    @Test(arguments: LedgerBackend.available)
    func `is behind until it shows what is wanted`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            var expected = SurfaceRecord(channel: "desk", item: item, wanted: 3, ring: true, wantedAt: at(3))
            try await ledger.commit([want(3, ring: true)])
            #expect(try await ledger.surfaces(channel: "desk", all: false) == [expected])
            #expect(try await ledger.surfaces(channel: "other", all: true).isEmpty)
            try await ledger.commit([show(3, here)])
            (expected.ring, expected.shown, expected.remote) = (false, 3, here)
            #expect(try await ledger.surfaces(channel: "desk", all: false).isEmpty)
            #expect(try await ledger.surfaces(channel: "desk", all: true) == [expected])
            #expect(try await ledger.surface(channel: "desk", item: item) == expected)
            #expect(try await ledger.surface(channel: "desk", remote: here) == expected)
            let elsewhere = RemoteID(generation: ":1.8", id: "42")
            #expect(try await ledger.surface(channel: "desk", remote: elsewhere) == nil)
            try await ledger.commit([want(4), show(4, nil)])
            #expect(try await ledger.surface(channel: "desk", remote: here) == nil)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `keeps a ring until that revision was shown`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            func rings() async throws -> Bool? { try await ledger.surface(channel: "desk", item: item)?.ring }
            try await ledger.commit([want(1), show(1, here), want(2, ring: true), want(3)])
            #expect(try await rings() == true)
            try await ledger.commit([show(1, here)])
            #expect(try await rings() == true)
            try await ledger.commit([show(2, here)])
            #expect(try await rings() == false)
            #expect(try await ledger.surfaces(channel: "desk", all: false).map(\.wanted) == [3])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `stays closed when dismissed, until it rings again`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            await expectFenced(ledger, [.dismissSurface(channel: "desk", item: item, true)])
            await expectFenced(ledger, [show(1, here)])
            func behind() async throws -> Int { try await ledger.surfaces(channel: "desk", all: false).count }
            try await ledger.commit([
                want(1), show(1, here), .dismissSurface(channel: "desk", item: item, true), want(2),
            ])
            #expect(try await behind() == 0)
            try await ledger.commit([want(3, ring: true)])
            #expect(try await behind() == 1)
            try await ledger.commit([
                show(3, here), .dismissSurface(channel: "desk", item: item, true), want(4),
            ])
            #expect(try await behind() == 0)
            try await ledger.commit([.dismissSurface(channel: "desk", item: item, false)])
            #expect(try await behind() == 1)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is dismissed only for the revision that was on the screen`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            let dismissal = Change.dismissSurface(channel: "desk", item: item, true)
            try await ledger.commit([want(1), show(1, here), want(2, ring: true), dismissal])
            #expect(try await ledger.surfaces(channel: "desk", all: false).map(\.wanted) == [2])
            // One that was dismissed before stays so, whatever silent revision is wanted meanwhile.
            try await ledger.commit([show(2, here), dismissal, want(3), dismissal])
            #expect(try await ledger.surface(channel: "desk", item: item)?.dismissed == true)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `that was refused is neither shown nor behind, until something else is wanted`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            func refuse(_ revision: Int64, _ reason: String?) -> Change {
                .refuseSurface(channel: "desk", item: item, revision: revision, reason: reason)
            }
            func behind() async throws -> [Int64] {
                try await ledger.surfaces(channel: "desk", all: false).map(\.wanted)
            }
            await expectFenced(ledger, [refuse(1, "no")])
            try await ledger.commit([want(1, ring: true), refuse(1, "no room")])
            #expect(try await behind().isEmpty)
            let refused = try #require(try await ledger.refusedSurfaces(channel: "desk").first)
            #expect(
                refused.refused == 1 && refused.refusal == "no room" && refused.shown == 0 && refused.ring)
            #expect(try await ledger.refusedSurfaces(channel: "other").isEmpty)
            try await ledger.commit([want(2)])
            #expect(try await behind() == [2])
            #expect(try await ledger.refusedSurfaces(channel: "desk").isEmpty)
            try await ledger.commit([refuse(2, "no"), refuse(0, nil)])
            #expect(try await behind() == [2])
            try await ledger.commit([refuse(2, "no"), show(2, here)])
            #expect(try await ledger.surface(channel: "desk", item: item)?.refused == 0)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is shown again, silently, when its server has ended`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([
                want(1, ring: true), show(1, here),
                .wantSurface(channel: "desk", item: "job:none", revision: 1, ring: false, at: at(0)),
                .showSurface(channel: "desk", item: "job:none", revision: 1, remote: nil, at: at(0)),
                .wantSurface(channel: "other", item: item, revision: 1, ring: false, at: at(0)),
                .showSurface(channel: "other", item: item, revision: 1, remote: here, at: at(0)),
                .forgetRemotes(channel: "desk"),
            ])
            let behind = try await ledger.surfaces(channel: "desk", all: false)
            #expect(behind.map(\.item) == [item])
            #expect(behind.first?.ring == false)
            #expect(behind.first?.remote == nil)
            #expect(behind.first?.shown == 0)
            #expect(try await ledger.surface(channel: "other", remote: here)?.shown == 1)
        }
    }
}

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
