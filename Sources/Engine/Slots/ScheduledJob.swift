package import Cron
package import Ledger
package import Timeline

/// A job as somebody asks for it: what the ledger says of it, and where its schedule stands.
package struct ScheduledJob: Sendable {
    package var record: JobRecord
    package var schedule: Schedule
    package var rules: ZoneRules
    /// The slot that comes next; nil: none will.
    package var next: Moment?
    /// Why it can't be scheduled (a zone that the machine no longer knows); nil: it can.
    package var fault: String?
}
