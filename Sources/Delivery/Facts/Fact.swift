import Grouping

// A table: every fact there is.

/// Something that happened, written in the transaction that made it true.
///
/// `Facts` in this target's documentation lists what each holds, and how to add one.
package enum Fact: Hashable, Sendable {
    // MARK: Runs

    /// The first attempt of a run began.
    case runStarted(Run)
    /// Only webhooks' word for how far a run is; never written.
    case runProgress(Run)
    /// A run waits for a person.
    case runBlocked(Blocked)
    /// A run ended well.
    case runCompleted(End)
    /// A run failed, or took longer than its timeout.
    case runFailed(End)
    /// The first success of a job after failures.
    case runRecovered(Recovery)
    /// A run was ended by request.
    case runCanceled(End)
    /// Nobody knows how a run ended.
    case runLost(End)
    /// A run that waited gave way to a newer one.
    case runSkipped(End)
    /// Slots got no run by the job's own rules. Of the type `run.skipped`.
    case slotsSkipped(Slots)
    /// Slots passed while no daemon decided them, and were not caught up.
    case runMissed(Slots)
    /// A run began late.
    case runLate(Run)
    /// A run takes longer than usual.
    case runSlow(Run)
    /// A run has been silent for long.
    case runStuck(Run)
    /// A job fails and recovers in turns.
    case runFlapping(Run)

    // MARK: Talk

    /// Something was said in a thread. Webhooks hear of it as the group it joins.
    case messagePosted(Post)
    /// A thread was read.
    case messageRead(Reading)
    /// Only webhooks' word for the messages of a thread; never written.
    case messageGroup(Item)
    /// A person put an item away on a surface.
    case itemDismissed(Dismissal)
    /// A person pressed a button of an item on a surface.
    case itemActed(Action)
    /// A question was asked of a person.
    case questionAsked(QuestionNews)
    /// A question was answered, by a person or by its default.
    case questionAnswered(QuestionNews)
    /// Nobody answered a question by its deadline.
    case questionExpired(QuestionNews)
    /// Who asked a question no longer wants to know.
    case questionWithdrawn(QuestionNews)

    // MARK: The daemon

    /// A channel fails, or refused an item for good.
    case channelFailing(Channel)
    /// A channel was given up.
    case channelDisabled(Channel)
    /// A channel works again, or shows an item again.
    case channelRestored(Channel)
    /// The configuration was read again, or a part of it that was left out could be used after all.
    case configReloaded(Reload)
    /// A channel of the files can't be used and is left out.
    case configPartial(LeftOut)
    /// A job of the files can't be used and is left out.
    case jobLeftOut(LeftOut)
    /// A bot can no longer be asked, or can be asked again.
    case botStatus(BotStatus)
    /// A bot has used most of its budget, or all of it.
    case botBudget(BotBudget)
    /// What somebody should know of a job that a gateway's own scheduler runs.
    case gatewayJob(GatewayJob)
    /// Something that must report in time did not, or reported a failure.
    case expectLate(Expectation)
    /// It reports again.
    case expectRecovered(Expectation)
    /// The ledger's disk is full: no run begins before there is room.
    case ledgerFull
    /// There is room on the ledger's disk again.
    case ledgerRestored
    /// The clock went back so far that times of the day come again.
    case clockBack(ClockBack)
    /// Somebody tests a channel.
    case test(channel: String?)
    /// A row of a type that this version does not know; never written.
    case unknown(FactColumns)
}

extension Fact {
    /// The type of the fact.
    package var type: EventType {
        switch self {
        case .runStarted: .runStarted
        case .runProgress: .runProgress
        case .runBlocked: .runBlocked
        case .runCompleted: .runCompleted
        case .runFailed: .runFailed
        case .runRecovered: .runRecovered
        case .runCanceled: .runCanceled
        case .runLost: .runLost
        case .runSkipped, .slotsSkipped: .runSkipped
        case .runMissed: .runMissed
        case .runLate: .runLate
        case .runSlow: .runSlow
        case .runStuck: .runStuck
        case .runFlapping: .runFlapping
        case .messagePosted: .messagePosted
        case .messageRead: .messageRead
        case .messageGroup: .messageGroup
        case .itemDismissed: .itemDismissed
        case .itemActed: .itemActed
        case .questionAsked: .questionAsked
        case .questionAnswered: .questionAnswered
        case .questionExpired: .questionExpired
        case .questionWithdrawn: .questionWithdrawn
        case .channelFailing: .channelFailing
        case .channelDisabled: .channelDisabled
        case .channelRestored: .channelRestored
        case .configReloaded: .configReloaded
        case .configPartial: .configPartial
        case .jobLeftOut: .jobLeftOut
        case .botStatus: .botStatus
        case .botBudget: .botBudget
        case .gatewayJob: .gatewayJob
        case .expectLate: .expectLate
        case .expectRecovered: .expectRecovered
        case .ledgerFull: .ledgerFull
        case .ledgerRestored: .ledgerRestored
        case .clockBack: .clockBack
        case .test: .test
        case .unknown: .unknown
        }
    }

