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
