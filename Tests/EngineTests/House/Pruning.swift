import Delivery
import FoundationEssentials
import Grouping
import Host
import Ledger
import LedgerSQLite
import Synchronization
import TestSupport
import Testing
import Timeline
import Tracking
import WardenProtocol

@testable import Engine

@Suite struct `history` {
    @Test func `goes with its output, and what is kept keeps its own`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try folder.ledger()
        let places = RunPlaces(outputFolder: folder.path, socket: "", boot: "b")
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
        let pruner = Pruner(
            ledger: ledger, places: places, retention: retention,
            removeOutput: { OutputLog(path: $0).remove() }, logger: quiet)
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

@Suite struct `the clock of history` {
    private let start = at("10:00:00")
    private let decade = Duration.seconds(10 * 31_557_600)

    @Test func `goes with the wall clock, over nights and summer hours`() {
        var clock = RetentionClock(known: start, sinceBoot: .seconds(5))
        for hours in [1, 24, 25] {
            clock.advance(to: start + .seconds(3600 * hours), sinceBoot: .seconds(5))
            #expect(clock.now == start + .seconds(3600 * hours))
        }
        clock.advance(to: start - .seconds(86_400 * 40), sinceBoot: .seconds(6))
        #expect(clock.now == start - .seconds(86_400 * 40))
    }

    @Test func `follows a leap of years no faster than time goes by, and a tenth`() {
        var clock = RetentionClock(known: start, sinceBoot: .seconds(5))
        clock.advance(to: start + decade, sinceBoot: .seconds(5))
        #expect(clock.now == start)
        for hour in 1...100 {
            clock.advance(to: start + decade + .seconds(3600 * hour), sinceBoot: .seconds(5 + 3600 * hour))
        }
        #expect(clock.now == start + .seconds(3600 * 110))
    }

    @Test func `is right again some day after a machine was off for weeks`() {
        let away = Duration.seconds(21 * 86_400)
        var clock = RetentionClock(known: start, sinceBoot: .zero)
        for day in 1...210 {
            clock.advance(to: start + away + .seconds(86_400 * day), sinceBoot: .seconds(86_400 * day))
        }
        #expect(clock.now == start + away + .seconds(86_400 * 210))
    }

    @Test func `takes no step from a year before Belfry`() {
        var clock = RetentionClock(known: start, sinceBoot: .zero)
        clock.advance(to: Moment(seconds: 3600), sinceBoot: .seconds(60))
        #expect(clock.now == start + .seconds(60))
    }
}

@Suite(.timeLimit(.minutes(5))) struct `the keeper of the house` {
    /// Forty runs that nothing but their age can make go.
    private func fill(_ ledger: SQLiteLedger, endedAt: Moment) async throws {
        let watermark = Watermark(decidedUntil: endedAt, era: 0)
        var changes = [Change.moveWatermark(from: watermark, to: watermark)]
        for number in 1...40 {
            var run = RunRecord(
                id: "r\(number)", job: "job", bot: "ops", kind: .manual, cause: "key:\(number)",
                queuedAt: endedAt, revision: 1)
            run.state = .canceled
            run.endedAt = endedAt
            changes.append(.insertRun(run, orIgnore: false))
        }
        try await ledger.commit(changes)
    }

    @Test func `removes nothing because a clock is ten years ahead, also from the start on`() async throws {
        let folder = try TemporaryFolder()
        let places = RunPlaces(outputFolder: folder.path, socket: "", boot: "b")
        let decade = at("10:00:00") + .seconds(10 * 31_557_600)
        for start in [at("10:00:00"), decade] {
            let ledger = try folder.ledger()
            if start != decade { try await fill(ledger, endedAt: start) }
            let clock = ManualClock(now: start)
            let house = try await HouseKeeper(
                ledger: ledger, clock: clock, places: places, removeOutput: { _ in }, logger: quiet)
            try await serve(house) {
                _ = await clock.nextSleeper()
                clock.set(to: decade + .seconds(3600))
                _ = await clock.nextSleeper()
                clock.advance(by: .seconds(3600))
                _ = await clock.nextSleeper()
            }
            #expect(try await ledger.runs(RunFilter(job: "job")).count == 40)
            await ledger.close()
        }
    }

    @Test func `removes what is too old by then when time goes by`() async throws {
        let folder = try TemporaryFolder()
        let places = RunPlaces(outputFolder: folder.path, socket: "", boot: "b")
        let ledger = try folder.ledger()
        let clock = ManualClock(now: at("10:00:00"))
        try await fill(ledger, endedAt: clock.now)
        let house = try await HouseKeeper(
            ledger: ledger, clock: clock, places: places, removeOutput: { _ in }, logger: quiet)
        try await serve(house) {
            _ = await clock.nextSleeper()
            clock.advance(by: .seconds(91 * 86_400))
            while try await !ledger.runs(RunFilter(job: "job")).isEmpty { try Task.checkCancellation() }
        }
        #expect(try await ledger.runs(RunFilter(job: "job")).isEmpty)
        await ledger.close()
    }

    @Test func `gives memory back after the start, and each hour`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try folder.ledger()
        let clock = ManualClock(now: at("10:00:00"))
        let trims = Mutex(0)
        let house = try await HouseKeeper(
            ledger: ledger, clock: clock, places: RunPlaces(outputFolder: folder.path, socket: "", boot: "b"),
            removeOutput: { _ in }, trimMemory: { trims.withLock { $0 += 1 } }, logger: quiet)
        try await serve(house) {
            _ = await clock.nextSleeper()
            #expect(trims.withLock { $0 } == 0)
            clock.advance(by: .seconds(60))
            _ = await clock.nextSleeper()
            #expect(trims.withLock { $0 } == 1)
            clock.advance(by: .seconds(3600))
            _ = await clock.nextSleeper()
            #expect(trims.withLock { $0 } == 2)
        }
        await ledger.close()
    }

    @Test(.enabled("needs the right to mount a file system") { await SmallDisk.mayMount() })
    func `reports a full disk once, also over a restart, and that there is room again`() async throws {
        let disk = try SmallDisk(megabytes: 16)
        let places = RunPlaces(outputFolder: disk.folder.path, socket: "", boot: "b")
        let clock = ManualClock(now: at("10:00:00"))
        var ledger = try disk.folder.ledger()
        try disk.fill()
        // What does not fit makes the store look.
        for _ in 1...2 {
            let house = try await HouseKeeper(
                ledger: ledger, clock: clock, places: places, removeOutput: { _ in }, logger: quiet)
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
        let house = try await HouseKeeper(
            ledger: ledger, clock: clock, places: places, removeOutput: { _ in }, logger: quiet)
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
