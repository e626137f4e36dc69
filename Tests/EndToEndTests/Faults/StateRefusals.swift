import Foundation
import Host
import TestSupport
import Testing

/// What keeps a daemon from its state, at the start and at work.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a state` {
    private let job = """
        jobs:
          job: { schedule: manual, command: ["true"] }
        """

    @Test(.enabled(if: SmallDisk.isAllowed, "this user may not mount"))
    func `that is read-only is refused with a sentence, and left alone`() async throws {
        let belfry = try Belfry(job)
        let disk = try SmallDisk(at: belfry.statePath, kilobytes: 16 * 1024)
        try await belfry.start()
        #expect(try await belfry.run("run", "job", "--follow").code == 0)
        try await belfry.stop()
        Household.end(of: belfry.folder.path)
        try disk.remount("ro")
        let answer = try await belfry.run(
            "belfryd", ["--config", belfry.configPath, "--state", belfry.statePath])
        #expect(answer.code == 1)
        #expect(answer.errors.hasPrefix("belfryd: the state folder \(belfry.statePath) can't be written"))
        #expect(answer.errors.contains("hint: "))
        belfry.set("BELFRY_STATE", belfry.statePath)
        #expect(try await kinds(belfry).contains("readOnlyState"))
        try disk.remount("rw")
        try await belfry.start()
        #expect(try await belfry.json("runs").list.map { $0["name"].text } == ["job#1"])
        try await belfry.stop()
    }

    @Test func `is refused to a process that may open few files`() async throws {
        let belfry = try Belfry(job)
        let answer = try await belfry.run(
            "/usr/bin/prlimit",
            [
                "--nofile=64", try BuiltProgram.path("belfryd"), "--config", belfry.configPath, "--state",
                belfry.statePath,
            ])
        #expect(answer.code == 1)
        #expect(
            answer.errors == """
                belfryd: this process may open only 64 files; it needs 128
                  hint: raise the limit: ulimit -n 1024, or LimitNOFILE=1024 in the unit

                """)
    }

    @Test func `of a process that may open few files is served, whoever connects`() async throws {
        let belfry = try Belfry(job)
        try await belfry.start(through: ["/usr/bin/prlimit", "--nofile=160"])
        // More clients than there are descriptors: those too many are refused, and the rest goes on.
        let crowd = try ChildProcess(
            "python3",
            [
                "-c",
                """
                import socket, sys
                held = []
                for _ in range(300):
                    s = socket.socket(socket.AF_UNIX); s.setblocking(False)
                    try:
                        s.connect(sys.argv[1]); s.send(b"GET /v1/events HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
                    except OSError: pass
                    held.append(s)
                print("held", flush=True)
                sys.stdin.read()
                """, belfry.socketPath,
            ])
        #expect(await crowd.line { $0 == "held" } != nil)
        await crowd.end()
        // It may not have noticed yet that they have left.
        try await belfry.until { try await belfry.run("run", "job", "--follow").code == 0 }
        #expect(try await belfry.stop() == 0)
    }

    @Test func `may open more files than its jobs, which keep the limit it was started with`() async throws {
        let belfry = try Belfry("jobs:\n  limit: { schedule: manual, shell: ulimit -n; ulimit -Hn }")
        try await belfry.start(through: ["/usr/bin/prlimit", "--nofile=300:3000"])
        let pid = try #require(try await belfry.json("status")["pid"].integer)
        let limits = try SmallFile.text("/proc/\(pid)/limits").split(separator: "\n")
        let files = try #require(limits.first { $0.hasPrefix("Max open files") })
        #expect(files.split(separator: " ").dropFirst(3).prefix(2) == ["3000", "3000"])
        #expect(try await belfry.run("run", "limit", "--follow").code == 0)
        #expect(try await belfry.run("run", "logs", "limit#1").text == "300\n3000\n")
        #expect(try await belfry.stop() == 0)
    }

    @Test func `whose ledger another process has open is refused with a sentence`() async throws {
        let belfry = try await Belfry.start(job)
        try await belfry.stop()
        let holder = try await LedgerHolder(.owner, of: belfry)
        let answer = try await belfry.run(
            "belfryd", ["--config", belfry.configPath, "--state", belfry.statePath])
        #expect(answer.code == 1)
        #expect(answer.errors.contains("ledger.sqlite is held by another process; stop it first"))
        try await holder.release()
        try await belfry.start()
        try await belfry.stop()
    }

    @Test func `whose ledger another program locks reports it, and continues afterwards`() async throws {
        let belfry = try await Belfry.start(job)
        let holder = try await LedgerHolder(.writer, of: belfry)
        let refused = try await belfry.run("run", "job")
        #expect(refused.code == 1)
        #expect(refused.errors.contains("held by another process"))
        let problem = try await belfry.json("status")["problems"].list.first
        #expect(problem?["kind"].text == "ledger")
        #expect(try await belfry.run("doctor").code == 1)
        try await holder.release()
        #expect(try await belfry.run("run", "job", "--follow").code == 0)
        #expect(try await belfry.json("status")["problems"].list.allSatisfy { $0["kind"].text != "ledger" })
        try await belfry.stop()
    }

    @Test(.enabled(if: SyncFault.isAvailable, "no C compiler"))
    func `whose disk fails to sync ends the daemon, is never synced again, and is whole afterwards`()
        async throws
    {
        let belfry = try Belfry(job)
        let fault = try SyncFault(in: belfry.folder)
        for (name, value) in fault.environment { belfry.set(name, value) }
        try await belfry.start()
        #expect(try await belfry.run("run", "job", "--follow").code == 0)
        try fault.begin()
        _ = try await belfry.run("run", "job")
        let process = try belfry.process()
        #expect(
            await process.line { $0.hasPrefix("belfryd: a sync of the ledger to the disk failed") } != nil)
        #expect(await process.status() == 1)
        #expect(belfry.lines(of: "syncs").count == 1)
        try fault.end()
        try await belfry.start()
        #expect(try await belfry.run("run", "job", "--follow", "--force").code == 0)
        let states = try await belfry.json("runs").list.map { $0["state"].text }
        #expect(states.count >= 2)
        #expect(states.allSatisfy { $0 == "completed" })
        #expect(try await belfry.stop() == 0)
        let answer = try await belfry.run(
            "belfryd", ["backup", "--check", belfry.statePath + "/ledger.sqlite"])
        #expect(answer.code == 0, "\(answer)")
    }

    private func kinds(_ belfry: Belfry) async throws -> [String] {
        try await belfry.run("doctor", "--json").json().list.compactMap { $0["kind"].text }
    }
}
