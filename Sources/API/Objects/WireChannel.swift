package import Tracking

/// Where notices go, and whether they get there.
package struct WireChannel: Hashable, Sendable, Codable {
    /// Its name in the configuration.
    package var name: String
    /// The kind of its form, as `desktop` or `webhook`.
    package var kind: String
    /// `file`, or `cli` where `belfry channel add` made it.
    package var origin: String?
    /// `working`, `away` (nobody at the far end), `failing`, `disabled`, `leftOut`, or `untried`.
    package var state: String
    /// Since when it is in that state.
    package var since: Timestamp?
    /// The last failure, one line without secrets.
    package var lastError: String?
    /// The words of the routes that lead to it, in alphabetical order.
    package var when: [String]?
    /// Whether each thing is sent to it once, from the outbox, instead of edited in place; absent of one that is left out.
    package var hasOutbox: Bool?
    /// The channel that is sent what does not arrive here.
    package var fallback: String?
    /// How often a sign of life is sent, in seconds.
    package var heartbeatSeconds: Int?

    /// A channel in a state, without a past.
    package init(name: String, kind: String, state: String) {
        self.name = name
        self.kind = kind
        self.state = state
    }
}

/// What `outbox retry --channel` did.
package struct WireChannelRetry: Hashable, Sendable, Codable {
    /// The channel.
    package var channel: String
    /// How many entries of its own are due now.
    package var retried: Int
    /// The channel that is not in the configuration, whose entries it got; absent when there is none.
    package var from: String?
    /// How many it got.
    package var moved: Int
    /// How the channel is doing: `working`, `failing`, `disabled`, `untried`.
    package var state: String

    /// An answer, each part as given.
    package init(channel: String, retried: Int, from: String?, moved: Int, state: String) {
        self.channel = channel
        self.retried = retried
        self.from = from
        self.moved = moved
        self.state = state
    }
}

/// What `outbox replay` did for a channel.
package struct WireChannelReplay: Hashable, Sendable, Codable {
    /// The channel.
    package var channel: String
    /// How many entries are sent again.
    package var replayed: Int

    /// So many entries of this channel.
    package init(channel: String, replayed: Int) {
        self.channel = channel
        self.replayed = replayed
    }
}

/// What `outbox discard --channel` did, or the removal of a channel.
package struct WireChannelDiscard: Hashable, Sendable, Codable {
    /// The channel.
    package var channel: String
    /// How many entries are never sent.
    package var discarded: Int

    /// So many entries of this channel.
    package init(channel: String, discarded: Int) {
        self.channel = channel
        self.discarded = discarded
    }
}

/// The outcome of a test notice.
package struct WireChannelTest: Hashable, Sendable, Codable {
    /// The name of the channel.
    package var channel: String
    /// `delivered`, `failed`, or `pending` when nothing is known yet.
    package var outcome: String
    /// What is known beyond that: a status, an error, a receipt; one line.
    package var detail: String?
    /// The outbox entry's id, of a channel that has an outbox.
    package var outbox: String?
    /// The protocol that the other side speaks, as `HTTP/2`, where it answered and there is a choice.
    package var `protocol`: String?
    /// How long the other side took, in milliseconds.
    package var latencyMs: Double?
    /// The head of its answer, at most 2,048 bytes, without secrets.
    package var answer: String?

    /// A test of a channel with its outcome.
    package init(channel: String, outcome: String, detail: String? = nil, outbox: String? = nil) {
        self.channel = channel
        self.outcome = outcome
        self.detail = detail
        self.outbox = outbox
    }
}

/// What makes a channel.
package struct WireChannelDraft: Hashable, Sendable, Codable {
    /// Its name.
    package var name: String
    /// Its settings in the form that the configuration file has, the kind among them.
    package var settings: JSON
    /// Secrets of the settings, by key: each is kept in a file of the daemon's state that nobody else can read.
    package var secrets: [String: String]?
    /// The words of its route; absent: the usual ones.
    package var when: [String]?

    /// Settings of a channel.
    package init(name: String, settings: JSON) {
        self.name = name
        self.settings = settings
    }
}

/// One event or notice for one channel, sent once, until settled.
package struct WireOutboxEntry: Hashable, Sendable, Codable {
    /// Also the `webhook-id` of every attempt.
    package var id: String
    /// Where it goes.
    package var channel: String
    /// The event's type.
    package var type: String
    /// Why it rang.
    package var reason: String
    /// `pending`, `waiting`, `sending`, `delivered`, `dead`, `held`, `suppressed`, `superseded`, `expired`, `discarded`.
    package var state: String
    /// How often it was attempted.
    package var attempts = 0
    /// When it is tried next; absent when that is not known, as long as its channel is given up or missing.
    package var nextAt: Timestamp?
    /// What it waits for: `retry` (its next attempt), `earlier` (an entry of the same item or run),
    /// `channelFailing`, `channelDisabled`, `channelMissing`, `channelLeftOut`, `rule`; absent when it waits for
    /// nothing.
    package var waitsFor: String?
    /// The last failure of the channel it waits for.
    package var channelError: String?
    /// What went wrong, one line without secrets.
    package var lastError: String?
    /// What the far end said of what it took: which of several recipients it refused.
    package var detail: String?
    /// The HTTP status of the last answer.
    package var status: Int?
    /// When it was made.
    package var createdAt: Timestamp
    /// When it ended.
    package var settledAt: Timestamp?
    /// The run it is about.
    package var run: String?
    /// The item it is about.
    package var item: String?
    /// Each attempt, the first one first; only where one entry is shown.
    package var tries: [WireTry]?

    /// An entry that was not attempted yet.
    package init(
        id: String, channel: String, type: String, reason: String, state: String, createdAt: Timestamp
    ) {
        self.id = id
        self.channel = channel
        self.type = type
        self.reason = reason
        self.state = state
        self.createdAt = createdAt
    }
}

/// One attempt to deliver an entry.
package struct WireTry: Hashable, Sendable, Codable {
    /// When it had ended.
    package var at: Timestamp
    /// How long the other side took, in milliseconds.
    package var latencyMs: Double?
    /// The HTTP status, where an answer came.
    package var status: Int?
    /// Why it failed, as a word; absent: it was accepted.
    package var reason: String?
    /// What went wrong, one line without secrets.
    package var error: String?
    /// The head of the answer, at most 2,048 bytes, without secrets.
    package var answer: String?

    /// An attempt that had ended then.
    package init(at: Timestamp) { self.at = at }
}

/// The states in which outbox entries are shown; all but ``sending`` are stored.
package enum WireOutboxState: String, Hashable, Sendable, Codable, CaseIterable {
    case pending, waiting, delivered, dead, held, suppressed, superseded, expired, discarded
    /// An attempt is under way; stored as ``pending``.
    case sending
}
