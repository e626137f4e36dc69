package import Timeline
package import Tracking

/// What happened to one attempt to have a bot reply: written in the transaction of its end.
package struct BotReply: Hashable, Sendable {
    /// How it ended.
    package enum Outcome: Hashable, Sendable {
        /// With a reply: after so long until its first word, and altogether; nil: not known.
        case replied(first: Duration?, whole: Duration?)
        /// It was tested, and answered without a reply.
        case answered
        /// For this reason, and as the sentence explains it.
        case failed(RunReason, String?)
        /// Somebody ended it, which says nothing about the bot.
        case canceled
    }

    /// The bot's name.
    package var bot: String
    /// The month that its usage counts in, as ``BotMonth/month``.
    package var month: String
    /// When it ended.
    package var at: Moment
    /// What it used, as far as the provider reported it; nil: nothing.
    package var usage: BotUsage?
    /// How it ended.
    package var outcome: Outcome

    /// An attempt that ended at `at`.
    package init(bot: String, month: String, at: Moment, usage: BotUsage? = nil, outcome: Outcome) {
        self.bot = bot
        self.month = month
        self.at = at
        self.usage = usage
        self.outcome = outcome
    }
}

/// What a bot used in one month of the calendar.
package struct BotMonth: Hashable, Sendable {
    /// The bot's name.
    package var bot: String
    /// `2026-11`, in the zone that was configured when each of its attempts ended.
    package var month: String
    /// How many replies it completed.
    package var replies: Int
    /// What all its attempts used.
    package var usage: BotUsage

    /// A month in which nothing was used yet, unless said otherwise.
    package init(bot: String, month: String, replies: Int = 0, usage: BotUsage = BotUsage()) {
        self.bot = bot
        self.month = month
        self.replies = replies
        self.usage = usage
    }
}

/// What is known of a bot.
package struct BotRecord: Hashable, Sendable {
    /// The last reply it completed; one that only answered a test has the times of the reply before.
    package struct Success: Hashable, Sendable {
        /// When it ended.
        package var at: Moment
        /// From the request to the first word of the reply.
        package var first: Duration?
        /// From the request to the end of the reply.
        package var whole: Duration?

        package init(at: Moment, first: Duration? = nil, whole: Duration? = nil) {
            self.at = at
            self.first = first
            self.whole = whole
        }
    }

    /// The last attempt that failed.
    package struct Failure: Hashable, Sendable {
        /// When it ended.
        package var at: Moment
        /// Why it failed.
        package var reason: RunReason
        /// The sentence that explains it; nil: the reason says it all.
        package var text: String?

        package init(at: Moment, reason: RunReason, text: String? = nil) {
            self.at = at
            self.reason = reason
            self.text = text
        }
    }

    /// Its name.
    package var name: String
    /// Its last reply; nil: it never replied.
    package var lastSuccess: Success?
    /// The last attempt that failed; nil: none did.
    package var lastFailure: Failure?
    /// What was reported of it.
    package var note = BotNote()

    package init(name: String) {
        self.name = name
    }
}

/// A bot that was made on the command line.
package struct BotEntry: Hashable, Sendable {
    /// Its name.
    package var name: String
    /// Rises with each change.
    package var revision = 1
    /// What describes it, in the form that the configuration file has; its key is named, and is not in it.
    package var settings: JSON

    package init(name: String, settings: JSON) {
        self.name = name
        self.settings = settings
    }
}

/// What was reported of a bot last, so that nothing is reported twice.
package struct BotNote: Hashable, Sendable, Codable {
    /// Its status as of the last event; nil: there was none.
    package var status: String?
    /// Why it had that status.
    package var reason: String?
    /// Since when it has it.
    package var since: Moment?
    /// The month of the last event of its budget.
    package var budgetMonth: String?
    /// The budget that the event was about.
    package var budgetLimit: String?
    /// How near to its end it was; 0: there was no event.
    package var budgetLevel = 0
    /// A mark of how it was configured last; nil: it is not known.
    package var configuration: String?
    /// Since when it was configured so.
    package var configuredSince: Moment?

    package init() {}
}

extension BotRecord {
    /// Applies what happened to an attempt as the ledger does.
    package mutating func apply(_ reply: BotReply) {
        switch reply.outcome {
        case .replied(let first, let whole):
            lastSuccess = Success(at: reply.at, first: first, whole: whole)
        case .answered:
            lastSuccess = Success(at: reply.at, first: lastSuccess?.first, whole: lastSuccess?.whole)
        case .failed(let reason, let text):
            lastFailure = Failure(at: reply.at, reason: reason, text: text)
        case .canceled: break
        }
    }
}

extension BotMonth {
    /// Applies what happened to an attempt as the ledger does.
    package mutating func apply(_ reply: BotReply) {
        if case .replied = reply.outcome { replies += 1 }
        usage = usage + (reply.usage ?? BotUsage())
    }
}
