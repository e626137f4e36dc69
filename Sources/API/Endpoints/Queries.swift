package import Timeline
package import Tracking

// The queries of the endpoints. A property's initial value is the parameter's default.

/// Which runs are listed.
package struct RunsQuery: QueryParameters {
    /// Only runs of this job.
    package var job: String?
    /// Only runs and spans in these states; empty: all.
    package var states: [RunState] = []
    /// Only runs from this time on.
    package var since: Moment?
    /// At most this many.
    package var limit = 100

    /// All runs.
    package init() {}

    /// How it is written.
    package static let parameters: [QueryParameter<Self>] = [
        .words("state", \.states, "Only runs, and spans of slots that did not run, in these states."),
        .time("since", \.since, "Only runs from this time on."),
        .text("job", \.job, "Only runs of this job."),
        .number("limit", \.limit, "At most this many."),
    ]
}

extension RunState: QueryWord {}

/// Which runs of a job are listed.
package struct HistoryQuery: QueryParameters {
    /// Only the slot at this time.
    package var at: Moment?
    /// At most this many.
    package var limit = 100

    /// All of them.
    package init() {}

    /// How it is written.
    package static let parameters: [QueryParameter<Self>] = [
        .time("at", \.at, "Only what happened to the slot at this time."),
        .number("limit", \.limit, "At most this many."),
    ]
}

/// How many slots are previewed.
package struct NextSlotsQuery: QueryParameters {
    /// At most this many slots.
    package var count = 5
    /// Whether each slot comes with what a change of the clock does to it.
    package var notes = false

    /// Five slots.
    package init() {}

    /// How it is written.
    package static let parameters: [QueryParameter<Self>] = [
        .number("n", \.count, atMost: 10_000, "How many slots."),
        .flag("notes", \.notes, "Answers with objects that explain clock changes, instead of times."),
    ]
}

/// How a job is written.
package struct JobTextQuery: QueryParameters {
    /// Whether a first moment that follows from when the job was made is written out.
    package var anchored = false

    /// As a person wrote it.
    package init() {}

    /// How it is written.
    package static let parameters: [QueryParameter<Self>] = [
        .flag(
            "anchored", \.anchored,
            "Writes out the first moment of a schedule that counts from when the job was made.")
    ]
}

/// Which part of a run's output is wanted.
package struct LogsQuery: QueryParameters {
    /// The number of bytes to skip.
    package var offset = 0
    /// The attempt; nil: the newest one that started.
    package var attempt: Int64?
    /// Whether the answer continues until the attempt has ended.
    package var follow = false

    /// From the first byte to the last one now.
    package init() {}

    /// How it is written.
    package static let parameters: [QueryParameter<Self>] = [
        .number("offset", \.offset, atLeast: 0, "Skips this many bytes."),
        .number("attempt", \.attempt, atLeast: 1, "The attempt; absent: the newest one that started."),
        .flag("follow", \.follow, "Goes on until the attempt has ended."),
    ]
}

/// Where a stream of events begins, and what is in it.
package struct EventsQuery: QueryParameters {
    /// Begins after the event of this number; nil: with what comes.
    package var since: Int64?
    /// Whether live states come in between.
    package var live = false

    /// New events.
    package init() {}

    /// How it is written.
    package static let parameters: [QueryParameter<Self>] = [
        .number(
            "since", \.since, atLeast: 0,
            "Begins after the event of this number; `Last-Event-ID` wins. Absent: only new events."),
        .flag("live", \.live, "Sends live states, named `live` and without an id, in between."),
    ]
}

/// Which messages are listed.
package struct MessagesQuery: QueryParameters {
    /// Only those of this bot.
    package var bot: String?
    /// Only those that hold this text.
    package var search: String?
    /// Only those from this time on.
    package var since: Moment?
    /// At most this many.
    package var limit = 100

    /// All messages.
    package init() {}

    /// How it is written.
    package static let parameters: [QueryParameter<Self>] = [
        .number("limit", \.limit, "At most this many."),
        .text("bot", \.bot, "Only messages of this bot."),
        .text("search", \.search, "Only messages that hold these words, or else words that begin with them."),
        .time("since", \.since, "Only messages from this time on."),
    ]
}

