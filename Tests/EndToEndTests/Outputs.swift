import Foundation
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct `what a job prints` {
    @Test func `comes out byte for byte`() async throws {
        let belfry = try await Belfry.start(
            #"""
            jobs:
              bytes: { schedule: manual, shell: "for n in 0 1 2 3; do printf '\\000\\377\\r\\n\\033[31m\\200'; done" }
            """#)
        #expect(try await belfry.run("run", "bytes", "--follow").code == 0)
        let logs = try await belfry.run("run", "logs", "bytes#1")
        let once: [UInt8] = [0x00, 0xFF, 0x0D, 0x0A, 0x1B, 0x5B, 0x33, 0x31, 0x6D, 0x80]
        #expect(logs.bytes == once + once + once + once)
        #expect(try await belfry.json("run", "show", "bytes#1")["outputBytes"].integer == 40)
        #expect(try await belfry.run("run", "logs", "-f", "bytes#1").bytes == logs.bytes)
    }

    @Test func `is readable while it runs`() async throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let belfry = try Belfry(
            """
            jobs:
              talk:
                schedule: manual
                env: { GATE: \(gate.path) }
                shell: 'for n in 1 2 3; do echo "line $n"; read line < "$GATE"; done'
            """, in: folder)
        try await belfry.start()
        try await belfry.run("run", "talk")
        let reader = try ChildProcess(
            BuiltProgram.path("belfry"), ["run", "logs", "--follow", "talk#1"],
            environment: belfry.environment)
        for number in 1...3 {
            #expect(await reader.line { _ in true } == "line \(number)")
            try gate.open()
        }
        #expect(await reader.line { _ in true } == nil)
        #expect(await reader.status() == 0)
    }

    @Test func `is reported to be missing where its end was not kept`() async throws {
        let belfry = try await Belfry.start(
            "jobs: { short: { schedule: manual, shell: 'echo 0123456789' } }")
        #expect(try await belfry.run("run", "short", "--follow").code == 0)
        // As a full disk leaves it.
        #expect(try await Shell.run("truncate -s 4 '\(belfry.statePath)'/output/short/*") == 0)
        for follow in [[], ["-f"]] {
            let logs = try await belfry.run("belfry", ["run", "logs"] + follow + ["short#1"])
            #expect(logs.code == 0 && logs.lines == ["0123"])
            #expect(logs.errors == "belfry: 7 bytes of the output were not kept\n")
        }
    }

    @Test func `is kept within bounds, its beginning and its end`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              flood:
                schedule: manual
                shell: 'echo first; yes "a line of forty characters, or nearly so" | head -c 20000000; echo last'
            """)
        #expect(try await belfry.run("run", "flood", "--follow").code == 0)
        let run = try await belfry.json("run", "show", "flood#1")
        #expect(run["outputBytes"].integer == 20_000_011)
        let logs = try await belfry.run("run", "logs", "flood#1")
        #expect(logs.code == 0)
        #expect(logs.lines.first == "first")
        #expect(logs.lines.last?.hasSuffix("last") == true)
        #expect(logs.bytes.count < 20_000_011)
        #expect(logs.errors == "belfry: \(20_000_011 - logs.bytes.count) bytes of the output were not kept\n")
    }

    /// Issue 10, 18.
    @Test func `is there of each attempt, and followed from one to the next`() async throws {
        let belfry = try Belfry(
            """
            jobs:
              flaky:
                schedule: manual
                retry: { attempts: 3, backoff: 1s }
                shell: 'read line <gate; echo "attempt $BELFRY_ATTEMPT"; [ "$BELFRY_ATTEMPT" = 3 ]'
                cwd: HERE
            """)
        let path = belfry.configPath
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try belfry.write(text.replacing("HERE", with: belfry.folder.path), to: "belfry.yaml")
        let gate = try Gate(in: belfry.folder)
        try await belfry.start()
        try await belfry.run("run", "flaky")
        let reader = try ChildProcess(
            BuiltProgram.path("belfry"), ["run", "logs", "--follow", "flaky#1"],
            environment: belfry.environment)
        for number in 1...3 {
            try gate.open()
            #expect(await reader.line { _ in true } == "attempt \(number)")
        }
        #expect(await reader.status() == 0)
        for (words, output) in [
            ([], "attempt 3"), (["--attempt", "1"], "attempt 1"), (["-f", "--attempt", "2"], "attempt 2"),
        ] {
            let answer = try await belfry.run("belfry", ["run", "logs", "flaky#1"] + words)
            #expect(answer.code == 0 && answer.lines == [output] && answer.errors.isEmpty, "\(answer)")
        }
        let missing = try await belfry.run("run", "logs", "flaky#1", "--attempt", "4")
        #expect(missing.code == 4)
        #expect(
            missing.errors
                == "belfry: flaky#1 has no attempt 4. It has 3 attempts. See: belfry run show flaky#1\n")
        #expect(try await belfry.run("run", "logs", "flaky#1", "--attempt", "0").code == 2)
    }

    /// Issue 10, 18.
    @Test func `is reported to be removed, or not to be there yet, attempt by attempt`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              still: { schedule: manual, shell: 'echo one; exit 1', retry: { attempts: 2, backoff: 1h } }
              once: { schedule: manual, shell: 'echo one' }
            """)
        let events = try belfry.events()
        try await belfry.run("run", "still")
        let waiting = try await belfry.shell(
            """
            for i in $(seq 600); do belfry run show still#1 | grep -q 'not until' && break; sleep 0.1; done
            belfry run logs still#1
            """)
        #expect(waiting.lines == ["one"], "\(waiting)")
        let early = try await belfry.run("run", "logs", "still#1", "--attempt", "2")
        #expect(early.code == 4 && early.errors == "belfry: attempt 2 of still#1 has not started\n")
        try await belfry.run("run", "cancel", "still#1")
        _ = try await events.event("run.canceled", of: "still")
        let ended = try await belfry.run("run", "logs", "-f", "still#1")
        #expect(ended.code == 0 && ended.lines == ["one"] && ended.errors.isEmpty, "\(ended)")
        #expect(try await Shell.run("rm -r '\(belfry.statePath)'/output/still") == 0)
        let removed = try await belfry.run("run", "logs", "still#1", "--attempt", "1")
        #expect(removed.code == 4, "\(removed)")
        #expect(removed.errors == "belfry: the output of attempt 1 of still#1 is no longer kept\n")
        #expect(try await belfry.run("run", "once", "--follow").code == 0)
        #expect(try await Shell.run("rm -r '\(belfry.statePath)'/output/once") == 0)
        let gone = try await belfry.run("run", "logs", "once#1")
        #expect(gone.code == 4 && gone.errors == "belfry: the output of once#1 is no longer kept\n")
    }
}
