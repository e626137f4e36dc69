import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(1))) struct `what a job prints` {
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

    @Test func `is said to be missing where its end was not kept`() async throws {
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
}
