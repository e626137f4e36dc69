import API
import Host
import Testing
import Timeline
import Tracking

/// The names are those of the command line's contract; what the contract lacks is listed as added.
@Suite struct `the JSON of the API` {
    @Test func `has the names of a status`() throws {
        let added: Set<String> = ["tzdata", "uptimeMs"]
        let contract: Set<String> = [
            "version", "pid", "since", "config", "state", "warden", "jobs", "running", "queued", "nextAt",
            "nextJob", "outbox", "channels", "problems",
        ]
        #expect(try JSONKeys.of(Samples.status) == contract.union(added))
        #expect(try JSONKeys.of(Samples.status.outbox) == ["pending", "dead"])
        #expect(try JSONKeys.of(WireWarden(pid: 1, runs: 2)) == ["pid", "runs"])
        #expect(try JSONKeys.of(Samples.channel) == ["name", "kind", "state", "since", "lastError"])
        #expect(try JSONKeys.of(Samples.status.problems[0]) == ["kind", "message", "hint", "severity"])
    }

    @Test func `has the names of a job`() throws {
        let added: Set<String> = ["command", "shell", "cwd", "env"]
        let contract: Set<String> = [
            "name", "origin", "at", "bot", "kind", "schedule", "paused", "revision", "nextAt", "lastRun",
            "policies",
        ]
        #expect(try JSONKeys.of(Samples.job) == contract.union(added))
        #expect(try JSONKeys.of(Samples.job.schedule) == ["kind", "text", "zone", "words"])
        #expect(try JSONKeys.of(Samples.job.paused) == ["since", "note"])
    }

    @Test func `is null for a job that is not paused`() throws {
        var job = Samples.job
        job.paused = .no
        #expect(try WireCoding.text(job).contains("\"paused\":null"))
        #expect(try WireCoding.decode(WireJob.self, from: WireCoding.encode(job)) == job)
    }

