import FoundationEssentials
import Grouping
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite struct `history` {
    @Test func `goes with its output, and what is kept keeps its own`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try folder.ledger()
        let places = RunPlaces(outputFolder: folder.path, socket: "", warden: nil, boot: "b")
        let now = at("10:00:00")
        var changes: [Change] = []
        for number in 1...60 {
            var run = RunRecord(
                id: "r\(number)", job: "job", bot: "ops", kind: .manual, cause: "key:\(number)",
                queuedAt: now,
                revision: 1)
            run.state = .completed
            run.attempt = 2
            run.endedAt = now
            changes.append(.insertRun(run, orIgnore: false))
            for attempt in 1...2 {
                let path = places.output(of: run.id, job: "job", attempt: attempt)
                let home = URL(filePath: path).deletingLastPathComponent()
                try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
                try Data("hello".utf8).write(to: URL(filePath: path))
            }
        }
        try await ledger.commit(changes)
        let retention = Retention(runs: 25, failures: 1, completions: 5)
        let pruner = Pruner(ledger: ledger, places: places, retention: retention, logger: quiet)
        try await pruner.prune(at: now)
        let kept = try await ledger.runs(RunFilter(job: "job")).map(\.id)
        #expect(kept == (36...60).reversed().map { "r\($0)" })
        for number in 1...60 {
            for attempt in 1...2 {
                let path = places.output(of: "r\(number)", job: "job", attempt: attempt)
                #expect(FileManager.default.fileExists(atPath: path) == (number > 35), "r\(number)")
            }
        }
        await ledger.close()
    }
}

@Suite struct `the keeper of the house` {
    @Test(.enabled("needs the right to mount a file system") { await SmallDisk.mayMount() })
    func `tells a full disk once, also over a restart, and that there is room again`() async throws {
        let disk = try SmallDisk(megabytes: 16)
        let places = RunPlaces(outputFolder: disk.folder.path, socket: "", warden: nil, boot: "b")
        let clock = ManualClock(now: at("10:00:00"))
        var ledger = try disk.folder.ledger()
        try disk.fill()
        // What does not fit makes the store look.
        for _ in 1...2 {
            let house = HouseKeeper(ledger: ledger, clock: clock, places: places, logger: quiet)
            try await serve(house) {
                while ledger.condition != .short {
                    let text = String(repeating: "x", count: 50_000)
                    let message = Message(
                        id: freshID(), bot: "ops", thread: "main", text: text, at: clock.now)
                    _ = try? await ledger.commit([.insertMessage(MessageRecord(message: message))])
                }
                while try await ledger.fact(named: HouseKeeper.fact) == nil {}
            }
            #expect(try await ledger.events(after: 0, limit: 99).map(\.event.type) == [.ledgerFull])
            await ledger.close()
            ledger = try disk.folder.ledger()
        }
        try disk.free()
        let house = HouseKeeper(ledger: ledger, clock: clock, places: places, logger: quiet)
        try await serve(house) {
            while try await ledger.fact(named: HouseKeeper.fact) != nil {
                _ = await clock.nextSleeper()
                clock.advance(by: .seconds(5))
            }
        }
        #expect(
            try await ledger.events(after: 0, limit: 99).map(\.event.type) == [.ledgerFull, .ledgerRestored])
        await ledger.close()
    }

    private func serve(_ house: HouseKeeper, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await house.run() }
            try await body()
            group.cancelAll()
            do { try await group.waitForAll() } catch is CancellationError {}
        }
    }
}
