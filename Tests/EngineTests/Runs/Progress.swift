import Delivery
import Engine
import Ledger
import TestSupport
import Testing
import Timeline
import Tracking

@Suite(.timeLimit(.minutes(5))) struct `what a job says of itself` {
    /// Says something, then waits for the file `go`.
    private func saying(_ words: String) -> String { words + "; read line < ../go" }

    @Test(arguments: [
        "systemd-notify --status=packing X_PROGRESS=3/10 X_PHASE=pack",
        #"echo '{"progress":0.3,"message":"packing","phase":"pack"}' >&$PROGRESS_FD"#,
    ])
    func `reaches the board`(words: String) async throws {
        try await RunScene.run { scene in
            try scene.makePipe("go")
            let run = try await scene.queue(saying(words))
            let live = try await scene.live(run) { $0.progress != nil }
            #expect(live.progress == 0.3 && live.message == "packing" && live.phase == "pack")
            #expect(live.state == .running && live.task.run == run.name)
            try await scene.write("go")
            let ended = try await scene.end(of: run)
            #expect(ended.live?.progress == 1 && ended.live?.state == .completed)
            // Progress is no event.
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runCompleted])
        }
    }

    @Test(arguments: ["printf ' 10%%\\n 20%%\\n 42%%\\n'", "printf 'file 1/50\\rfile 2/50\\rfile 21/50\\r'"])
    func `is read from what it prints`(words: String) async throws {
        try await RunScene.run { scene in
            try scene.makePipe("go")
            let run = try await scene.queue(saying(words))
            let live = try await scene.live(run) { $0.progress != nil }
            #expect(live.progress == 0.42)
            try await scene.write("go")
            _ = try await scene.end(of: run)
        }
    }

    @Test func `just before its end is kept, however fast it came`() async throws {
        try await RunScene.run { scene in
            let run = try await scene.queue(
                """
                n=0
                while [ $n -lt 200 ]; do n=$((n+1)); echo "{\\"message\\":\\"line $n\\"}"; done >&$PROGRESS_FD
                exit 1
                """)
            let ended = try await scene.end(of: run)
            #expect(ended.live?.message == "line 200")
            #expect(ended.live?.state == .failed)
        }
    }

    @Test func `when it waits for a person is a state and an event`() async throws {
        try await RunScene.run { scene in
            try scene.makePipe("go")
            try scene.makePipe("on")
            let run = try await scene.queue(
                "systemd-notify X_STATE=blocked:permission; read line < ../go; systemd-notify X_STATE=working; read line < ../on"
            )
            let blocked = try await scene.run(run) { $0.state == .blocked }
            #expect(blocked.live?.blockedKind == .permission)
            let event = try #require(try await scene.events(of: run).last)
            #expect(event.type == .runBlocked && event.reason == "permission")
            try await scene.write("go")
            try await scene.run(run) { $0.state == .running }
            try await scene.write("on")
            _ = try await scene.end(of: run)
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runBlocked, .runCompleted])
        }
    }

    @Test func `makes its silence count`() async throws {
        try await RunScene.run { scene in
            try scene.makePipe("go")
            try scene.makePipe("on")
            let run = try await scene.queue(
                "for n in 1 2 3 4 5 6; do systemd-notify X_PROGRESS=$n/10; done; read l < ../go; systemd-notify X_PROGRESS=7/10; read l < ../on"
            )
            try await scene.live(run) { $0.progress == 0.6 }
            scene.clock.advance(by: .seconds(3600))
            let stalled = try await scene.run(run) { $0.state == .stalled }
            #expect(stalled.live?.state == .stalled)
            try await scene.write("go")
            try await scene.run(run) { $0.state == .running }
            try await scene.write("on")
            #expect(try await scene.end(of: run).state == .completed)
            // Silence is a state, not yet an event: the alert for it is another's.
            #expect(try await scene.eventTypes(of: run) == [.runStarted, .runCompleted])
        }
    }
}