    @Test func `has the names of a run and its attempts`() throws {
        #expect(
            try JSONKeys.of(Samples.run) == [
                "id", "name", "job", "bot", "kind", "cause", "slot", "state", "reason", "attempt", "attempts",
                "retryOf", "notBefore", "queuedAt", "startedAt", "endedAt", "exitCode", "signal",
                "latenessMs", "queueDelayMs", "live", "outputBytes", "cpuMs", "maxRssKb", "survivors",
            ])
        #expect(try JSONKeys.of(#require(Samples.run.survivors?.first)) == ["pid", "name"])
        #expect(
            try JSONKeys.of(Samples.attempt) == [
                "n", "state", "reason", "startedAt", "endedAt", "exitCode", "signal",
            ])
    }

    /// A message alone writes itself; one in a list is encoded.
    @Test func `of a message is the same by itself as in a list`() throws {
        var whole = Samples.message
        (whole.title, whole.text) = ("a \"title\"", "line\n\u{1}")
        (whole.read, whole.pinned, whole.sender, whole.replyTo) = (true, true, "sage", "m0")
        (whole.reactions, whole.attachments) = (["ok", "no"], [WireAttachment(name: "a", bytes: 7)])
        whole.order = .ranked
        for part in Mirror(reflecting: whole).children {
            #expect("\(part.value)" != "nil", "\(part.label ?? "") is not tried")
        }
        for message in [Samples.message, whole] {
            #expect(try WireCoding.text([message]) == "[\(WireCoding.text(message))]")
        }
    }

    @Test func `has the names of a span of slots`() throws {
        var span = WireRun(job: "backup", state: .missed, reason: .catchUpWindow)
        span.slot = Samples.noon
        span.lastSlot = Samples.noon
        span.count = 9
        #expect(try JSONKeys.of(span) == ["job", "state", "reason", "slot", "lastSlot", "count"])
    }

    @Test func `has the names of a live state`() throws {
        #expect(
            try JSONKeys.of(Samples.live) == [
                "taskId", "botId", "run", "attempt", "taskName", "botName", "progress", "status", "state",
                "blockedKind", "phase", "message", "timeRemaining", "startedAt", "etaAt", "etaLow", "etaHigh",
                "updatedAt", "staleAt", "stale", "seq",
            ])
        #expect(Samples.live.timeRemaining == 180)
        var usual = Samples.liveState
        usual.usual = .milliseconds(240_400)
        #expect(WireLive(usual, at: Samples.noon.moment).usualSeconds == 240)
        #expect(LiveState(WireLive(usual, at: Samples.noon.moment)).usual == .seconds(240))
        #expect(Samples.live.status == .running)
    }

    @Test func `leaves out what a live state does not know`() throws {
        let task = LiveTask(id: "id", botID: "b", run: "j#1", name: "j", botName: "b")
        let live = LiveState(task: task, attempt: 1, seq: 1, state: .running, updatedAt: Samples.noon.moment)
        #expect(
            try JSONKeys.of(WireLive(live, at: Samples.noon.moment)) == [
                "taskId", "botId", "run", "attempt", "taskName", "botName", "status", "state", "updatedAt",
                "stale", "seq",
            ])
    }

    @Test func `gives the live state back at the other end`() throws {
        let wire = try WireCoding.decode(WireLive.self, from: WireCoding.encode(Samples.live))
        #expect(LiveState(wire) == Samples.liveState)
    }

    @Test func `of a live state falls in no phase for who has seen more`() {
        let (seen, reported) = (Samples.live, Samples.live.keepingProgress(of: nil))
        var less = reported
        less.progress = (seen.progress ?? 0) / 2
        #expect(less.keepingProgress(of: seen).progress == seen.progress)
        #expect(less.keepingProgress(of: nil) == less && seen.keepingProgress(of: less) == seen)
        for other in [\WireLive.phase, \.message] {
            var next = less
            next[keyPath: other] = "next"
            #expect((next.keepingProgress(of: seen) == next) == (other == \.phase))
        }
        var again = less
        again.attempt += 1
        #expect(again.keepingProgress(of: seen) == again)
    }

    @Test func `has the names of messages, items and entries`() throws {
        #expect(
            try JSONKeys.of(Samples.message) == [
                "id", "bot", "thread", "from", "text", "at", "read", "pinned", "run",
            ])
        #expect(
            try JSONKeys.of(Samples.item) == [
                "key", "kind", "bot", "thread", "job", "count", "last", "urgency", "reason", "revision",
            ])
        #expect(
            try JSONKeys.of(Samples.entry) == [
                "id", "channel", "type", "reason", "state", "attempts", "nextAt", "lastError", "status",
                "createdAt", "settledAt", "run", "item", "waitsFor", "channelError",
            ])
    }

    @Test func `writes a job's times with the offset of its zone, and keeps it on the way`() throws {
        let berlin = try ZoneFiles().rules(of: "Europe/Berlin")
        let time = try #require(Timestamp(Samples.noon.moment, in: berlin))
        #expect(time == Samples.noon)
        let text = try WireCoding.text([time])
        #expect(text == "[\"2026-03-29T03:00:00+02:00\"]")
        #expect(try WireCoding.text(WireCoding.decode([Timestamp].self, from: text.utf8)) == text)
    }

    @Test func `writes times as ISO 8601 and reads any offset`() throws {
        #expect(try WireCoding.text([Samples.noon]) == "[\"2026-03-29T01:00:00Z\"]")
        let read = try WireCoding.decode([Timestamp].self, from: "[\"2026-03-29T03:00:00+02:00\"]".utf8)
        #expect(read == [Samples.noon])
        #expect(throws: APIError.self) {
            try WireCoding.decode([Timestamp].self, from: "[\"2026-03-29 morning\"]".utf8)
        }
    }

    @Test func `names the place of what it refuses`() {
        let error = #expect(throws: APIError.self) {
            try WireCoding.decode(ExecRequest.self, from: #"{"command":["a"],"cwd":7,"env":{}}"#.utf8)
        }
        #expect(error?.code == .badJSON)
        #expect(error?.message.contains("\"cwd\"") == true)
    }

    @Test(arguments: [
        ("[1]", "an object is expected"), ("\"a\"", "an object is expected"), ("{", "it is not valid JSON"),
        (String(repeating: "[", count: 70), "it is nested more than 64 levels deep"),
    ])
    func `refuses what is no object with a sentence`(text: String, reason: String) {
        let error = #expect(throws: APIError.self) { try WireCoding.decode(JobDraft.self, from: text.utf8) }
        #expect(error?.message == "the JSON is refused: \(reason)")
    }
}
