import Ledger
import TestSupport
import Testing
import Timeline
import Tracking

@Suite struct `history that is past its time` {
    private func ended(
        _ count: Int, job: String = "backup", failing: Set<Int> = [], from first: Int = 0,
        in ledger: any Ledger
    ) async throws {
        for start in stride(from: first, to: first + count, by: 500) {
            var changes: [Change] = []
            for number in start..<min(start + 500, first + count) {
                var run = RunRecord.sample("\(job)\(number)", job: job, slot: Double(number))
                run.state = failing.contains(number) ? .failed : .completed
                run.endedAt = at(Double(number) + 0.5)
                changes.append(.insertRun(run, orIgnore: false))
            }
            try await ledger.commit(changes)
        }
    }

    private func prune(
        _ ledger: any Ledger, _ retention: Retention, at now: Moment, boot: String = "b"
    ) async throws -> Int {
        var removed = 0
        while true {
            let expired = try await ledger.expiredRuns(
                of: "backup", by: retention, boot: boot, at: now, limit: 100)
            if expired.isEmpty { return removed }
            #expect(expired.count <= 100)
            removed += expired.count
            try await ledger.commit(expired.map { .removeRun(id: $0.id) })
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `keeps a thousand runs of a job, and its last failures and completions`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            // Fifteen failures at the very beginning, one later; then all is well.
            try await ended(2500, failing: Set(0..<15).union([700]), in: ledger)
            try await ended(3, job: "other", in: ledger)
            #expect(try await prune(ledger, Retention(), at: at(3000)) == 1490)
            let runs = try await ledger.runs(RunFilter(job: "backup"))
            #expect(runs.filter { $0.state == .completed }.count == 1000)
            #expect(
                runs.filter { $0.state == .failed }.map(\.id) == ["backup700"]
                    + (6..<15).reversed().map { "backup\($0)" })
            #expect(try await ledger.runs(RunFilter(job: "other")).count == 3)
            let commit = try await ledger.commit([.run("next", slot: 9999)])
            #expect(commit.ordinals == ["next": 2501])
            #expect(try await ledger.jobsWithHistory(after: "", limit: 9) == ["backup", "other"])
            #expect(try await ledger.jobsWithHistory(after: "backup", limit: 9) == ["other"])
            #expect(try await ledger.jobsWithHistory(after: "", limit: 1) == ["backup"])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `goes after its age, but for what a finish time is read from`(_ backend: LedgerBackend) async throws
    {
        try await backend.withNew { ledger in
            try await ended(100, in: ledger)
            try await ledger.commit([.run("open", slot: 500)])
            let now = at(50) + .seconds(90 * 86_400)
            #expect(try await prune(ledger, Retention(), at: now) == 50)
            #expect(try await prune(ledger, Retention(), at: now + .seconds(86_400)) == 30)
            #expect(try await ledger.runs(RunFilter(job: "backup")).count == 21)
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `takes no profile of the last twenty completed runs, however old, and every other with its run`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            for number in 1...40 {
                // Every fourth fails, and leaves nothing to learn from.
                let state = number.isMultiple(of: 4) ? RunState.failed : .completed
                var move = RunMove(run: "r\(number)", from: [.queued], attempt: 1, to: state)
                (move.startedAt, move.endedAt) = (at(Double(number)), at(Double(number) + 0.5))
                move.profile = state == .completed ? RunProfile(total: Double(number)) : nil
                try await ledger.commit([
                    .run("r\(number)", job: "backup", slot: Double(number)), .moveRun(move),
                ])
            }
            let before = try await ledger.profiles(of: "backup", limit: 100).map(\.total)
            #expect(before.count == 30 && before.last == 39)
            #expect(try await prune(ledger, Retention(), at: at(1000) + .seconds(400 * 86_400)) == 10)
            let after = try await ledger.profiles(of: "backup", limit: 100).map(\.total)
            #expect(after == Array(before.suffix(20)))
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `stays where its cause may come again in this boot`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            for boot in ["b", "older"] {
                var run = RunRecord.sample(boot)
                run.cause = "boot:\(boot)"
                run.state = .canceled
                run.endedAt = at(1)
                try await ledger.commit([.insertRun(run, orIgnore: false)])
            }
            #expect(try await prune(ledger, Retention(), at: at(1) + .seconds(91 * 86_400)) == 1)
            #expect(try await ledger.runs(RunFilter()).map(\.id) == ["b"])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `is not removed while it is being made`(_ backend: LedgerBackend) async throws {
        try await backend.withNew { ledger in
            try await ledger.commit([.run("open", slot: 1)])
            await expectFenced(ledger, [.removeRun(id: "open")])
            try await ledger.commit([.removeRun(id: "removed")])
        }
    }

    @Test(arguments: LedgerBackend.available)
    func `takes events that everybody read, settled entries, receipts and spans with it`(
        _ backend: LedgerBackend
    ) async throws {
        try await backend.withNew { ledger in
            for second in 0..<10 { try await ledger.commit([.event(seconds: Double(second))]) }
            try await ledger.commit([.moveConsumer(name: "items", from: 0, to: 4)])
            let span = SlotSpan(
                job: "a", era: 0, first: at(1), last: at(2), count: 2, state: .missed, reason: .catchUpNone)
            try await ledger.commit([.recordSpan(span, follows: nil)])
            #expect(try await ledger.expiredRows(before: at(6), limit: 100) == 5)
            try await ledger.commit([.removeHistory(before: at(6), limit: 100)])
            #expect(try await ledger.events(after: 0, limit: 99).map(\.seq) == [5, 6, 7, 8, 9, 10])
            #expect(try await ledger.spans(of: nil, limit: 9).isEmpty)
            #expect(try await ledger.expiredRows(before: at(6), limit: 100) == 0)
            #expect(try await ledger.commit([.event()]).lastEvent == 11)
        }
    }
}
