import API
import Cron
import Ledger
import OpenClaw
import Timeline
import Tracking

/// Makes jobs of those that an OpenClaw gateway runs by itself, each beside the times at which the gateway runs it.
struct OpenClawImport {
    let start: Moment
    private let bot: String
    private let local = Zones.local
    private var names = CommandNames(taken: JobName.taken)

    /// What of a payload and of a job is taken over, or only matters to the gateway's own scheduler.
    private static let known: Set<String> = [
        "id", "name", "displayName", "description", "enabled", "createdAtMs", "updatedAtMs", "state",
        "schedule", "sessionTarget", "wakeMode", "payload", "delivery", "deleteAfterRun", "configRevision",
        "agentId", "sessionKey", "owner", "declarationKey", "lastRunAtMs", "lastRunStatus", "lastError",
        "nextRunAtMs", "lastDurationMs", "lastDelivered", "lastDeliveryStatus", "lastStatus",
        "consecutiveErrors",
    ]
    private static let knownOfPayloads: Set<String> = ["kind", "message", "text", "timeoutSeconds"]

    /// Jobs of the gateway of `bot`, which is to be asked in their place.
    init(bot: String, start: Moment) { (self.bot, self.start) = (bot, start) }

    /// The job that would run in the place of one of the gateway's.
    mutating func job(_ row: WireGatewayJob) -> ImportedJob {
        let name = JobName.of(program: row.name.split(separator: "/").joined(separator: "-"))
        var job = ImportedJob(
            name: names.name(for: name == "exec" ? "gateway-job" : name), place: "\(bot)'s gateway",
            original: "", zone: local)
        guard let original = GatewayJob(row.whole), original.isKnown else {
            job.original = Self.kinds(row.whole)
            job.refusal = "this version does not know what it is"
            return job
        }
        job.original = Self.text(of: original)
        setTimes(of: &job, original)
        if !original.isEnabled { job.refusal = job.refusal ?? "it is disabled in the gateway" }
        switch original.work {
        case .turn(let message): job.prompt = message
        case .event(let text):
            job.prompt = text
            job.notes.append("its text becomes a prompt; in the gateway it waits for the heartbeat")
        case .other: break
        }
        job.catchUp = "latest"
        if row.whole["payload"]?["timeoutSeconds"] != nil { job.timeout = original.limit }
        noteDifferences(of: &job, original)
        return job
    }

    // MARK: Times

    private func setTimes(of job: inout ImportedJob, _ original: GatewayJob) {
        switch original.times {
        case .at(let moment):
            guard moment > start else { return job.refusal = "its time is in the past" }
            job.schedule = .at(moment)
            job.times = [ImportedJob.Time(moment: moment, isOurs: true, original: 1, note: nil)]
        case .every(let interval, let anchor):
            let begin = anchor ?? original.state.next ?? start
            (job.schedule, job.anchor) = (.every(interval, anchor: begin), begin)
            compare(&job, .every(interval, anchor: begin), starts: nil)
        case .cron(let text, let zone): setTimes(of: &job, text, zone)
        case .other: break
        }
    }

    private func setTimes(of job: inout ImportedJob, _ text: String, _ name: String?) {
        guard let zone = name.map({ Zones.rules($0) }) ?? local else {
            return job.refusal = "there is no zone \"\(name ?? "")\" here"
        }
        job.zone = zone
        if name == nil { job.notes.append("it names no zone: \(local.name) is taken for the gateway's") }
        var options = CronOptions()
        options.isLenient = true
        guard let expression = try? CronExpression(text, options: options) else {
            return job.refusal = "\"\(text)\" is no expression that Belfry reads"
        }
        let schedule = Schedule.cron(expression, zone: zone.name)
        job.schedule = schedule
        let starts = OpenClawClock(text)?.starts(after: start, in: zone, count: 10)
        compare(&job, schedule, starts: starts?.map { DebianClock.Start(moment: $0, count: 1) })
    }

    private func compare(
        _ job: inout ImportedJob, _ schedule: Schedule, starts: [DebianClock.Start]?
    ) {
        job.times = ImportedJob.compare(schedule, in: job.zone, after: start, original: starts)
    }

    // MARK: Differences

    private func noteDifferences(of job: inout ImportedJob, _ original: GatewayJob) {
        if original.stagger > .zero {
            job.notes.append(
                "the gateway starts it up to \(original.stagger.limitWords) later by a delay of its own; "
                    + "Belfry starts it on time")
        }
        if let target = original.whole["sessionTarget"]?.text, target != "main" {
            job.notes.append("it runs in the session of \(bot); in the gateway it had another one")
        }
        switch original.whole["delivery"]?["mode"]?.text {
        case "announce": job.notes.append("its result goes to Belfry's channels, not to the gateway's")
        case "webhook": job.notes.append("its webhook is not imported; add a channel of kind webhook")
        default: break
        }
        let members = Self.names(original.whole).filter { !Self.known.contains($0) }
        let payload = Self.names(original.whole["payload"] ?? .null).filter {
            !Self.knownOfPayloads.contains($0)
        }
        for field in (members + payload).sorted() {
            job.notes.append("its field \(CleanText.line(field, limit: 40)) is not imported")
        }
    }

    private static func names(_ json: JSON) -> [String] {
        if case .members(let members) = json { members.map(\.name) } else { [] }
    }

    private static func text(of job: GatewayJob) -> String {
        switch job.times {
        case .at(let moment): "at \(moment.iso8601)"
        case .every(let interval, _): "every \(interval.text)"
        case .cron(let text, let zone): text + (zone.map { " \($0)" } ?? "")
        case .other(let kind): kind
        }
    }

    /// What a job is of which this version does not know everything.
    private static func kinds(_ json: JSON) -> String {
        ["schedule", "payload"].map { part in
            "\(part) \(CleanText.line(json[part]?["kind"]?.text ?? "unknown", limit: 40))"
        }.joined(separator: ", ")
    }
}
