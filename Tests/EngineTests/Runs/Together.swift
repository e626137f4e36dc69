import Engine
import Ledger
import LedgerSQLite
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `a run whose row no longer exists when its turn comes` {
    @Test func `holds nobody back`() async throws {
        try await RunScene.run { scene in
            try scene.makePipe("go")
            let spec = JobSpec.manual("job", "read line < ../go").with { $0.overlap = .queueAll }
            let first = try await scene.queue(spec)
            try await scene.run(first) { $0.state == .running }
            let removed = try await scene.queue(spec)
            let last = try await scene.queue(spec)
            try await scene.settled()
            try await scene.change("DELETE FROM run WHERE id = '\(removed.id)'")
            for run in [first, last] {
                try await scene.write("go")
                #expect(try await scene.end(of: run).state == .completed)
            }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `runs that want to be under way together` {
    /// A job that notes its run, then waits for the test; it must not overlap itself unless it is changed to.
    private func job(
        _ name: String = "job", gate: String = "go", _ change: (inout JobSpec) -> Void = { _ in }
    ) -> JobSpec {
        JobSpec.manual(name, "echo $BELFRY_RUN_ID >> ../began; until [ -e ../\(gate) ]; do sleep 0.02; done")
            .with {
                $0.overlap = .queueAll
                change(&$0)
            }
    }

    @Test func `wait for each other within a job`() async throws {
        try await RunScene.run { scene in
            let first = try await scene.queue(job(gate: "one"))
            let second = try await scene.queue(job(gate: "two"))
            let other = try await scene.queue(.manual("other"))
            try await scene.run(first) { $0.state == .running }
            #expect(try await scene.end(of: other).state == .completed)
            #expect(try await scene.ledger.run(id: second.id)?.state == .queued)
            #expect(await scene.keeper.wait(of: second.id)?.kind == .overlap)
            try scene.open("one")
            #expect(try await scene.end(of: first).state == .completed)
            try scene.open("two")
            #expect(try await scene.end(of: second).state == .completed)
            #expect(try scene.lines(of: "began") == [first.id, second.id])
        }
    }

    @Test func `do not where the job allows it, or a person insists`() async throws {
        try await RunScene.run { scene in
            var runs = [try await scene.queue(job())]
            runs.append(try await scene.queue(job(), isForced: true))
            for _ in 0..<2 { runs.append(try await scene.queue(job("many") { $0.overlap = .allow })) }
            for run in runs { try await scene.run(run) { $0.state == .running } }
            try scene.open("go")
            for run in runs { #expect(try await scene.end(of: run).state == .completed) }
        }
    }

    @Test func `are never more of one key than it allows`() async throws {
        try await RunScene.run { scene in
            let command =
                "mkdir $BELFRY_RUN_ID; ls | wc -l >> ../counts; echo done; rmdir $BELFRY_RUN_ID"
            var runs: [RunRecord] = []
            for number in 0..<9 {
                let spec = JobSpec.manual("n\(number)", command).with {
                    $0.concurrency = ConcurrencyKey(key: "disk", max: 2)
                }
                runs.append(try await scene.queue(spec))
            }
            for run in runs { #expect(try await scene.end(of: run).state == .completed) }
            let counts = try scene.lines(of: "counts").compactMap { Int($0) }
            #expect(counts.count == 9 && counts.allSatisfy { $0 <= 2 })
        }
    }

    @Test func `show what they wait for`() async throws {
        try await RunScene.run(limits: RunLimits(running: 2)) { scene in
            func key(_ name: String) -> JobSpec { job(name) { $0.concurrency = ConcurrencyKey(key: "disk") } }
            let first = try await scene.queue(key("a"))
            try await scene.run(first) { $0.state == .running }
            let second = try await scene.queue(key("b"))
            #expect(try await scene.end(of: scene.queue("true")).state == .completed)
            #expect(await scene.keeper.wait(of: second.id)?.kind == .concurrency)
            let third = try await scene.queue(job("c"))
            try await scene.run(third) { $0.state == .running }
            let fourth = try await scene.queue(job("d"))
            // It is looked at before a later one is.
            let fifth = try await scene.queue(job("e"))
            try await scene.keeper.cancel(fifth.id)
            _ = try await scene.end(of: fifth)
            while await scene.keeper.wait(of: fourth.id) == nil { await Task.yield() }
            #expect(await scene.keeper.wait(of: fourth.id)?.kind == .cap)
            #expect(await scene.keeper.wait(of: first.id) == nil)
            try scene.open("go")
            for run in [first, second, third, fourth] { _ = try await scene.end(of: run) }
        }
    }

    @Test func `hold nobody up, however many wait for their own`() async throws {
        try await RunScene.run(limits: RunLimits(running: 4)) { scene in
            var runs: [RunRecord] = []
            for _ in 0..<400 { runs.append(try await scene.queue(job())) }
            try await scene.run(runs[0]) { $0.state == .running }
            for number in 0..<5 {
                let other = try await scene.end(of: scene.queue(.manual("other\(number)")))
                #expect(other.state == .completed)
            }
            #expect(try scene.lines(of: "began") == [runs[0].id])
            for run in runs[1...] { try await scene.keeper.cancel(run.id) }
            try scene.open("go")
            #expect(try await scene.end(of: runs[0]).state == .completed)
            try await scene.settled()
            #expect(!scene.census.isBusy("job"))
        }
    }
}
