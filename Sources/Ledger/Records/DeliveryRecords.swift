package import Delivery
package import Grouping
package import Timeline
package import Tracking

/// A fact and its moment, written in the transaction that made it true.
package struct NewEvent: Hashable, Sendable {
    package var fact: Fact
    package var at: Moment

    package init(_ fact: Fact, at: Moment) {
        self.fact = fact
        self.at = at
    }

    package var type: EventType { fact.type }
}

/// An event with its number.
///
/// Numbers rise by commit order and have no gaps that will be filled later.
package struct EventRecord: Hashable, Sendable {
    package var seq: Int64
    package var event: NewEvent
    /// What of its row can't be read, for the log; the fact has what the columns hold.
    package var fault: String?

    package init(seq: Int64, event: NewEvent, fault: String? = nil) {
        self.seq = seq
        self.event = event
        self.fault = fault
    }
}

extension Fact.Run {
    /// The run of a record.
    package init(_ run: RunRecord) {
        self.init(job: run.job, id: run.id, bot: run.bot)
    }
}

/// What was decided about an event, or about the item that took it in, for one channel.
package struct VerdictRecord: Hashable, Sendable {
    /// The decision.
    package enum Action: String, Hashable, Sendable, Codable {
        case send, hold, suppress
    }

    /// The event's number; of an item the newest event that it had processed.
    package var event: Int64
    package var channel: String
    /// The text form of the item's key; nil: the event itself was sent.
    package var item: String?
    /// When it was decided.
    package var at: Moment
    package var action: Action
    package var stage: StageName
    /// Why, as an enum's text.
    package var reason: String
    /// Until when it is held, or kept from being sent.
    package var until: Moment?
    /// The rule of a person that it was decided by; nil: none, or there is only one.
    package var rule: String?

    /// A verdict about an event, or about an item.
    package init(_ verdict: Verdict, of event: Int64, item: String? = nil, at moment: Moment) {
        self.event = event
        self.item = item
        at = moment
        channel = verdict.channel
        stage = verdict.stage
        (rule, until) = (verdict.rule, verdict.until)
        switch verdict.action {
        case .send(let dispatch):
            action = .send
            reason = dispatch.reason
        case .hold(_, let until, let why):
            action = .hold
            reason = why.rawValue
            self.until = until
        case .suppress(let why):
            action = .suppress
            reason = why.rawValue
        }
    }

    /// One of its parts.
    package init(
        event: Int64, channel: String, item: String?, at: Moment, action: Action, stage: StageName,
        reason: String, until: Moment?, rule: String? = nil
    ) {
        self.rule = rule
        self.event = event
        self.channel = channel
        self.item = item
        self.at = at
        self.action = action
        self.stage = stage
        self.reason = reason
        self.until = until
    }
}

/// An outbox entry as stored: an edge for one webhook-like channel.
package struct OutboxRecord: Hashable, Sendable {
    /// Also the webhook-id of every attempt; holds no `.`.
    package var id: String
    package var channel: String
    /// What made it; one entry a cause.
    ///
    /// ``cause(event:channel:)``, `item:KEY:REVISION:CHANNEL` or `digest:ID:CHANNEL`.
    package var cause: String
    /// The event type it is about.
    package var type: String
    /// Why it rang.
    package var reason: String
    package var state: OutboxState
    package var attempts: Int
    package var nextAt: Moment?
    package var lastError: String?
    package var status: Int?
    package var createdAt: Moment
    package var settledAt: Moment?
    /// The id of the run it is about.
    package var run: String?
    /// The text form of the key of the item it is about.
    package var item: String?
    /// The very bytes that are signed and sent.
    package var body: [UInt8]
    /// Why a rule keeps, or kept, it back, and what decides about it again.
    package var held: HeldMatter?
    /// The id of the entry that was sent in its place and lists it.
    package var listedIn: String?

    package init(
        id: String, channel: String, cause: String, type: String, reason: String,
        state: OutboxState = .pending, createdAt: Moment, nextAt: Moment?, run: String? = nil,
        item: String? = nil, body: [UInt8]
    ) {
        self.id = id
        self.channel = channel
        self.cause = cause
        self.type = type
        self.reason = reason
        self.state = state
        self.attempts = 0
        self.nextAt = nextAt
        self.createdAt = createdAt
        self.run = run
        self.item = item
        self.body = body
    }

    /// The cause of the entry that an event makes for a channel: `event:SEQ:CHANNEL`.
    package static func cause(event: Int64, channel: String) -> String { "event:\(event):\(channel)" }

    /// The number of the event that made it; nil: something else did.
    package var causingEvent: Int64? {
        let parts = cause.split(separator: ":", maxSplits: 2)
        return parts.count > 1 && parts[0] == "event" ? Int64(parts[1]) : nil
    }
}

/// What happened to the failures of a job on a channel since it was last well.
package enum FailureArrival: Int, Hashable, Sendable, Comparable {
    /// All came to nothing: dead, expired, given up, or not sent by a rule.
    case lost
    /// Somebody saw them elsewhere first.
    case withdrawn
    /// One may still be sent.
    case open
    /// One was taken by the other side, by itself or in a digest.
    case arrived

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }

    /// That of an entry in this state.
    package init(_ state: OutboxState) {
        self =
            switch state {
            case .pending, .waiting, .held: .open
            case .delivered: .arrived
            case .superseded: .withdrawn
            case .dead, .suppressed, .expired, .discarded: .lost
            }
    }
}

