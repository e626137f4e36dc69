/// Something that must report in time, by a request to its address.
package struct WireExpectation: Hashable, Sendable, Codable {
    /// Its name.
    package var name: String
    /// When it must report; of kind `every`: at most so long after the report before.
    package var schedule: WireSchedule
    /// How much later is still in time, and how long what has started may take, such as `1h`.
    package var grace: String
    /// `new` before its first report, `up`, `started`, or `late`.
    package var state: String
    /// Why it is late: `overdue`, `unfinished` or `failed`.
    package var reason: String?
    /// Since when it is late.
    package var lateSince: Timestamp?
    /// When it reported an end last.
    package var lastPing: Timestamp?
    /// When the next report is due.
    package var dueAt: Timestamp?
    /// The last line that came with a report.
    package var message: String?
    /// The address that it reports at; absent where the daemon does not listen on TCP.
    package var url: String?

    /// One that has not reported yet.
    package init(name: String, schedule: WireSchedule, grace: String, state: String) {
        self.name = name
        self.schedule = schedule
        self.grace = grace
        self.state = state
    }
}

/// Asks for an expectation, or for another schedule of one that is there.
package struct ExpectationDraft: Hashable, Sendable, Codable {
    /// Its name.
    package var name: String
    /// When it must report: of kind `every`, `cron`, `calendar`, `words` or `several`.
    package var schedule: WireSchedule
    /// How much later is still in time, such as `1h`; absent: an hour.
    package var grace: String?

    /// What reports by this schedule.
    package init(name: String, schedule: WireSchedule, grace: String? = nil) {
        (self.name, self.schedule, self.grace) = (name, schedule, grace)
    }
}
