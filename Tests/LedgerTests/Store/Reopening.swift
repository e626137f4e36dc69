import Grouping
import Ledger
import TestSupport
import Testing
import Timeline
import Tracking

@Suite struct `a ledger that was closed` {
    @Test(arguments: LedgerBackend.available)
    func `holds everything when it is opened again`(_ backend: LedgerBackend) async throws {
        let folder = try TemporaryFolder()
        let first = try backend.open(in: folder)
        try await first.commit([
            .putJob(.sample("backup"), replacing: nil), .run("r1", slot: 1), .run("r2", slot: 2), .event(),
            .move("r1", from: [.queued], to: .completed), .moveConsumer(name: "items", from: 0, to: 1),
        ])
        await first.close()
        let second = try backend.open(in: folder)
        #expect(try await second.jobs() == [.sample("backup")])
        #expect(try await second.runs(RunFilter()).map(\.id) == ["r2", "r1"])
        #expect(try await second.cursor(of: "items") == 1)
        let commit = try await second.commit([.run("r3", slot: 3), .event()])
        #expect(commit == Commit(lastEvent: 2, inserted: [Commit.Inserted("r3", 3)]))
        await second.close()
    }

    @Test(arguments: LedgerBackend.available)
    func `finds what was said by its words when it is opened again`(_ backend: LedgerBackend) async throws {
        let folder = try TemporaryFolder()
        func ids(of text: String, in ledger: any Ledger) async throws -> [String] {
            try await ledger.search(text, bot: nil, since: nil, limit: 9).messages.map(\.message.id)
        }
        let first = try backend.open(in: folder)
        // Words are entered in the index for many messages at once: these are some more than that.
        for start in [0, 200] {
            try await first.commit(
                (start..<start + 200).map { .insertMessage(.sample("m\($0)", text: "word\($0)")) })
        }
        try await first.commit([.insertMessage(.sample("searched", text: "a tape"))])
        #expect(try await ids(of: "tape", in: first) == ["searched"])
        #expect(try await ids(of: "word399", in: first) == ["m399"])
        try await first.commit([.insertMessage(.sample("last", text: "a disk"))])
        await first.close()
        let second = try backend.open(in: folder)
        #expect(try await ids(of: "disk", in: second) == ["last"])
        #expect(try await ids(of: "word3", in: second) == ["m3"])
        try await second.commit([.insertMessage(.sample("new", text: "another disk"))])
        #expect(try await Set(ids(of: "disk", in: second)) == ["last", "new"])
        await second.close()
    }

    @Test(arguments: LedgerBackend.available)
    func `gives no event the number of one that was removed`(_ backend: LedgerBackend) async throws {
        let folder = try TemporaryFolder()
        let first = try backend.open(in: folder)
        try await first.commit([.event(), .event(), .moveConsumer(name: "items", from: 0, to: 2)])
        try await first.commit([.removeHistory(before: at(9), limit: 9)])
        #expect(try await first.events(after: 0, limit: 9).map(\.seq) == [2])
        await first.close()
        let second = try backend.open(in: folder)
        #expect(try await second.lastEvent() == 2)
        #expect(try await second.commit([.event()]).lastEvent == 3)
        await second.close()
    }

    @Test(arguments: LedgerBackend.available)
    func `keeps counting where a newer run ended before an older one`(
        _ backend: LedgerBackend
    ) async throws {
        let folder = try TemporaryFolder()
        let first = try backend.open(in: folder)
        try await first.commit([
            .run("r1", slot: 1), .run("r2", slot: 2), .run("other", job: "other", slot: 1),
            .move("r2", from: [.queued], to: .completed), .move("other", from: [.queued], to: .completed),
        ])
        await first.close()
        let second = try backend.open(in: folder)
        let commit = try await second.commit([
            .run("r3", slot: 3), .run("r4", slot: 4), .run("again", job: "other", slot: 2),
        ])
        #expect(commit.ordinals == ["r3": 3, "r4": 4, "again": 2])
        await second.close()
    }

    @Test(arguments: LedgerBackend.available)
    func `keeps counting for more jobs than it remembers`(_ backend: LedgerBackend) async throws {
        let folder = try TemporaryFolder()
        let jobs = (0..<16_400).map { "job-\($0)" }
        let first = try backend.open(in: folder)
        try await first.commit(jobs.map { .run($0, job: $0, slot: 1) })
        try await first.commit(jobs.map { .move($0, from: [.queued], to: .completed) })
        await first.close()
        let second = try backend.open(in: folder)
        let commit = try await second.commit(
            [.run("new", job: "new", slot: 1)] + jobs.map { .run($0 + "b", job: $0, slot: 2) })
        #expect(commit.inserted == [.init("new", 1)] + jobs.map { .init($0 + "b", 2) })
        await second.close()
    }

    @Test(arguments: LedgerBackend.available)
    func `keeps counting for a job whose runs were removed`(_ backend: LedgerBackend) async throws {
        let folder = try TemporaryFolder()
        let first = try backend.open(in: folder)
        try await first.commit([
            .run("r1", slot: 1), .move("r1", from: [.queued], to: .completed), .removeRun(id: "r1"),
        ])
        await first.close()
        let second = try backend.open(in: folder)
        #expect(try await second.commit([.run("r2", slot: 2)]).ordinals == ["r2": 2])
        await second.close()
    }

    @Test(arguments: LedgerBackend.available)
    func `refuses whatever comes later`(_ backend: LedgerBackend) async throws {
        let folder = try TemporaryFolder()
        let ledger = try backend.open(in: folder)
        await ledger.close()
        await ledger.close()
        await #expect(throws: LedgerError.closed) { try await ledger.commit([.event()]) }
        await #expect(throws: LedgerError.closed) { try await ledger.lastEvent() }
    }

    @Test(arguments: LedgerBackend.available)
    func `first ended what was under way`(_ backend: LedgerBackend) async throws {
        let folder = try TemporaryFolder()
        let ledger = try backend.open(in: folder)
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    do {
                        try await ledger.commit([.run("r\(number)", slot: Double(number))])
                        _ = try await ledger.run(id: "r\(number)")
                        return true
                    } catch LedgerError.closed {
                        return false
                    } catch {
                        Issue.record("\(error)")
                        return false
                    }
                }
                if number == 100 {
                    group.addTask {
                        await ledger.close(); return false
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        let again = try backend.open(in: folder)
        // A list may be committed and the read after it refused; none is answered and lost.
        #expect(try await again.runs(RunFilter()).count >= outcomes)
        await again.close()
    }
}
