package import Timeline

/// What there is to say of all jobs at once.
package struct SlotSummary: Sendable {
    /// How many jobs are in force.
    package var jobs: Int
    /// The slot that comes next, of all jobs that are not paused; nil: none will.
    package var next: (slot: Moment, job: String)?
    /// Why some jobs can't be scheduled, by name.
    package var faults: [String: String]
    /// How many runs have not ended, those that wait included.
    package var active: Int
    /// The release of the zone data that slots follow, such as `2025b`; nil: not known.
    package var tzdata: String?
    /// Whether slots wait because the clock of a machine that has just started is not set yet.
    package var isHeld: Bool
    /// The clock went back, and up to here every slot is decided already; nil: it did not.
    package var behind: Moment?
    /// The earliest slot that could not be recorded in time; nil: all are.
    package var late: Moment?
    /// By how much the clock went back when a new era began, within the last day; nil: none did.
    package var setBack: Duration?
}
