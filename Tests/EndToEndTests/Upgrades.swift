import Glibc
import Host
import TestSupport
import Testing

/// From an older build of the three programs to this one; `.ci/upgrade` makes that build and names its folder.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: Machine.environment["BELFRY_OLDER"] != nil, "no older build: see .ci/upgrade"))
struct `an upgrade` {
    private static let older = Machine.environment["BELFRY_OLDER"] ?? ""

    private func daemon(_ folder: TemporaryFolder, _ gate: Gate) throws -> Belfry {
        try Belfry(
            """
            jobs:
              long:
                schedule: manual
                env: { GATE: \(gate.path) }
                shell: 'systemd-notify X_PROGRESS=1/4; read line < "$GATE"; echo done; exit 7'
              endless: { schedule: manual, command: [sleep, "1000"] }
              short: { schedule: manual, command: ["true"] }
            """, in: folder)
    }

    @Test func `ends no run, and both wardens serve until the older one's have ended`() async throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let belfry = try daemon(folder, gate)
        try await belfry.start(program: Self.older + "/belfryd")
        let events = try belfry.events()
        for job in ["long", "endless"] {
            try await belfry.run("run", job)
            _ = try await events.event("run.started", of: job)
        }
        let warden = try #require(try await belfry.json("status")["warden"]["pid"].integer)
        let entry = try #require(ProcessTable.entry(Int32(warden)))
        let first = try ProcessHandle(pid: entry.pid, startTime: entry.startTime)
        try await belfry.stop()

        try await belfry.start()
        #expect(try await belfry.json("run", "show", "long#1")["state"].text == "running")
        #expect(try await belfry.run("run", "short", "--follow").code == 0)
        #expect(try await belfry.run("run", "cancel", "endless#1").code == 0)
        _ = try await belfry.events().event("run.canceled", of: "endless")
        try gate.open()
        let ended = try await belfry.events().event("run.failed", of: "long")
        #expect(ended["run"].text != nil)
        let run = try await belfry.json("run", "show", "long#1")
        #expect(run["exitCode"].integer == 7 && run["attempts"].list.count == 1)
        #expect(try await belfry.run("run", "logs", "long#1").text == "done\n")
        #expect(await Shell.waitForEnd(of: first))
        #expect(try await belfry.run("run", "short", "--follow").code == 0)
        #expect(try await belfry.json("status")["warden"]["pid"].integer != warden)
    }

    @Test func `finds every run in the history`() async throws {
        let folder = try TemporaryFolder()
        let belfry = try daemon(folder, try Gate(in: folder))
        try await belfry.start(program: Self.older + "/belfryd")
        for _ in 0..<5 { #expect(try await belfry.run("run", "short", "--follow").code == 0) }
        let before = try await belfry.json("runs").list.compactMap { $0["id"].text }
        try await belfry.kill()
        try await belfry.start()
        #expect(
            try await belfry.json("runs").list.compactMap { $0["id"].text } == before && before.count == 5)
    }
}
