import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `a process that runs already` {
    @Test func `is followed until it ends`() async throws {
        let belfry = try await Belfry.start()
        let other = try ChildProcess("/bin/cat", [], environment: [:])
        let events = try belfry.events()
        let follower = try ChildProcess(
            BuiltProgram.path("belfry"), ["exec", "--attach", "\(other.pid)", "--progress", "plain"],
            environment: belfry.environment)
        _ = try await events.event("run.started", of: "cat")
        #expect(try await belfry.json("run", "show", "cat")["state"].text == "running")
        try other.closeInput()
        #expect(await follower.status() == 0)
        let run = try await belfry.json("run", "show", "cat")
        #expect(run["state"].text == "completed" && run["name"].text == "cat#1")
        let log = try await belfry.run("run", "logs", "cat#1").text
        #expect(log.hasPrefix("following process \(other.pid) (cat)\n"))
    }

    @Test func `completes with exitUnknown when nobody collects it`() async throws {
        let belfry = try await Belfry.start()
        // Its parent never asks how it ended.
        let parent = try ChildProcess(
            "sh", ["-c", "exec 3<&0; cat <&3 >/dev/null & echo $!; exec sleep 1000"])
        let pid = try #require(await parent.line { Int32($0) != nil })
        // A shell would still collect it.
        #expect(
            try await Shell.run("until grep -qx sleep /proc/\(parent.pid)/comm; do sleep 0.01; done") == 0)
        let events = try belfry.events()
        let follower = try ChildProcess(
            BuiltProgram.path("belfry"), ["exec", "--attach", pid, "--name", "copy"],
            environment: belfry.environment)
        _ = try await events.event("run.started", of: "copy")
        let refused = try await belfry.run("run", "pause", "copy")
        #expect(refused.code == 5 && refused.errors.contains("follows a process that it did not start"))
        try parent.closeInput()
        #expect(await follower.status() == 0)
        _ = try await events.event("run.completed", of: "copy")
        let run = try await belfry.json("run", "show", "copy")
        #expect(run["state"].text == "completed" && run["reason"].text == "exitUnknown")
        await parent.end()
    }

    @Test func `must exist, and takes no command beside it`() async throws {
        let belfry = try Belfry()
        // Above what the kernel gives.
        let missing = try await belfry.run("exec", "--attach", "2000000000")
        #expect(missing.code == 2 && missing.errors.contains("no process 2000000000"))
        #expect(try await belfry.run("exec", "--attach", "1", "--", "true").code == 2)
    }
}
