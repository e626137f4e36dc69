import API
import Ledger
import TestSupport
import Timeline
import Tracking

/// Values with every field set.
enum Samples {
    static let noon = Timestamp(Moment(seconds: 1_774_746_000))

    static var run: WireRun {
        var run = WireRun(job: "backup", state: .failed, reason: .exitCode)
        run.id = "0199c2b0-0000-7000-8000-000000000001"
        run.name = "backup#7"
        run.bot = "ops"
        run.kind = "scheduled"
        run.cause = "slot:0:1"
        run.slot = noon
        run.attempt = 2
        run.attempts = [attempt]
        run.retryOf = "backup#6"
        run.notBefore = noon
        run.queuedAt = noon
        run.startedAt = noon
        run.endedAt = noon
        run.exitCode = 3
        run.signal = 9
        run.latenessMs = 4
        run.queueDelayMs = 5
        run.live = live
        run.outputBytes = 6
        run.cpuMs = 7
        run.maxRssKb = 8
        run.survivors = [WireSurvivor(pid: 4711, name: "tail")]
        return run
    }

    static var attempt: WireAttempt {
        var attempt = WireAttempt(n: 1, state: .failed, reason: .exitCode)
        attempt.startedAt = noon
        attempt.endedAt = noon
        attempt.exitCode = 3
        attempt.signal = 9
        return attempt
    }

    static var liveState: LiveState {
        let task = LiveTask(id: "id", botID: "ops", run: "backup#7", name: "backup", botName: "Ops")
        var live = LiveState(task: task, attempt: 2, seq: 9, state: .blocked, updatedAt: noon.moment)
        live.blockedKind = .question
        live.progress = 0.42
        live.phase = "pack"
        live.message = "packing"
        live.startedAt = noon.moment
        live.finish = FinishTime(
            at: noon.moment + .seconds(180), low: noon.moment + .seconds(150),
            high: noon.moment + .seconds(200))
        live.staleAt = noon.moment + .seconds(60)
        return live
    }

    static var live: WireLive { WireLive(liveState, at: noon.moment) }

    static var policies: WirePolicies {
        var spec = JobSpec(
            name: "backup", action: .shell("true"),
            schedule: ScheduleSpec(kind: .manual, text: "", zone: "UTC"))
        spec.timeout = .seconds(7200)
        spec.concurrency = ConcurrencyKey(key: "disk", max: 2)
        (spec.rules.umask, spec.rules.input, spec.rules.limits) = (0o27, .file("/etc/hosts"), [.cpu: 60])
        return WirePolicies(JobFields.standard.policies(of: spec))
    }

    static var job: WireJob {
        var job = WireJob(
            name: "backup", origin: "file", bot: "ops", kind: "command",
            schedule: WireSchedule(
                kind: "cron", text: "30 2 * * *", zone: "Europe/Berlin", words: "at 02:30"),
            revision: 3,
            policies: policies)
        job.at = "/etc/belfry/belfry.yaml:12"
        job.paused = .since(noon, note: "holiday")
        job.nextAt = noon
        job.lastRun = run
        job.command = ["restic", "backup"]
        job.shell = "restic backup"
        job.cwd = "/home"
        job.env = ["A"]
        return job
    }

    static var message: WireMessage {
        var message = WireMessage(id: "m1", bot: "ops", thread: "main", from: "bot", text: "hi", at: noon)
        message.run = "backup#7"
        return message
    }

    static var item: WireItem {
        var item = WireItem(key: "thread:ops/main", kind: "thread", urgency: "normal", revision: 2)
        item.bot = "ops"
        item.thread = "main"
        item.job = "backup"
        item.last = [message]
        item.reason = "newMessages"
        return item
    }

    static var entry: WireOutboxEntry {
        var entry = WireOutboxEntry(
            id: "e1", channel: "hook", type: "run.failed", reason: "failed", state: "pending",
            createdAt: noon)
        entry.nextAt = noon
        entry.lastError = "status 500"
        entry.waitsFor = "channelFailing"
        entry.channelError = "status 500"
        entry.status = 500
        entry.settledAt = noon
        entry.run = "id"
        entry.item = "job:backup"
        return entry
    }

    static var channel: WireChannel {
        var channel = WireChannel(name: "hook", kind: "webhook", state: "failing")
        channel.since = noon
        channel.lastError = "status 500"
        return channel
    }

    static var status: WireStatus {
        var status = WireStatus(version: "0.1.0", pid: 7, since: noon, config: "/c", state: "/s")
        status.uptimeMs = 90_000
        status.warden = WireWarden(pid: 8, runs: 1)
        status.nextAt = noon
        status.nextJob = "backup"
        status.tzdata = "2025b"
        status.channels = [channel]
        status.problems = [WireProblem(kind: "noRoute", message: "no route", hint: "Add one.")]
        return status
    }
}

/// The names in a JSON object, whatever their values are.
struct JSONKeys: Decodable {
    var names: Set<String>

    /// The names in the JSON object that `value` is encoded as.
    static func of(_ value: some Encodable) throws -> Set<String> {
        try WireCoding.decode(JSONKeys.self, from: WireCoding.encode(value)).names
    }

    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        names = Set(try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue))
    }
}

extension SeededGenerator {
    /// `count` bytes; every third time of a few that mean something to a parser of HTTP.
    mutating func bytes(_ count: Int) -> [UInt8] {
        let likely = Array("\r\n: \0{}\"01aGETHTTP/1.\u{e9}".utf8)
        return (0..<count).map { _ in
            let word = next()
            return word % 3 == 0
                ? likely[Int(word >> 8) % likely.count] : UInt8(truncatingIfNeeded: word >> 16)
        }
    }
}