    /// What the fact holds.
    var content: any FactContent {
        switch self {
        case .runStarted(let run), .runProgress(let run), .runLate(let run), .runSlow(let run),
            .runStuck(let run), .runFlapping(let run):
            run
        case .runBlocked(let blocked): blocked
        case .runCompleted(let end), .runFailed(let end), .runCanceled(let end), .runLost(let end),
            .runSkipped(let end):
            end
        case .runRecovered(let recovery): recovery
        case .slotsSkipped(let slots), .runMissed(let slots): slots
        case .messagePosted(let post): post
        case .messageRead(let reading): reading
        case .messageGroup(let item): item
        case .itemDismissed(let dismissal): dismissal
        case .itemActed(let action): action
        case .questionAsked(let news), .questionAnswered(let news), .questionExpired(let news),
            .questionWithdrawn(let news):
            news
        case .channelFailing(let news), .channelDisabled(let news), .channelRestored(let news): news
        case .configReloaded(let reload): reload
        case .configPartial(let leftOut), .jobLeftOut(let leftOut): leftOut
        case .botStatus(let status): status
        case .botBudget(let budget): budget
        case .gatewayJob(let job): job
        case .expectLate(let expectation), .expectRecovered(let expectation): expectation
        case .ledgerFull: FactColumns(reason: DaemonReason.full.rawValue)
        case .ledgerRestored: FactColumns(reason: DaemonReason.room.rawValue)
        case .clockBack(let back): back
        case .test(let channel): FactColumns(reason: DaemonReason.asked.rawValue, channel: channel)
        case .unknown(let columns): columns
        }
    }

    /// The fact of a row.
    ///
    /// A payload that can't be read counts as none.
    package init(_ type: EventType, _ columns: FactColumns, from source: inout some FactPayloadSource) {
        func content<Content: FactContent>(_: Content.Type = Content.self) -> Content {
            Content(columns, source.payload(Content.Payload.self))
        }
        switch type {
        case .runStarted: self = .runStarted(content())
        case .runProgress: self = .runProgress(content())
        case .runBlocked: self = .runBlocked(content())
        case .runCompleted: self = .runCompleted(content())
        case .runFailed: self = .runFailed(content())
        case .runRecovered: self = .runRecovered(content())
        case .runCanceled: self = .runCanceled(content())
        case .runMissed: self = .runMissed(content())
        case .runSkipped: self = columns.run == nil ? .slotsSkipped(content()) : .runSkipped(content())
        case .runLost: self = .runLost(content())
        case .runLate: self = .runLate(content())
        case .runSlow: self = .runSlow(content())
        case .runStuck: self = .runStuck(content())
        case .runFlapping: self = .runFlapping(content())
        case .messagePosted: self = .messagePosted(content())
        case .messageRead: self = .messageRead(content())
        case .messageGroup: self = .messageGroup(content())
        case .itemDismissed: self = .itemDismissed(content())
        case .itemActed: self = .itemActed(content())
        case .questionAsked: self = .questionAsked(content())
        case .questionAnswered: self = .questionAnswered(content())
        case .questionExpired: self = .questionExpired(content())
        case .questionWithdrawn: self = .questionWithdrawn(content())
        case .channelFailing: self = .channelFailing(content())
        case .channelDisabled: self = .channelDisabled(content())
        case .channelRestored: self = .channelRestored(content())
        case .configReloaded: self = .configReloaded(content())
        case .configPartial: self = .configPartial(content())
        case .jobLeftOut: self = .jobLeftOut(content())
        case .botStatus: self = .botStatus(content())
        case .botBudget: self = .botBudget(content())
        case .gatewayJob: self = .gatewayJob(content())
        case .expectLate: self = .expectLate(content())
        case .expectRecovered: self = .expectRecovered(content())
        case .ledgerFull: self = .ledgerFull
        case .ledgerRestored: self = .ledgerRestored
        case .clockBack: self = .clockBack(content())
        case .test: self = .test(channel: columns.channel)
        case .unknown: self = .unknown(columns)
        }
    }
}

