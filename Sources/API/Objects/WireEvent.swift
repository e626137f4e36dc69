package import Tracking

/// A fact, numbered in the order it became true.
package struct WireEvent: Hashable, Sendable, Codable {
    /// Rises with every event; what `--since` and `Last-Event-ID` name.
    package var seq: Int64
    /// `run.started`, `message.group` and so on.
    package var type: String
    /// When it became true.
    package var at: Timestamp
    /// Why, in one word.
    package var reason: String?
    /// The job it is about.
    package var job: String?
    /// The id of the run it is about.
    package var run: String?
    /// That run's name, `JOB#N`, as long as it is kept.
    package var name: String?
    /// The bot it is about.
    package var bot: String?
    /// The message or item it is about.
    package var subject: String?
    /// The channel it is about.
    package var channel: String?
    /// What else there is to know: an object whose members the type decides.
    package var data: JSON?

    /// An event that is about nothing yet.
    package init(seq: Int64, type: String, at: Timestamp) {
        self.seq = seq
        self.type = type
        self.at = at
    }
}

/// What was decided about an event for a channel, by which rule and why.
package struct WireVerdict: Hashable, Sendable, Codable {
    /// When it was decided.
    package var at: Timestamp
    /// The event's number; of an item the newest event that it had processed.
    package var event: Int64
    /// The event's type, as long as it is kept.
    package var type: String?
    /// The name of the run that the event is about, `JOB#N`, as long as it is kept.
    package var run: String?
    /// The key of the item that was shown or sent; absent: the event itself was.
    package var item: String?
    /// The channel; absent where no route names the event.
    package var channel: String?
    /// `send`, `hold` or `suppress`.
    package var action: String
    /// The stage of dispatch that decided: `route`, `dismissal` and so on.
    package var stage: String
    /// Why, in one word.
    package var reason: String
    /// Until when it is held, or kept from being sent.
    package var until: Timestamp?
    /// The rule that decided, where there can be several, as `silence 3f2a91c0`.
    package var rule: String?
    /// How far what it let through has got; absent where it let nothing through, and where that is no longer known.
    package var delivery: WireDelivery?

    /// A verdict of its obligatory parts.
    package init(at: Timestamp, event: Int64, action: String, stage: String, reason: String) {
        self.at = at
        self.event = event
        self.action = action
        self.stage = stage
        self.reason = reason
    }
}

/// How far what a verdict let through has got.
package struct WireDelivery: Hashable, Sendable, Codable {
    /// `delivered`, `waits`, `replaced` (by a later version), `withdrawn` (nothing is left to show), `dead`, `expired`,
    /// `discarded`.
    package var state: String
    /// What it waits for, as in ``WireOutboxEntry/waitsFor``, or `away`: nobody is there to show it.
    package var waitsFor: String?
    /// When it is tried next.
    package var nextAt: Timestamp?
    /// What keeps it, or ended it; one line without secrets.
    package var error: String?

    /// A delivery.
    package init(state: String) { self.state = state }
}

/// A time in which what matches notifies nobody.
package struct WireSilence: Hashable, Sendable, Codable {
    /// What identifies it.
    package var id: String
    /// Its conditions, such as `host=db1`; all of them must hold.
    package var matchers: [String]
    /// When it begins.
    package var from: Timestamp
    /// When it ends.
    package var until: Timestamp
    /// Who made it.
    package var by: String
    /// Why, in the words of whoever made it.
    package var note: String?
    /// `pending`, `active` or `ended`.
    package var state: String

    /// A silence without a note.
    package init(
        id: String, matchers: [String], from: Timestamp, until: Timestamp, by: String, state: String
    ) {
        self.id = id
        self.matchers = matchers
        self.from = from
        self.until = until
        self.by = by
        self.state = state
    }
}

/// Silences what matches for a while.
package struct SilenceRequest: Hashable, Sendable, Codable {
    /// Conditions such as `job=backup` or `job=~backup-.*`; all of them must hold.
    ///
    /// Keys are `job`, `bot`, `channel`, `urgency`, `event` and the names of labels.
    package var matchers: [String]
    /// When it begins; absent: now.
    package var from: Timestamp?
    /// When it ends; or `forMs`.
    package var until: Timestamp?
    /// How long it lasts, milliseconds.
    package var forMs: Int64?
    /// Who makes it; absent: `api`.
    package var by: String?
    /// Why.
    package var note: String?

    /// Silences what matches all of these.
    package init(matchers: [String]) {
        self.matchers = matchers
    }
}

/// What quiet hours or a budget kept back of an item from a channel.
package struct WireHeldItem: Hashable, Sendable, Codable {
    /// The channel.
    package var channel: String
    /// The item as it is shown now; of what waits in the outbox, its reason is how a digest lists it.
    package var item: WireItem
    /// When it would have been shown by itself.
    package var until: Timestamp?
    /// The id of the outbox entry, on a channel that is sent each thing once.
    package var outbox: String?

    /// An item of a channel.
    package init(channel: String, item: WireItem, until: Timestamp?) {
        self.channel = channel
        self.item = item
        self.until = until
    }
}
