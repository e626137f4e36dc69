import Grouping

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