/// The kinds of facts; their texts are what webhooks and `belfry events` show.
package enum EventType: String, Hashable, Sendable, Codable, CaseIterable {
    case runStarted = "run.started"
    case runProgress = "run.progress"
    case runBlocked = "run.blocked"
    case runCompleted = "run.completed"
    case runFailed = "run.failed"
    case runRecovered = "run.recovered"
    case runCanceled = "run.canceled"
    case runMissed = "run.missed"
    case runSkipped = "run.skipped"
    case runLost = "run.lost"
    case runLate = "run.late"
    case runSlow = "run.slow"
    case runStuck = "run.stuck"
    case runFlapping = "run.flapping"
    case messagePosted = "message.posted"
    case messageRead = "message.read"
    case messageGroup = "message.group"
    case itemDismissed = "item.dismissed"
    case itemActed = "item.acted"
    case questionAsked = "question.asked"
    case questionAnswered = "question.answered"
    case questionExpired = "question.expired"
    case questionWithdrawn = "question.withdrawn"
    case channelFailing = "channel.failing"
    case channelDisabled = "channel.disabled"
    case channelRestored = "channel.restored"
    case configReloaded = "config.reloaded"
    case configPartial = "config.partial"
    case jobLeftOut = "job.leftOut"
    case botStatus = "bot.status"
    case botBudget = "bot.budget"
    case gatewayJob = "gateway.job"
    case expectLate = "expect.late"
    case expectRecovered = "expect.recovered"
    case ledgerFull = "ledger.full"
    case ledgerRestored = "ledger.restored"
    case clockBack = "clock.back"
    case test = "test"
    /// Of a type that this version does not know; never written.
    case unknown = "unknown"
}

extension EventType {
    /// What happened, after the name of the run or job that it is about: `failed`, `waits for you`.
    package var words: String {
        switch self {
        case .runStarted: "started"
        case .runProgress: "made progress"
        case .runBlocked: "waits for you"
        case .runCompleted: "completed"
        case .runFailed: "failed"
        case .runRecovered: "recovered"
        case .runCanceled: "was cancelled"
        case .runMissed: "missed slots"
        case .runSkipped: "was skipped"
        case .runLost: "was lost"
        case .runLate: "is late"
        case .runSlow: "is slow"
        case .runStuck: "is stuck"
        case .runFlapping: "fails and recovers in turns"
        case .messagePosted: "a message"
        case .messageRead: "a thread was read"
        case .messageGroup: "messages"
        case .itemDismissed: "an item was dismissed"
        case .itemActed: "a button was pressed"
        case .questionAsked: "a question"
        case .questionAnswered: "an answer"
        case .questionExpired: "a question expired"
        case .questionWithdrawn: "a question was withdrawn"
        case .channelFailing: "a channel fails"
        case .channelDisabled: "a channel was given up"
        case .channelRestored: "a channel works again"
        case .configReloaded: "the configuration was reloaded"
        case .configPartial: "a channel was left out"
        case .jobLeftOut: "was left out"
        case .botStatus: "a bot's status changed"
        case .botBudget: "a bot's budget runs out"
        case .gatewayJob: "a gateway's job has news"
        case .expectLate: "an expected report is missing"
        case .expectRecovered: "an expected report came again"
        case .ledgerFull: "the disk is full"
        case .ledgerRestored: "the disk has room again"
        case .clockBack: "the clock went back"
        case .test: "a test"
        case .unknown: "an event of another version"
        }
    }

    /// What happened, by itself: in the words of an item that rings for it, where one does.
    package var sentence: String {
        switch self {
        case .runBlocked: RingReason.blocked.words
        case .runFailed: RingReason.failed.words
        case .runRecovered: RingReason.recovered.words
        case .runMissed: RingReason.missed.words
        case .runStarted, .runProgress, .runCompleted, .runCanceled, .runSkipped, .runLost, .runLate,
            .runSlow,
            .runStuck:
            "the run \(words)"
        case .runFlapping, .jobLeftOut: "the job \(words)"
        case .messagePosted, .messageRead, .messageGroup, .itemDismissed, .itemActed, .questionAsked,
            .questionAnswered, .questionExpired, .questionWithdrawn, .channelFailing, .channelDisabled,
            .channelRestored, .configReloaded,
            .configPartial, .botStatus, .botBudget, .gatewayJob, .expectLate, .expectRecovered, .ledgerFull,
            .ledgerRestored, .clockBack,
            .test,
            .unknown:
            words
        }
    }
}
