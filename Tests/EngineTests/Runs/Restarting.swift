import Delivery
import Engine
import Glibc
import Host
import Ledger
import LedgerSQLite
import Performing
import TestSupport
import Testing
import Timeline
import Tracking
import WardenProtocol

@Suite(.timeLimit(.minutes(5))) struct `a run that outlives the daemon` {
    @Test func `is adopted, continues, and ends once`() async throws {
        let home = try WardenHome()
        var seen: (run: RunRecord, live: LiveState)?
        try await RunScene.run(in: home) { scene in
            try scene.makePipe("go")
            let queued = try await scene.queue("systemd-notify X_PROGRESS=2/10; read line < ../go; exit 4")
            let live = try await scene.live(queued) { $0.progress == 0.2 }
            seen = (try await scene.run(queued) { $0.state == .running }, live)
        }
        let (before, last) = try #require(seen)
        try await RunScene.run(in: home, incarnation: 2) { scene in
            #expect(scene.census.isBusy(before.job))
            let live = try await scene.live(before) { $0.state == .running }
            #expect(live.progress == 0.2 && live.seq > last.seq)
            try await scene.write("go")
            let ended = try await scene.end(of: before)
            #expect(ended.state == .failed && ended.exitCode == 4 && ended.startedAt == before.startedAt)
            #expect(try await scene.eventTypes(of: before) == [.runStarted, .runFailed])
            try await scene.settled()
            #expect(!scene.census.isBusy(before.job))
        }
    }

    @Test func `shows no text once a file of its secrets has changed`() async throws {
        let home = try WardenHome()
        let token = home.folder.file("token")
        try SmallFile.replace(token, with: Array("hunter2\n".utf8))
        var seen: RunRecord?
        try await RunScene.run(in: home) { scene in
            try scene.makePipe("go")
            var spec = JobSpec.manual("leak", "read line < ../go; echo \"error: $TOKEN\"; exit 3")
            spec.secretFiles = ["TOKEN": token]
            let queued = try await scene.queue(spec)
            seen = try await scene.run(queued) { $0.state == .running }
        }
        try SmallFile.replace(token, with: Array("another\n".utf8))
        let before = try #require(seen)
        try await RunScene.run(in: home, incarnation: 2) { scene in
            try await scene.write("go")
            let ended = try await scene.end(of: before)
            #expect(ended.exitCode == 3 && ended.outputTail == nil)
            #expect(try await scene.events(of: ended).last?.message?.contains("hunter2") != true)
        }
    }

    @Test func `and ends while no daemon runs is reported by the next one`() async throws {
        let home = try WardenHome()
        var runs: [RunRecord] = []
        try await RunScene.run(in: home) { scene in
            for number in 0..<3 {
                try scene.makePipe("go\(number)")
                runs.append(
                    try await scene.queue("read line < ../go\(number); echo $BELFRY_RUN_ID >> ../ran"))
            }
            for run in runs { try await scene.run(run) { $0.state == .running } }
        }
        for number in 0..<3 { try await home.release("go\(number)") }
        try await home.waitForLines(3, in: "ran")
        try await RunScene.run(in: home, incarnation: 2) { scene in
            for run in runs {
                let ended = try await scene.end(of: run)
                #expect(ended.state == .completed)
                #expect(try await scene.eventTypes(of: run) == [.runStarted, .runCompleted])
            }
        }
        #expect(try home.lines(of: "ran").sorted() == runs.map(\.id).sorted())
    }

    @Test func `and has ended is recorded before it is said that the rows are true`() async throws {
        let home = try WardenHome()
        var runs: [RunRecord] = []
        try await RunScene.run(in: home) { scene in
            for name in ["go", "stay"] { try scene.makePipe(name) }
            for name in ["go", "stay"] {
                let queued = try await scene.queue("read line < ../\(name)")
                runs.append(try await scene.run(queued) { $0.state == .running })
            }
        }
        try await home.release("go")
        let pid = try #require(runs[0].process?.pid)
        // Collected by its warden, that is: until then somebody has this id.
        try #require(
            try await Shell.run("while kill -0 \(pid); do sleep 0.01; done", in: home.folder.path) == 0)
        let (news, newsEnd) = AsyncStream<Never>.makeStream()
        try await RunScene.run(in: home, incarnation: 2, news: newsEnd) { scene in
            for await _ in news {}
            let states = try await scene.ledger.runs(ids: Set(runs.map(\.id))).map(\.state)
            #expect(states.filter { $0.isEnded } == [.completed] && states.contains(.running))
            #expect(!scene.census.isBusy(runs[0].job) && scene.census.isBusy(runs[1].job))
            try await scene.write("stay")
            #expect(try await scene.end(of: runs[1]).state == .completed)
        }
    }

    @Test func `while it waits for a person still waits afterwards`() async throws {
        let home = try WardenHome()
        var run: RunRecord?
        try await RunScene.run(in: home) { scene in
            try scene.makePipe("go")
            let queued = try await scene.queue("systemd-notify X_STATE=blocked; read line < ../go")
            run = try await scene.run(queued) { $0.state == .blocked }
        }
        let before = try #require(run)
        try await RunScene.run(in: home, incarnation: 2) { scene in
            // The warden has reported it once its next run has started.
            #expect(try await scene.end(of: scene.queue("true")).state == .completed)
            #expect(await scene.board.state(of: before.id)?.state == .blocked)
            #expect(try await scene.ledger.run(id: before.id)?.state == .blocked)
            try await scene.write("go")
            #expect(try await scene.end(of: before).state == .completed)
            #expect(try await scene.eventTypes(of: before) == [.runStarted, .runBlocked, .runCompleted])
        }
    }

    @Test func `was claimed, and never reached the warden, is started by the next daemon`() async throws {
        let home = try WardenHome()
        var run: RunRecord?
        // No warden is there and none is started: what the keeper would have claimed is written by hand, as a
        // daemon killed between the commit and the order leaves it.
        try await RunScene.run(in: home, launches: false) { scene in
            let queued = try await scene.queue("echo here >> ../ran")
            var move = RunMove(run: queued.id, from: [.queued], attempt: 1, to: .starting)
            move.process = ProcessMark(pid: 0, startTime: 0, boot: try scene.boot())
            try await scene.ledger.commit([.moveRun(move)])
            run = queued
        }
        let claimed = try #require(run)
        try await RunScene.run(in: home, incarnation: 2) { scene in
            let ended = try await scene.end(of: claimed)
            #expect(ended.state == .completed)
            #expect(try await scene.eventTypes(of: claimed) == [.runStarted, .runCompleted])
        }
        #expect(try home.lines(of: "ran") == ["here"])
    }

    @Test func `of another boot of the machine is lost`() async throws {
        let home = try WardenHome()
        try await RunScene.run(in: home, launches: false) { scene in
            let run = try await scene.queue(.manual("old"), id: "11111111-0000-4000-8000-000000000000")
            var move = RunMove(run: run.id, from: [.queued], attempt: 1, to: .starting)
            move.process = ProcessMark(pid: 5, startTime: 5, boot: "another")
            try await scene.ledger.commit([
                .moveRun(move), .moveRun(RunMove(run: run.id, from: [.starting], attempt: 1, to: .running)),
            ])
        }
        try await RunScene.run(in: home, incarnation: 2) { scene in
            let run = try #require(try await scene.ledger.run(job: "old", ordinal: 1))
            let ended = try await scene.end(of: run)
            #expect(ended.state == .lost && ended.reason == .hostRestarted)
            #expect(try await scene.eventTypes(of: run) == [.runLost])
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a warden that is killed` {
    @Test func `loses its runs, reported once, and the next one starts the next run`() async throws {
        try await RunScene.run { scene in
            let run = try await scene.queue("exec sleep 1000")
            let running = try await scene.run(run) { $0.state == .running }
            let first = try #require(await scene.keeper.wardenProcess)
            kill(first, SIGKILL)
            if let pid = running.process?.pid { kill(-pid, SIGKILL) }
            let ended = try await scene.end(of: run)
            #expect(ended.state == .lost && ended.reason == .wardenLost)
            #expect(try await scene.end(of: scene.queue("true")).state == .completed)
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runLost])
            #expect(await scene.keeper.wardenProcess != first)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a daemon without a warden` {
    @Test func `keeps runs waiting, asks again, and starts them when one is there`() async throws {
        let home = try WardenHome()
        let (news, newsEnd) = AsyncStream<Never>.makeStream()
        try await RunScene.run(in: home, launches: false, news: newsEnd) { scene in
            for await _ in news {}
            let run = try await scene.queue("true")
            let first = scene.clock.now
            #expect(await scene.clock.nextSleeper() > first)
            #expect(await scene.keeper.wardenProcess == nil)
            #expect(try await scene.ledger.run(id: run.id)?.state == .queued)
            // Another client starts one: here it is the daemon of the next moment.
            let other = try WardenClient(directory: home.folder.file("w"))
            home.mind(warden: try await other.connect(launching: home.launch()).pid)
            other.close()
            scene.clock.advance(by: .seconds(10))
            #expect(try await scene.end(of: run).state == .completed)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `a ledger that ends under the keeper of runs` {
    @Test func `ends the keeper instead of being asked for ever`() async throws {
        let home = try WardenHome()
        await #expect(throws: LedgerError.closed) {
            try await RunScene.run(in: home) { scene in
                let run = try await scene.queue("read line < ../go")
                try scene.makePipe("go")
                _ = run
                await scene.ledger.close()
                try await scene.keeper.run()
            }
        }
    }
}
