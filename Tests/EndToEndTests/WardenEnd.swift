import Glibc
import TestSupport
import Testing

/// What happens to runs when the process that holds them is killed.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a killed warden` {
    @Test(arguments: [false, true])
    func `loses its run, which is reported once, and is followed by another`(withDaemon: Bool) async throws {
        let folder = try TemporaryFolder()
        let (gate, sign) = (try Gate(in: folder), try Gate("sign", in: folder))
        let hook = try await Belfry.receiver()
        let belfry = try Belfry(
            """
            jobs:
              long:
                schedule: manual
                env: { GATE: \(gate.path), SIGN: \(sign.path) }
                shell: 'echo > "$SIGN"; read line < "$GATE"'
              short: { schedule: manual, command: ["true"] }
            """, hook: hook, in: folder)
        try await belfry.start()
        let events = try belfry.events()
        try await belfry.run("run", "long")
        try await sign.passed()
        _ = try await events.event("run.started", of: "long")
        let warden = try #require(try await belfry.json("status")["warden"]["pid"].integer)
        Glibc.kill(Int32(warden), SIGKILL)
        if withDaemon { try await belfry.restart() }
        // The job itself lives; how it ends nobody can say.
        try gate.open()
        #expect(try await events.event("run.lost")["reason"].text == "wardenLost")
        #expect(try await belfry.run("run", "short", "--follow").code == 0)
        let run = try await belfry.json("run", "show", "long#1")
        #expect(run["state"].text == "lost")
        #expect(run["exitCode"] == nil)
        #expect(try await belfry.json("status")["warden"]["pid"].integer != warden)
        // What happened to two runs comes in any order.
        var missing: Set = ["long#1 run.lost", "short#1 run.completed"]
        let webhooks = try await hook.webhooks {
            missing.remove("\($0.data["run"]["name"].text ?? "") \($0.type)")
            return missing.isEmpty
        }
        #expect(Set(webhooks.filter { $0.type == "run.lost" }.map(\.id)).count == 1)
    }
}
