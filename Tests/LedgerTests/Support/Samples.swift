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
        .append(NewEvent(Fact(type, FactColumns()), at: at(seconds)))
    }
}

extension MessageRecord {
    static func sample(
        _ id: String, bot: String = "ops", thread: String = "main", text: String = "hello",
        seconds: Double = 0, pinned: Bool = false
    ) -> MessageRecord {
        MessageRecord(
            message: Message(id: id, bot: bot, thread: thread, text: text, at: at(seconds)), pinned: pinned)
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

extension Fact {
    /// One of each case, with all that it can hold.
    static var samples: [Fact] {
        let run = Run(job: "backup", id: "0199", bot: "ops")
        let end = End(run, reason: .exitCode, message: "it said \"no\"\n\u{1F514}")
        let span = Slots.Span(first: at(60), last: at(180.25), count: 3)
        let slots = Slots(job: "backup", bot: "ops", reason: .paused, span)
        var asked = Grouping.Question(
            id: "q1", bot: "ops", text: "Deploy?\n\u{1F514}", choices: ["yes", "no"], askedAt: at(1))
        (asked.run, asked.takesText, asked.fallback, asked.deadline) = ("backup#3", true, "no", at(61.5))
        let question = QuestionNews(asked, run: "0199")
        let answer = QuestionNews(
            asked, run: "0199", end: QuestionEnd(answer: "yes", by: "desk", at: at(2.000001)))
        let expired = QuestionNews(asked, run: nil, end: QuestionEnd(.expired, at: at(62)))
        let channel = Channel("hook", reason: .serverError, item: "job:backup", error: "answered 503")
        return [
            .runStarted(run), .runProgress(run), .runBlocked(Blocked(run, kind: .permission)),
            .runCompleted(end), .runFailed(end),
            .runRecovered(Recovery(run, outage: .seconds(60), failures: 3)),
            .runCanceled(end), .runLost(end), .runSkipped(end), .slotsSkipped(slots), .runMissed(slots),
            .runLate(run), .runSlow(run), .runStuck(run), .runFlapping(run),
            .messagePosted(Post("m1", bot: "ops", run: "0199", to: "hook")),
            .messageRead(Reading("thread:ops/main", bot: "ops", through: at(1.000001))),
            .messageGroup(Item("thread:ops/main")),
            .itemDismissed(Dismissal("thread:ops/main", on: "desk", revision: 7)),
            .itemActed(Action("thread:ops/main", on: "desk", key: "stop")),
            .questionAsked(question), .questionAnswered(answer), .questionExpired(expired),
            .questionWithdrawn(expired), .channelFailing(channel),
            .channelDisabled(channel), .channelRestored(Channel("hook")),
            .configReloaded(Reload(Reload.Difference(added: ["a"], changed: ["b"], removed: ["c"]))),
            .configReloaded(Reload(returnedJob: "backup", channel: nil)),
            .configPartial(LeftOut(channel: "hook", reason: "badSecret", message: "channel \"hook\"")),
            .jobLeftOut(LeftOut(job: "backup", bot: "ops", reason: "nameTaken", message: "job \"backup\"")),
            .configPartial(LeftOut(bot: "sage", reason: "badSecret", message: "bot \"sage\"")),
            .botStatus(
                BotStatus(bot: "sage", reason: "auth", BotStatus.Payload(status: "blocked", message: "no"))),
            .botBudget(
                BotBudget(
                    bot: "sage", reason: .budgetNear,
                    BotBudget.Payload(
                        month: "2026-11", costUsd: 4.2, limitUsd: 5, tokens: 12, limitTokens: nil))),
            .gatewayJob(
                GatewayJob(
                    bot: "opta", job: "j-1", reason: "overdue",
                    GatewayJob.Payload(gateway: "h:1", name: "Brief", message: "was due"))),
            .expectLate(
                Expectation(
                    "nightly", reason: .overdue,
                    Expectation.Payload(lastPing: "2026-11-27T03:00:00Z", dueAt: "2026-11-28T03:00:00Z"))),
            .expectRecovered(
                Expectation(
                    "nightly", reason: nil, Expectation.Payload(outageSeconds: 3600, message: "done"))),
            .ledgerFull, .ledgerRestored, .clockBack(ClockBack(by: .seconds(18_000))),
            .test(channel: "hook"), .unknown(FactColumns(reason: "x", subject: "y")),
        ]
    }
}
