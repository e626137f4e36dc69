import TestSupport
import Testing

/// The keys that scripts rely on, as the contract lists them; more may come, none may go.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `the JSON of` {
    @Test func `status holds what the contract names`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              job: { schedule: "0 0 * * *", command: ["true"] }
            """)
        try await belfry.logged("channel unavailable")
        try await belfry.until {
            try await belfry.json("status")["channels"].list.first?["state"].text == "away"
        }
        // Until its warden has answered.
        #expect(try await belfry.run("status", "--wait", "1m").code == 0)
        let status = try await belfry.json("status")
        let keys: Set = [
            "version", "pid", "since", "config", "state", "warden", "jobs", "running", "queued", "nextAt",
            "nextJob", "outbox", "channels", "problems",
        ]
        #expect(status.keys.isSuperset(of: keys))
        #expect(status["warden"].keys == ["directory", "pid", "runs"])
        #expect(status["outbox"].keys == ["pending", "dead"])
        #expect(status["config"].text == belfry.configPath)
        #expect(status["state"].text == belfry.statePath)
        #expect(status["nextJob"].text == "job")
        // The channel has no bus: known by its state, its error, and a problem with a hint.
        let channel = try #require(status["channels"].list.first)
        #expect(channel.keys.isSuperset(of: ["name", "kind", "state", "since", "lastError"]))
        #expect(channel["state"].text == "away")
        #expect(status["problems"].list.contains { $0.keys == ["kind", "message", "hint", "severity"] })
        #expect(try await belfry.run("status").code == 0)
        // A machine without a desktop is a warning.
        #expect(try await belfry.run("doctor").code == 0)
        #expect(try await belfry.run("doctor", "--json").json().list.count >= status["problems"].list.count)
    }

    @Test func `jobs, runs and live states hold what the contract names`() async throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let belfry = try Belfry(
            """
            jobs:
              job:
                schedule: { cron: "0 0 * * *", zone: Europe/Berlin }
                env: { GATE: \(gate.path) }
                shell: 'systemd-notify X_PROGRESS=1/2; read line < "$GATE"; exit 2'
            """, in: folder)
        try await belfry.start()
        let watch = try belfry.feed("watch")
        try await belfry.run("run", "job")
        let live = try await watch.next { $0["progress"].number == 0.5 && $0["state"].text == "running" }
        let liveKeys: Set = [
            "taskId", "botId", "run", "attempt", "taskName", "botName", "progress", "status", "state",
            "startedAt", "updatedAt", "stale", "seq",
        ]
        #expect(live.keys.isSuperset(of: liveKeys))
        let running = try await belfry.json("run", "show", "job#1")
        #expect(running["live"].keys.isSuperset(of: liveKeys))
        #expect(running["live"]["taskId"] == running["id"])
        try gate.open()
        _ = try await watch.next { $0["state"].text == "failed" }

        let run = try await belfry.json("run", "show", "job#1")
        let runKeys: Set = [
            "id", "name", "job", "bot", "kind", "cause", "state", "reason", "attempt", "attempts", "queuedAt",
            "startedAt", "endedAt", "exitCode", "queueDelayMs", "live", "outputBytes", "cpuMs",
        ]
        #expect(run.keys.isSuperset(of: runKeys))
        #expect(
            run["attempts"].list.first?.keys == ["n", "state", "reason", "startedAt", "endedAt", "exitCode"])
        // Absent is what is not known; nothing is made up.
        for key in ["slot", "signal", "latenessMs", "retryOf", "notBefore"] { #expect(run[key] == nil) }
        #expect(try #require(run["id"].text).count == 36)

        let job = try await belfry.json("job", "show", "job")
        let jobKeys: Set = [
            "name", "origin", "at", "bot", "kind", "schedule", "paused", "revision", "nextAt", "lastRun",
            "policies",
        ]
        #expect(job.keys.isSuperset(of: jobKeys))
        #expect(job["schedule"].keys == ["kind", "text", "zone", "words"])
        #expect(job["paused"] == .null)
        #expect(job["lastRun"]["name"].text == "job#1")
    }

    @Test func `talk and delivery hold what the contract names`() async throws {
        let hook = try await Belfry.receiver()
        let belfry = try await Belfry.start(hook: hook)
        let said = try await belfry.json("notify", "hello", "--urgency", "critical")
        #expect(said.keys.isSuperset(of: ["id", "bot", "thread", "from", "text", "at", "read", "pinned"]))
        let webhook = try await hook.webhook()
        #expect(webhook.body.keys == ["type", "timestamp", "data"])
        #expect(webhook.data.keys == ["reason", "item"])
        let itemKeys: Set = [
            "key", "kind", "bot", "thread", "count", "last", "urgency", "reason", "revision",
        ]
        #expect(webhook.data["item"].keys.isSuperset(of: itemKeys))
        let entry = try #require(try await belfry.json("outbox").list.first)
        let entryKeys: Set = ["id", "channel", "type", "reason", "state", "attempts", "createdAt", "item"]
        #expect(entry.keys.isSuperset(of: entryKeys))
        #expect(entry["id"].text == webhook.id)
    }
}