/// How long an answer may wait for a run that answers the message.
package struct ReplyQuery: QueryParameters {
    /// Answers after this many milliseconds though no run was given the message.
    package var wait = 0

    /// At once.
    package init() {}

    /// How it is written.
    package static let parameters: [QueryParameter<Self>] = [
        .number(
            "waitMs", \.wait, atLeast: 0, atMost: 20_000,
            "Waits up to this many milliseconds until a run was given the message.")
    ]
}

/// Which questions are listed.
package struct QuestionsQuery: QueryParameters {
    /// Whether those that are closed are listed, too.
    package var all = false
    /// At most this many.
    package var limit = 100

    /// The open ones.
    package init() {}

    /// How it is written.
    package static let parameters: [QueryParameter<Self>] = [
        .flag("all", \.all, "Also questions that were answered, expired or withdrawn."),
        .number("limit", \.limit, "At most this many."),
    ]
}

/// Which silences are listed.
package struct SilencesQuery: QueryParameters {
    /// Whether those that have ended are listed, too.
    package var all = false

    /// Those that have not ended.
    package init() {}

    /// How it is written.
    package static let parameters: [QueryParameter<Self>] = [
        .flag("all", \.all, "Also silences that have ended.")
    ]
}

/// How much is listed.
package struct LimitQuery: QueryParameters {
    /// At most this many.
    package var limit = 100

    /// The default.
    package init() {}

    /// How it is written.
    package static let parameters: [QueryParameter<Self>] = [
        .number("limit", \.limit, "At most this many.")
    ]
}

/// Which outbox entries are listed.
package struct OutboxQuery: QueryParameters {
    /// Only those in these states; empty: all.
    package var states: [WireOutboxState] = []
    /// At most this many.
    package var limit = 100

    /// All of them.
    package init() {}

    /// How it is written.
    package static let parameters: [QueryParameter<Self>] = [
        .words("state", \.states, "Only entries in these states."),
        .number("limit", \.limit, "At most this many."),
    ]
}

extension WireOutboxState: QueryWord {}

/// What is explained.
package struct WhyQuery: QueryParameters {
    /// The id of a message, run or outbox entry, `JOB#N`, or an item's key.
    package var id: String?
    /// Whether only what was held back is wanted.
    package var not = false
    /// At most the decisions about this many events.
    package var limit = 100

    /// Nothing yet.
    package init() {}

    /// How it is written.
    package static let parameters: [QueryParameter<Self>] = [
        .text("id", \.id, "The id of a message, run or outbox entry, `JOB#N`, or an item's key."),
        .flag("not", \.not, "Only what was held back."),
        .number("limit", \.limit, "Decisions about at most this many events."),
    ]
}

/// Whose entries a channel takes over.
package struct ChannelRetryQuery: QueryParameters {
    /// A channel that is not in the configuration.
    package var from: String?

    /// Those of the channel itself.
    package init() {}

    /// How it is written.
    package static let parameters: [QueryParameter<Self>] = [
        .text("from", \.from, "Also sends the entries of this channel, which is not in the configuration.")
    ]
}

/// Which entries of a channel are sent again.
package struct ChannelReplayQuery: QueryParameters {
    /// Those made from then on; absent is refused.
    package var since: Moment?

    /// No entries.
    package init() {}

    /// How it is written.
    package static let parameters: [QueryParameter<Self>] = [
        .time("since", \.since, "Sends the entries made from this time on.")
    ]
}

/// How a bot is removed.
package struct RemoveBotQuery: QueryParameters {
    /// Whether it is removed although jobs belong to it.
    package var force = false

    /// Only a bot without jobs.
    package init() {}

    /// How it is written.
    package static let parameters: [QueryParameter<Self>] = [
        .flag("force", \.force, "Removes it although jobs belong to it.")
    ]
}
