import Ledger
import LedgerSQLite
import Performing
import TestSupport
import Testing
import Timeline
import Tracking

@testable import Engine

@Suite(.timeLimit(.minutes(5))) struct `the live board` {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func task(_ id: String) -> LiveTask {
        LiveTask(id: id, botID: "ops", run: "\(id)#1", name: id, botName: "ops")
    }

    private func board(_ ledger: any Ledger, _ clock: ManualClock, incarnation: Int64 = 1) -> LiveBoard {
        LiveBoard(ledger: ledger, clock: clock, incarnation: incarnation, logger: quiet)
    }

    /// A ledger in which the runs `ids` are under way.
    private func ledger(_ ids: String...) async throws -> SQLiteLedger {
        let ledger = try folder.ledger()
        for id in ids {
            let run = RunRecord(
                id: id, job: id, bot: "ops", kind: .manual, cause: "key:\(id)", state: .running,
                queuedAt: at("10:00:00"), revision: 1)
            try await ledger.commit([.insertRun(run, orIgnore: false)])
        }
        return ledger
    }

    @Test func `gives a watcher what changed since its last look, each run once`() async throws {
        let ledger = try await ledger("a", "b")
        let clock = ManualClock(now: at("10:00:00"))
        let board = board(ledger, clock)
        for id in ["a", "b"] {
            await board.enter(task(id), attempt: 1, state: .running, saved: nil, at: clock.now)
        }
        let first = await board.changes(after: 0)
        #expect(Set(first.states.map(\.task.id)) == ["a", "b"])
        #expect(await board.changes(after: first.version).states.isEmpty)
        for part in 1...5 {
            _ = await board.receive(
                ProgressReport(fraction: Double(part) / 10), of: "a", at: clock.now)
        }
        let second = await board.changes(after: first.version)
        #expect(second.states.map(\.progress) == [0.5] && second.version > first.version)
        await board.end("b", .completed, reason: nil, at: clock.now)
        await board.end("a", .failed, reason: .exitCode, at: clock.now)
        let third = await board.changes(after: second.version)
        #expect(third.states.map(\.state) == [.completed, .failed])
        // As a whole, for a reader that keeps no version; it takes nothing from those that do.
        let whole = await board.whole()
        #expect(whole.version == third.version && whole.states.map(\.task.id) == ["b", "a"])
        #expect(await board.changes(after: second.version).states == third.states)
        #expect(await board.states().isEmpty)
        await ledger.close()
    }

    @Test func `takes a numbered report once, also after a restart, and of each attempt`() async throws {
        let ledger = try await ledger("a")
        let clock = ManualClock(now: at("10:00:00"))
        let (first, second) = (RunKey(run: "a", attempt: 1), RunKey(run: "a", attempt: 2))
        func say(_ text: String, _ number: Int?, _ key: RunKey, on board: LiveBoard) async -> String? {
            _ = await board.receive(ProgressReport(message: text), numbered: number, of: key, at: clock.now)
            return await board.state(of: "a")?.message
        }
        let before = board(ledger, clock)
        await before.enter(task("a"), attempt: 1, state: .running, saved: nil, at: clock.now)
        #expect(await say("one", 1, first, on: before) == "one")
        #expect(await say("two", 2, first, on: before) == "two")
        #expect(await say("one", 1, first, on: before) == "two")
        #expect(await say("aside", nil, first, on: before) == "aside")
        let saved = try #require(await before.state(of: "a"))
        #expect(saved.reported == 2)

        let after = board(ledger, clock, incarnation: 2)
        await after.enter(task("a"), attempt: 1, state: .running, saved: saved, at: clock.now)
        #expect(await say("one", 1, first, on: after) == "aside")
        #expect(await say("two", 2, first, on: after) == "aside")
        #expect(await say("three", 3, first, on: after) == "three")

        let again = board(ledger, clock, incarnation: 3)
        await again.enter(task("a"), attempt: 2, state: .running, saved: saved, at: clock.now)
        #expect(await say("begun again", 1, second, on: again) == "begun again")
        await ledger.close()
    }

    @Test func `acknowledges a report once it is saved, and none that is held back`() async throws {
        let ledger = try await ledger("a")
        let clock = ManualClock(now: at("10:00:00"))
        let (board, key) = (board(ledger, clock), RunKey(run: "a", attempt: 1))
        await board.enter(task("a"), attempt: 1, state: .running, saved: nil, at: clock.now)
        _ = await board.receive(
            line: Array("{\"message\":\"one\"}".utf8), numbered: 1, of: key, at: clock.now)
        #expect(await board.state(of: "a")?.reported == 1)
        #expect(board.savedReports.takeAll().isEmpty)
        _ = try await board.serve()
        #expect(board.savedReports.takeAll() == [key: 1])
        #expect(board.savedReports.takeAll().isEmpty)
        // Faster than anybody reads: the reader waits with it.
        var number = 1
        while await board.state(of: "a")?.reported == number {
            number += 1
            let line = Array("{\"message\":\"\(number)\"}".utf8)
            _ = await board.receive(line: line, numbered: number, of: key, at: clock.now)
        }
        #expect(await board.state(of: "a")?.message == "\(number - 1)")
        clock.advance(by: .seconds(2))
        _ = await board.refresh(at: clock.now)
        let live = await board.state(of: "a")
        #expect(live?.reported == number && live?.message == "\(number)")
        await ledger.close()
    }

    @Test(arguments: ["", "\u{1B}[0m", "\0", "\r", "\u{8}", "\u{202E}"])
    func `shows no secret that a job reports, whatever stands inside it`(inside: String) async throws {
        let ledger = try await ledger("a")
        let board = board(ledger, ManualClock(now: at("10:00:00")))
        await board.enter(task("a"), attempt: 1, state: .running, saved: nil, at: at("10:00:00"))
        await board.hide(HiddenTexts(["hunter2"]), of: "a")
        let report = ProgressReport(
            fraction: 0.1, phase: "as hun\(inside)ter2", message: "is hun\(inside)ter2")
        _ = await board.receive(report, of: "a", at: at("10:00:01"))
        let live = await board.state(of: "a")
        #expect(live?.message == "is ***" && live?.phase == "as ***")
        await ledger.close()
    }

    @Test(arguments: ["", "\r", "\0", "\u{1B}[0m"])
    func `shows no secret that a job prints, wherever it is cut`(inside: String) async throws {
        let ledger = try await ledger("a")
        let lines = (1...4).map { "copy hun\(inside)terx: \($0)0%\n" }.joined()
        let bytes = Array(lines.utf8)
        for cut in 0...bytes.count {
            let board = board(ledger, ManualClock(now: at("10:00:00")))
            await board.enter(task("a"), attempt: 1, state: .running, saved: nil, at: at("10:00:00"))
            await board.hide(HiddenTexts(["hunterx"]), of: "a")
            _ = await board.scan(Array(bytes[..<cut]), of: "a", at: at("10:00:01"))
            _ = await board.scan(Array(bytes[cut...]), of: "a", at: at("10:00:02"))
            let live = await board.state(of: "a")
            #expect(live?.progress == 0.4, "\(cut)")
            #expect(live?.phase.map { !$0.contains("hun") && !$0.contains("ter") } ?? true, "\(cut)")
        }
        await ledger.close()
    }

    @Test func `goes on with the progress it found in the output before a restart`() async throws {
        let ledger = try await ledger("a")
        let clock = ManualClock(now: at("10:00:00"))
        let first = board(ledger, clock)
        await first.enter(task("a"), attempt: 1, state: .running, saved: nil, at: clock.now)
        for part in 1...3 {
            _ = await first.scan(Array("packing \(part)/10\n".utf8), of: "a", at: clock.now)
        }
        let saved = try #require(await first.state(of: "a"))
        let stored: LiveState = try JSON.decode(from: JSON.encode(saved))
        let next = board(ledger, clock, incarnation: 2)
        await next.enter(task("a"), attempt: 1, state: .running, saved: stored, at: clock.now)
        _ = await next.scan(Array("disk 80% full\n".utf8), of: "a", at: clock.now)
        #expect(await next.state(of: "a")?.progress == 0.3)
        _ = await next.scan(Array("packing 4/10\n".utf8), of: "a", at: clock.now)
        #expect(await next.state(of: "a")?.progress == 0.4)
        // Another attempt prints from the beginning.
        let again = board(ledger, clock, incarnation: 3)
        await again.enter(task("a"), attempt: 2, state: .running, saved: stored, at: clock.now)
        _ = await again.scan(Array("packing 5/10\n".utf8), of: "a", at: clock.now)
        #expect(await again.state(of: "a")?.progress == nil)
        await ledger.close()
    }

    @Test func `says why no text of a job is shown`() async throws {
        let ledger = try await ledger("a")
        let board = board(ledger, ManualClock(now: at("10:00:00")))
        await board.enter(task("a"), attempt: 1, state: .running, saved: nil, at: at("10:00:00"))
        await board.hide(nil, of: "a")
        let report = ProgressReport(fraction: 0.5, phase: "packing", message: "file 6")
        _ = await board.receive(report, of: "a", at: at("10:00:01"))
        let live = await board.state(of: "a")
        #expect(live?.progress == 0.5 && live?.phase == nil && live?.message == HiddenTexts.reason)
        await ledger.close()
    }

    @Test func `shows an end once its commit is confirmed, and takes no report after it was decided`()
        async throws
    {
        let ledger = try await ledger("a")
        let clock = ManualClock(now: at("10:00:00"))
        let board = board(ledger, clock)
        await board.enter(task("a"), attempt: 1, state: .running, saved: nil, at: clock.now)
        let seen = await board.changes(after: 0).version
        let last = await board.conclude("a", .failed, reason: .exitCode, at: clock.now)
        #expect(last?.live.state == .failed)
        #expect(await board.receive(ProgressReport(fraction: 0.5), of: "a", at: clock.now) == nil)
        #expect(await board.changes(after: seen).states.isEmpty)
        #expect(await board.states().map(\.state) == [.running])
        await board.end(["a"])
        let shown = await board.changes(after: seen).states
        #expect(shown.map(\.state) == [.failed] && shown.first == last?.live)
        #expect(await board.states().isEmpty)
        await ledger.close()
    }

    @Test func `shows a watcher that it missed the end of a run that is no longer kept`() async throws {
        let ledger = try await ledger("a")
        let clock = ManualClock(now: at("10:00:00"))
        let board = board(ledger, clock)
        await board.enter(task("a"), attempt: 1, state: .running, saved: nil, at: clock.now)
        let seen = await board.changes(after: 0)
        await board.end("a", .completed, reason: nil, at: clock.now)
        #expect(await board.changes(after: seen.version).isWhole)
        for number in 1...256 {
            await board.enter(task("b\(number)"), attempt: 1, state: .running, saved: nil, at: clock.now)
            await board.end("b\(number)", .completed, reason: nil, at: clock.now)
        }
        let changes = await board.changes(after: seen.version)
        #expect(!changes.isWhole && !changes.states.contains { $0.task.id == "a" })
        #expect(await board.changes(after: changes.version).isWhole)
        await ledger.close()
    }

    @Test func `taps a slow watcher once for all it missed`() async throws {
        let ledger = try await ledger("a")
        let clock = ManualClock(now: at("10:00:00"))
        let board = board(ledger, clock)
        var taps = board.taps().makeAsyncIterator()
        await board.enter(task("a"), attempt: 1, state: .running, saved: nil, at: clock.now)
        for part in 1...9 {
            _ = await board.receive(ProgressReport(fraction: Double(part) / 10), of: "a", at: clock.now)
        }
        await taps.next(isolation: #isolation)
        let seen = await board.changes(after: 0)
        #expect(seen.states.map(\.progress) == [0.9])
        await board.end("a", .completed, reason: nil, at: clock.now)
        await taps.next(isolation: #isolation)
        #expect(await board.changes(after: seen.version).states.map(\.state) == [.completed])
        await ledger.close()
    }

    @Test func `is saved at most once a second, and a last time at the end`() async throws {
        let ledger = try await ledger("a")
        let clock = ManualClock(now: at("10:00:00"))
        let board = board(ledger, clock)
        let serving = Task { try await board.run() }
        await board.enter(task("a"), attempt: 1, state: .running, saved: nil, at: clock.now)
        func report(_ part: Double) async {
            _ = await board.receive(ProgressReport(fraction: part), of: "a", at: clock.now)
        }
        func saved() async throws -> Double? { try await ledger.run(id: "a")?.live?.progress }
        await report(0.1)
        // Saved at once, then a second of rest.
        #expect(await clock.nextSleeper() == at("10:00:01"))
        #expect(try await saved() == 0.1)
        let before = ledger.transactions
        for part in 2...50 { await report(0.1 + Double(part) / 100) }
        #expect(ledger.transactions == before)
        clock.advance(by: .seconds(1))
        #expect(await clock.nextSleeper() == at("10:00:02"))
        #expect(try await saved() == 0.6)
        #expect(ledger.transactions == before + 1)
        await report(0.7)
        serving.cancel()
        await #expect(throws: CancellationError.self) { try await serving.value }
        #expect(try await saved() == 0.7)
        await ledger.close()
    }

    @Test func `continues after a restart with higher numbers, and no progress falls`() async throws {
        let ledger = try await ledger("a")
        let clock = ManualClock(now: at("10:00:00"))
        let first = board(ledger, clock)
        await first.enter(task("a"), attempt: 1, state: .running, saved: nil, at: clock.now)
        for part in 1...9 {
            _ = await first.receive(ProgressReport(fraction: Double(part) / 10), of: "a", at: clock.now)
        }
        let before = try #require(await first.state(of: "a"))
        let second = board(ledger, clock, incarnation: 2)
        await second.enter(task("a"), attempt: 1, state: .running, saved: before, at: clock.now)
        let after = try #require(await second.state(of: "a"))
        #expect(after.seq > before.seq && after.progress == 0.9)
        _ = await second.receive(ProgressReport(fraction: 0.2), of: "a", at: clock.now)
        #expect(await second.state(of: "a")?.progress == 0.9)
        await ledger.close()
    }

    @Test func `keeps the newest ends for those who look late, and no more`() async throws {
        let ledger = try await ledger()
        let clock = ManualClock(now: at("10:00:00"))
        let board = board(ledger, clock)
        for number in 0..<1000 {
            let id = "r\(number)"
            await board.enter(task(id), attempt: 1, state: .running, saved: nil, at: clock.now)
            await board.end(id, .completed, reason: nil, at: clock.now)
        }
        let states = await board.changes(after: 0).states
        #expect(states.count == 256 && states.last?.task.id == "r999")
        await ledger.close()
    }
}
