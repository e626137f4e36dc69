import TestSupport
import Testing
import Timeline

/// From a cron expression to the desktop and to a receiver of webhooks.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `the main line` {
    @Test func `fires a job on its seconds, never early, every slot once`() async throws {
        let belfry = try await Belfry.start(
            """
            jobs:
              tick: { schedule: { cron: "*/2 * * * * *" }, shell: "echo $BELFRY_SLOT" }
            """)
        let events = try belfry.events()
        _ = try await events.next(3) { $0["type"].text == "run.completed" }
        try await belfry.run("job", "pause", "tick")
        let history = try await belfry.json("job", "history", "tick", "--limit", "1000").list
        let rows = history.filter { $0["id"] != nil }
        #expect(rows.count >= 3)
        for row in rows {
            let slot = try moment(row["slot"])
            #expect(slot.microseconds % 2_000_000 == 0)
            let queued = try moment(row["queuedAt"])
            #expect(queued >= slot)
            // The newest one may not have been started yet.
            if row["startedAt"].text != nil { #expect(try moment(row["startedAt"]) >= queued) }
            #expect(row["latenessMs"].integer == Int((queued - slot).microseconds / 1000))
            #expect(row["kind"].text == "scheduled")
        }
        // Newest first, two seconds apart; on a busy machine some were skipped.
        let spans = try history.map { row in
            let first = try moment(row["slot"])
            return (first: first, last: try row["lastSlot"] == nil ? first : moment(row["lastSlot"]))
        }.sorted { $0.first > $1.first }
        for (newer, older) in zip(spans, spans.dropFirst()) {
            #expect(newer.first - older.last == .seconds(2))
        }

        let ended = try #require(rows.first { $0["state"].text == "completed" })
        let name = try #require(ended["name"].text)
        let printed = try await belfry.run("run", "logs", name)
        #expect(try Moment(iso8601: printed.lines.first ?? "") == moment(ended["slot"]))
    }

    @Test func `skips slots while the job is still at it, and reports it`() async throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let belfry = try Belfry(
            """
            jobs:
              long: { schedule: "* * * * * *", env: { GATE: \(gate.path) }, shell: 'read line < "$GATE"' }
            """, in: folder)
        try await belfry.start()
        let events = try belfry.events()
        // On a busy machine some slots may be due together at first, of which the newest runs.
        _ = try await events.next { $0["type"].text == "run.skipped" && $0["reason"].text == "overlap" }
        try gate.open()
        _ = try await events.event("run.completed", of: "long")
        let rows = try await belfry.json("job", "history", "long").list
        let overlap = try #require(rows.last { $0["reason"].text == "overlap" })
        #expect(overlap["state"].text == "skipped")
        #expect(try #require(overlap["count"].integer) >= 1)
        // What is skipped begins a second after the run that was in the way.
        let run = try #require(rows.last { $0["name"].text == "long#1" })
        let slot = try moment(run["slot"])
        let next = try rows.filter { $0["state"].text == "skipped" }.map { try moment($0["slot"]) }
            .filter { $0 > slot }.min()
        #expect(try #require(next) - slot == .seconds(1))
    }

    @Test func `shows progress as it rises, however the job reports it`() async throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let belfry = try Belfry(
            """
            jobs:
              climb:
                schedule: manual
                env: { GATE: \(gate.path) }
                shell: |
                  for n in 1 2 3 4; do echo "packed $n/16"; done; read line < "$GATE"
                  systemd-notify --status="half way" X_PROGRESS=2/4; read line < "$GATE"
                  echo '{"progress":0.75}' >&"$PROGRESS_FD"; read line < "$GATE"
            """, in: folder)
        try await belfry.start()
        let watch = try belfry.feed("watch")
        try await belfry.run("run", "climb")
        var seen: [Double] = []
        for expected in [0.25, 0.5, 0.75] {
            let live = try await watch.next { $0["progress"].number == expected }
            seen.append(expected)
            #expect(live["run"].text == "climb#1")
            #expect(live["status"].text == "running")
            if expected == 0.5 { #expect(live["message"].text == "half way") }
            try gate.open()
        }
        let end = try await watch.next { $0["state"].text == "completed" }
        #expect(end["status"].text == "completed")
        #expect(end["progress"].number == 1)
        let run = try await belfry.json("run", "show", "climb#1")
        #expect(run["state"].text == "completed")
        #expect(run["exitCode"].integer == 0)
    }

    @Test func `makes one item and one webhook of five messages`() async throws {
        let bus = try await PrivateBus.start()
        let server = try await NotificationServer.start(at: bus.address)
        let hook = try await Belfry.receiver()
        // The wait is long enough for a slow machine to say all five.
        let belfry = try await Belfry.start(
            "bots: { gossip: { notifications: { wait: 30s } } }", bus: bus, hook: hook)
        for number in 1...5 {
            #expect(try await belfry.run("notify", "line \(number)", "--bot", "gossip").code == 0)
        }
        let shown = try #require(try await server.next())
        #expect(shown.replacesID == 0)
        for number in 3...5 { #expect(shown.body.contains("line \(number)")) }
        for number in 1...2 { #expect(!shown.body.contains("line \(number)")) }
        #expect((shown.summary + shown.body).contains("5"))

        let first = try await hook.webhook()
        #expect(first.type == "message.group")
        #expect(first.isVerified)
        #expect(first.data["item"]["count"].integer == 5)
        let last = first.data["item"]["last"].list.map { $0["text"].text }
        #expect(last == ["line 3", "line 4", "line 5"])

        // Nothing else came before what is said next.
        try await belfry.run("notify", "done", "--bot", "belfry", "--urgency", "critical")
        #expect(try await server.next()?.body.contains("done") == true)
        let next = try await hook.webhook()
        #expect(next.data["item"]["last"].list.map { $0["text"].text } == ["done"])
        #expect(next.id != first.id)
    }

    @Test func `reports a failure, the recovery, and nothing twice`() async throws {
        let hook = try await Belfry.receiver()
        let belfry = try await Belfry.start(
            """
            jobs:
              moody:
                schedule: manual
                shell: if [ -e ~/fixed ]; then echo fine; else echo broken >&2; exit 3; fi
            """, hook: hook)
        #expect(try await belfry.run("run", "moody", "--follow").code == 3)
        #expect(try await belfry.run("run", "moody", "--follow").code == 3)
        try belfry.write("", to: "fixed")
        #expect(try await belfry.run("run", "moody", "--follow").code == 0)
        let webhooks = try await hook.webhooks { $0.type == "run.recovered" }
        #expect(webhooks.allSatisfy { $0.isVerified })
        #expect(Set(webhooks.map(\.id)).count == webhooks.count)
        // A run that lasts on a busy machine shows its progress, too.
        let types = webhooks.filter { $0.type != "run.progress" }.map {
            "\($0.type) \($0.data["run"]["name"].text ?? "")"
        }
        #expect(
            Set(types) == [
                "run.started moody#1", "run.failed moody#1", "run.started moody#2", "run.failed moody#2",
                "run.started moody#3", "run.completed moody#3", "run.recovered moody#3",
            ])
        #expect(types.count == 7)
        let failure = try #require(webhooks.first { $0.type == "run.failed" })
        #expect(failure.data["reason"].text == "exitCode")
        #expect(failure.data["run"]["exitCode"].integer == 3)
    }

    @Test func `repeats a refused webhook with the same id`() async throws {
        let hook = try await Belfry.receiver("--status-plan", "503,204", "--plan-by-id")
        let belfry = try await Belfry.start(
            """
            jobs:
              job: { schedule: manual, command: ["true"] }
            """, hook: hook)
        try await belfry.run("run", "job", "--follow")
        var attempts: [String: [Int?]] = [:]
        while attempts.count < 2 || attempts.values.contains(where: { $0.last != 204 }) {
            let webhook = try await hook.webhook()
            #expect(webhook.isVerified)
            attempts[webhook.id, default: []].append(webhook.record.status)
        }
        #expect(attempts.values.allSatisfy { $0 == [503, 204] })
        // The receipt is written after the answer; a command of its own sees it.
        let ids = Set(try await belfry.json("outbox").list.compactMap { $0["id"].text })
        #expect(ids == Set(attempts.keys))
    }
}

/// The moment that a JSON text names.
func moment(_ json: JSON?) throws -> Moment {
    try Moment(iso8601: try #require(json.text))
}
