import Delivery
import Grouping
import Ledger
import Timeline
import Tracking

/// The moment `seconds` after the day these tests play on began.
func at(_ seconds: Double) -> Moment {
    Moment(seconds: 1_774_000_000) + .microseconds(Int64(seconds * 1_000_000))
}

extension JobSpec {
    static func sample(_ name: String, command: String = "true") -> JobSpec {
        JobSpec(
            name: name, action: .command([command]),
            schedule: ScheduleSpec(kind: .cron, text: "*/5 * * * *", zone: "Europe/Berlin"))
    }
}

extension JobRecord {
    static func sample(_ name: String, revision: Int = 1, command: String = "true") -> JobRecord {
        JobRecord(spec: .sample(name, command: command), origin: .cli, revision: revision, since: at(0))
    }
}

extension RunRecord {
    /// A queued run of the slot `slot` seconds into the day.
    static func sample(_ id: String, job: String = "backup", slot: Double = 0) -> RunRecord {
        RunRecord(
            id: id, job: job, bot: "belfry", kind: .scheduled, cause: RunCause.slot(at(slot), era: 0),
            slot: at(slot), queuedAt: at(slot), revision: 1)
    }
}

extension Change {
    /// Inserts ``RunRecord/sample(_:job:slot:)``.
    static func run(_ id: String, job: String = "backup", slot: Double = 0) -> Change {
        .insertRun(.sample(id, job: job, slot: slot), orIgnore: false)
    }

    /// Moves a run at its first attempt.
    static func move(_ id: String, from: Set<RunState>, to: RunState) -> Change {
        .moveRun(RunMove(run: id, from: from, attempt: 1, to: to))
    }

    static func event(_ type: EventType = .test, seconds: Double = 0) -> Change {
        .append(NewEvent(type, at: at(seconds)))
    }
}

extension MessageRecord {
    static func sample(
        _ id: String, bot: String = "ops", thread: String = "main", text: String = "hello",
        seconds: Double = 0
    ) -> MessageRecord {
        MessageRecord(message: Message(id: id, bot: bot, thread: thread, text: text, at: at(seconds)))
    }
}

extension OutboxRecord {
    static func sample(
        _ id: String, channel: String = "hook", cause: String? = nil, item: String? = nil, seconds: Double = 0
    ) -> OutboxRecord {
        OutboxRecord(
            id: id, channel: channel, cause: cause ?? "event:\(id)", type: "run.failed", reason: "failed",
            createdAt: at(0), nextAt: at(seconds), item: item, body: Array("{\"id\":\"\(id)\"}".utf8))
    }
}

extension ItemRecord {
    static func sample(_ job: String, revision: Int64 = 1, flushAt: Moment? = nil) -> ItemRecord {
        ItemRecord(
            key: .job(job), revision: revision, state: Array("{}".utf8), flushAt: flushAt,
            updatedAt: at(Double(revision)))
    }
}
