import TestSupport
import Testing
import Timeline

/// What kill -9 of the daemon must not harm.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `a killed daemon` {
    @Test func `finds its run again, and what the job reported meanwhile`() async throws {
        let folder = try TemporaryFolder()
        let (gate, sign) = (try Gate(in: folder), try Gate("sign", in: folder))
        let hook = try await Belfry.receiver()
        let belfry = try Belfry(
            """
            jobs:
              long:
                schedule: manual
                env: { GATE: \(gate.path), SIGN: \(sign.path) }
                shell: |
                  systemd-notify X_PROGRESS=1/8; systemd-notify X_PROGRESS=1/4; read line < "$GATE"
                  systemd-notify --status="alone" X_PROGRESS=3/4; echo > "$SIGN"
                  read line < "$GATE"; exit 7
            """, hook: hook, in: folder)
        try await belfry.start()
        let watch = try belfry.feed("watch")
        let follower = try belfry.feed("run", "long", "--follow")
        _ = try await watch.next { $0["progress"].number == 0.25 }
        let before = try await belfry.json("run", "show", "long#1")
        try await belfry.kill()
        try gate.open()
        // systemd-notify has returned with only the warden to read it.
        try await sign.passed()
        try await belfry.start()
        // From here on: the daemon may have been killed before it saved all that it had shown, and first shows what it saved.
        var seen: [Double] = []
        let live = try await watch.next {
            seen += [$0["progress"].number].compactMap(\.self)
            return seen.last == 0.75
        }
        #expect(seen == seen.sorted())
        #expect(live["message"].text == "alone")
        try gate.open()
        #expect(await follower.code() == 7)

        let after = try await belfry.json("run", "show", "long#1")
        #expect(after["id"] == before["id"])
        #expect(after["startedAt"] == before["startedAt"])
        #expect(after["attempt"].integer == 1)
        #expect(after["exitCode"].integer == 7)
        #expect(try await belfry.json("runs").list.count == 1)
        let sent = try await hook.webhooks { $0.type == "run.failed" }
        // A run that lasts on a busy machine shows its progress, too.
        #expect(Set(sent.filter { $0.type != "run.progress" }.map(\.id)).count == 2)
    }

    @Test func `leaves no report behind that it had read and not saved`() async throws {
        let folder = try TemporaryFolder()
        let (gate, go) = (try Gate(in: folder), try Gate("go", in: folder))
        let belfry = try Belfry(
            """
            jobs:
              long:
                schedule: manual
                env: { GATE: \(gate.path), GO: \(go.path) }
                shell: |
                  read line < "$GO"; echo '{"progress": 0.5, "message": "half"}' >&$PROGRESS_FD
                  read line < "$GO"; systemd-notify --status=most X_PROGRESS=3/4
                  read line < "$GATE"
            """, in: folder)
        try await belfry.start()
        try await belfry.run("run", "long")
        _ = try await belfry.events().event("run.started")
        let watch = try belfry.feed("watch")
        let holder = try await LedgerHolder(.writer, of: belfry)
        for progress in [0.5, 0.75] {
            try go.open()
            // The daemon has read it, and nothing of it can be written.
            _ = try await watch.next { $0["progress"].number == progress }
        }
        try await belfry.kill()
        try await holder.release()
        try await belfry.start()
        let live = try await watch.next { $0["progress"].number == 0.75 }
        #expect(live["message"].text == "most")
        try gate.open()
        #expect(try await belfry.ended("long#1")["state"].text == "completed")
    }

    @Test func `never counts a run that ended meanwhile as running`() async throws {
        let folder = try TemporaryFolder()
        let gate = try Gate(in: folder)
        let belfry = try Belfry(
            """
            jobs:
              tick:
                schedule: "* * * * * *"
                env: { GATE: \(gate.path) }
                shell: echo $$ > ~/process; read line < "$GATE"
            """, in: folder)
        try await belfry.start()
        _ = try await belfry.events().next { $0["type"].text == "run.started" }
        // Started is not yet at work.
        try #require(try await Shell.run("until [ -s process ]; do sleep 0.05; done", in: folder.path) == 0)
        try await belfry.kill()
        try gate.open()
        // Its warden has collected it; then slots pass that nobody decides.
        let waiting = """
            while kill -0 $(cat process) 2>/dev/null; do sleep 0.05; done
            end=$(($(date +%s) + 3)); until [ $(date +%s) -ge $end ]; do sleep 0.05; done
            """
        try #require(try await Shell.run(waiting, in: folder.path) == 0)
        try await belfry.start()
        let events = try belfry.events()
        let started = try await events.next(2) { $0["type"].text == "run.started" }
        #expect(Set(started.map { $0["run"] }).count == 2)

        let (first, second) = (
            try await belfry.json("run", "show", "tick#1"), try await belfry.json("run", "show", "tick#2")
        )
        let (end, next) = (try moment(first["endedAt"]), try moment(second["slot"]))
        let history = try await belfry.json("job", "history", "tick", "--limit", "1000").list
        let between = try history.filter { row in
            guard row["count"] != nil else { return false }
            return try end < moment(row["lastSlot"]) && moment(row["slot"]) < next
        }
        #expect(between.map { $0["reason"].text } == ["superseded"])
        try await belfry.run("job", "pause", "tick")
        try gate.open()
    }

    @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
    func `loses and doubles no slot and no notice`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let hook = try await Belfry.receiver()
        let belfry = try Belfry(
            """
            jobs:
              work:
                schedule: "* * * * * *"
                shell: echo "$BELFRY_RUN $BELFRY_SLOT" >> ~/done; head -c 200000 /dev/urandom | sha256sum
            """, hook: hook)
        for _ in 1...8 {
            if Bool.random(using: &random) {
                // Before it is up: somewhere between its lock and its first commits.
                let early = try belfry.launch()
                for _ in 0..<Int.random(in: 0...3, using: &random) { _ = await early.line { _ in true } }
                await early.end()
            }
            try await belfry.start()
            let events = try belfry.feed("events")
            for _ in 0..<Int.random(in: 0...6, using: &random) { _ = try await events.next() }
            try await belfry.kill()
        }
        try await belfry.start()
        let events = try belfry.feed("events")
        _ = try await events.next(2) { $0["type"].text == "run.completed" }
        try await belfry.run("job", "pause", "work")
        let rows = try await settled(belfry)
        let runs = rows.filter { $0["id"] != nil }

        // Every second from the first to the last is a run, or is in a span; once.
        var slots: [Int64] = []
        for row in rows {
            let first = try moment(row["slot"])
            let last = try row["lastSlot"] == nil ? first : moment(row["lastSlot"])
            #expect((last - first).microseconds / 1_000_000 + 1 == Int64(row["count"].integer ?? 1))
            slots += Array(stride(from: first.microseconds, through: last.microseconds, by: 1_000_000))
        }
        slots.sort()
        let grid = try Array(
            stride(from: #require(slots.first), through: #require(slots.last), by: 1_000_000))
        #expect(slots == grid)

        // Every run was started once, and ended well.
        #expect(runs.allSatisfy { $0["state"].text == "completed" })
        let expected = try runs.map { "\($0["name"].text ?? "") \(try moment($0["slot"]).iso8601)" }
        #expect(Set(belfry.lines(of: "done")) == Set(expected))
        #expect(belfry.lines(of: "done").count == expected.count)

        // Every outcome reached the receiver, however often, under one id.
        let ids = Set(runs.compactMap { $0["id"].text })
        var sent: [String: Set<String>] = [:]
        while Set(sent.keys) != ids {
            let webhook = try await hook.webhook { $0.type == "run.completed" }
            #expect(webhook.isVerified)
            sent[webhook.data["run"]["id"].text ?? "", default: []].insert(webhook.id)
        }
        #expect(sent.values.allSatisfy { $0.count == 1 })
    }

    /// What happened to the slots of the paused job `work`, once nothing of it is under way.
    private func settled(_ belfry: Belfry) async throws -> [JSON] {
        func history() async throws -> [JSON] {
            try await belfry.json("job", "history", "work", "--limit", "100000").list
        }
        let underWay = try await history().filter { $0["id"] != nil && $0["endedAt"] == nil }
        var waiting = Set(underWay.map { $0["id"] })
        let events = try belfry.events()
        while !waiting.isEmpty {
            let ends: Set = ["run.completed", "run.failed", "run.lost"]
            waiting.remove(try await events.next { ends.contains($0["type"].text ?? "") }["run"])
        }
        return try await history()
    }
}
