package import Timeline

/// A fact, written in the transaction that made it true.
package struct NewEvent: Hashable, Sendable {
    package var type: EventType
    package var at: Moment
    /// Why, as an enum's text.
    package var reason: String?
    package var job: String?
    /// The id of the run it tells of.
    package var run: String?
    package var bot: String?
    /// The id of the message, or the text form of the item's key, it tells of.
    package var subject: String?
    /// The channel it tells of.
    package var channel: String?
    /// What else a reader must know, as JSON; empty: nothing.
    package var detail: String

    package init(
        _ type: EventType, at: Moment, reason: String? = nil, job: String? = nil, run: String? = nil,
        bot: String? = nil, subject: String? = nil, channel: String? = nil, detail: String = ""
    ) {
        self.type = type
        self.at = at
        self.reason = reason
        self.job = job
        self.run = run
        self.bot = bot
        self.subject = subject
        self.channel = channel
        self.detail = detail
    }
}

/// An event with its number.
///
/// Numbers rise by commit order and have no gaps that will be filled later.
package struct EventRecord: Hashable, Sendable {
    package var seq: Int64
    package var event: NewEvent

    package init(seq: Int64, event: NewEvent) {
        self.seq = seq
        self.event = event
    }
}

/// The kinds of facts; their texts are what webhooks and `belfry events` say.
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
    /// Something was said in a thread. Told to webhooks only as the group it joins.
    case messagePosted = "message.posted"
    /// The thread was read; the detail is up to when, in microseconds since 1970.
    case messageRead = "message.read"
    /// A person put an item away on a surface; the detail is the revision they saw.
    case itemDismissed = "item.dismissed"
    case messageGroup = "message.group"
    case questionAsked = "question.asked"
    case questionAnswered = "question.answered"
    case channelFailing = "channel.failing"
    case channelDisabled = "channel.disabled"
    case channelRestored = "channel.restored"
    case configReloaded = "config.reloaded"
    /// A channel of the files can't be used and is left out; the detail says why.
    case configPartial = "config.partial"
    /// A job of the files can't be used and is left out; the detail says why.
    case jobLeftOut = "job.leftOut"
    /// The ledger's disk is full: no run begins before there is room.
    case ledgerFull = "ledger.full"
    case ledgerRestored = "ledger.restored"
    /// The clock went back so far that times of the day come again; the detail is by how much.
    case clockBack = "clock.back"
    case test = "test"
}
