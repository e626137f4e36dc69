import Engine
import Ledger
import LedgerSQLite
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `very many jobs` {
    /// A job once a day, so that its next slot and its only one are known.
    private struct Daily {
        var second: Int
        var isPaused = false

        static let now = at("10:00:00")

        func spec(_ name: String) -> JobSpec {
            .cron(name, "\(second % 60) \(second / 60 % 60) \(second / 3600) * * *").with {
                $0.bot = "bot-\(second % 3)"
            }
        }

        /// Within a day after 10:00.
        var next: Moment {
            let slot = at("00:00:00") + .seconds(second)
            return slot > Self.now ? slot : slot + .seconds(86_400)
        }
    }

    @Test(arguments: [1, 20_261_122])
    func `have their slots in order, whatever was added, moved, held and removed before`(_ seed: UInt64)
        async throws
    {
        var generator = SeededGenerator(seed: seed)
        try await SlotScene.run(at: Daily.now) { scene in
            var jobs: [String: Daily] = [:]
            for _ in 0..<60 {
                var edits: [JobEdit] = []
                for number in Set((0..<40).map { _ in Int.random(in: 0..<300, using: &generator) }).sorted() {
                    let name = "job-\(number)"
                    switch (Int.random(in: 0..<10, using: &generator), jobs[name]) {
                    case (0..<3, .some):
                        edits.append(.remove(name))
                        jobs[name] = nil
                    case (3, .some):
                        edits.append(.pause(name, note: nil))
                        jobs[name]?.isPaused = true
                    case (4, .some):
                        edits.append(.resume(name))
                        jobs[name]?.isPaused = false
                    case (_, let known):
                        // Few seconds, so that many jobs share a schedule and a slot.
                        var job = known ?? Daily(second: 0)
                        job.second = Int.random(in: 0..<200, using: &generator) * 431
                        edits.append(.put(job.spec(name), origin: .cli, place: nil))
                        jobs[name] = job
                    }
                }
                _ = try await scene.keeper.change(edits)
                let awake = jobs.filter { !$0.value.isPaused }.map { ($0.value.next, $0.key) }
                let summary = await scene.keeper.summary()
                #expect(summary.jobs == jobs.count)
                let first = awake.min { $0 < $1 }
                #expect(summary.next?.slot == first?.0 && summary.next?.job == first?.1)
            }
            let bots = Dictionary(grouping: jobs.values) { "bot-\($0.second % 3)" }.mapValues(\.count)
            #expect(await scene.keeper.countsOfBots() == bots)
            #expect(Set(await scene.keeper.names()) == Set(jobs.keys))

            scene.clock.advance(to: Daily.now + .seconds(86_400) - .seconds(1))
            try await scene.settled()
            let runs = try await scene.ledger.runs(RunFilter())
            let decided = Dictionary(grouping: runs) { $0.job }.mapValues { $0.compactMap(\.slot) }
            // The second of 10:00 itself comes a moment later.
            let due = jobs.filter { !$0.value.isPaused && $0.value.second != 36_000 }
            #expect(decided == due.mapValues { [$0.next] })
        }
    }

    @Test func `are read in pages, by name, each once`() async throws {
        try await SlotScene.run(at: at("10:00:00")) { scene in
            let count = 2 * SlotKeeper.page + 300
            _ = try await scene.keeper.change(
                (0..<count).map {
                    .put(
                        .cron("job-\($0)", "0 0 * * *"), origin: $0 % 2 == 0 ? .cli : .file, place: "f:\($0)")
                })
            var names: [String] = []
            var page = try await scene.keeper.entries(after: "")
            while let last = page.last {
                #expect(page.allSatisfy { $0.next == at("00:00:00") + .seconds(86_400) && $0.fault == nil })
                names += page.map(\.record.name)
                page = try await scene.keeper.entries(after: last.record.name)
            }
            #expect(names == (0..<count).map { "job-\($0)" }.sorted())
            #expect(await scene.keeper.namesOfFiles().count == count / 2)
        }
    }
}
