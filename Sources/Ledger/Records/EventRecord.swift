package import Delivery
package import Timeline

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