/// What is known of a delivery.
package struct ReceiptRecord: Hashable, Sendable {
    /// The outbox entry's id, or `CHANNEL/ITEMKEY` for a surface.
    package var outbox: String
    package var receipt: Receipt

    package init(outbox: String, receipt: Receipt) {
        self.outbox = outbox
        self.receipt = receipt
    }
}

/// An attempt to send an outbox entry that failed, as the other side saw it.
package struct OutboxAttempt: Hashable, Sendable {
    /// The entry's id.
    package var outbox: String
    /// Which attempt it was, from 1.
    package var number: Int
    /// When it had ended.
    package var at: Moment
    /// How long the other side took, or how long it was waited for.
    package var latency: Duration?
    /// Why it failed.
    package var reason: DeliveryReason
    /// The HTTP status, where an answer came.
    package var status: Int?
    /// What went wrong, one line without secrets.
    package var error: String
    /// The head of what the other side answered, without secrets.
    package var answer: String?

    package init(
        outbox: String, number: Int, at: Moment, latency: Duration? = nil, reason: DeliveryReason,
        status: Int? = nil, error: String, answer: String? = nil
    ) {
        (self.outbox, self.number, self.at, self.latency) = (outbox, number, at, latency)
        (self.reason, self.status, self.error, self.answer) = (reason, status, error, answer)
    }
}

/// What another channel is sent when an entry is refused for good, or has not arrived in time.
package struct FallbackRecord: Hashable, Sendable {
    /// The entry's id.
    package var outbox: String
    /// The other channel.
    package var channel: String
    /// When the entry has not arrived in time.
    package var dueAt: Moment
    /// What a person would have read: one line, and more.
    package var title: String
    package var text: String
    package var urgency: Urgency

    package init(
        outbox: String, channel: String, dueAt: Moment, title: String, text: String, urgency: Urgency
    ) {
        (self.outbox, self.channel, self.dueAt) = (outbox, channel, dueAt)
        (self.title, self.text, self.urgency) = (title, text, urgency)
    }
}

/// What one item should look like on a channel that edits in place, and what it does look like.
package struct SurfaceRecord: Hashable, Sendable {
    package var channel: String
    /// The text form of the item's key.
    package var item: String
    /// The item's revision it should show.
    package var wanted: Int64
    /// Whether showing it should ring.
    package var ring: Bool
    package var wantedAt: Moment
    /// The revision it shows; 0: none yet.
    package var shown: Int64
    package var remote: RemoteID?
    /// A person closed it: it stays closed until the item rings again.
    package var dismissed: Bool
    /// The revision that the far end refused for good, as long as nothing newer was shown; 0: none.
    package var refused: Int64
    /// Why it was refused, one line.
    package var refusal: String?

    package init(channel: String, item: String, wanted: Int64, ring: Bool, wantedAt: Moment) {
        self.channel = channel
        self.item = item
        self.wanted = wanted
        self.ring = ring
        self.wantedAt = wantedAt
        self.shown = 0
        self.remote = nil
        self.dismissed = false
        self.refused = 0
        self.refusal = nil
    }
}

/// A channel's memory between starts.
package struct ChannelRecord: Hashable, Sendable {
    package var name: String
    /// The circuit's state as JSON (a `Circuit`).
    package var circuit: [UInt8]
    /// Whose circuit it is: the channel's ``EdgeChannel/identity``; nil in records of older versions.
    package var identity: String?
    package var updatedAt: Moment

    package init(name: String, circuit: [UInt8], identity: String? = nil, updatedAt: Moment) {
        self.name = name
        self.circuit = circuit
        self.identity = identity
        self.updatedAt = updatedAt
    }
}

/// A channel that was made on the command line.
package struct ChannelEntry: Hashable, Sendable {
    /// Its name.
    package var name: String
    /// What describes it, in the form that the configuration file has; in the place of a secret that was handed over with it
    /// stands ``keptSecret``.
    package var settings: JSON
    /// The words of its route; none: the usual ones.
    package var when: [String]

    package init(name: String, settings: JSON, when: [String] = []) {
        self.name = name
        self.settings = settings
        self.when = when
    }

    /// What stands for a secret that is kept beside the ledger, wherever that is.
    package static let keptSecret = JSON.object(["kept": .bool(true)])

    /// The keys of its settings whose secrets are kept beside the ledger.
    package var keptSecrets: [String] {
        guard case .members(let members) = settings else { return [] }
        return members.filter { isKept($0.value, as: $0.name) }.map(\.name)
    }

    /// Its settings as the configuration file would have them, with the files of its secrets.
    package func settings(secretPath: (_ name: String, _ key: String) -> String) -> JSON {
        var described = settings
        for key in keptSecrets { described[key] = .object(["file": .string(secretPath(name, key))]) }
        return described
    }

    /// Older versions kept the file's path, which is another one once the state was moved.
    private func isKept(_ value: JSON, as key: String) -> Bool {
        value == Self.keptSecret || value["file"]?.text?.hasSuffix("/secrets/channel-\(name).\(key)") ?? false
    }
}
