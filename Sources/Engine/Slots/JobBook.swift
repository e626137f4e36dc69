package import Cron
import HeapModule
package import Ledger
package import Timeline
import Tracking

/// Every job that is in force, its schedule read, and the order in which their slots come.
///
/// A value of the slot keeper; the ledger's rows are the truth, this is how they are looked up.
package struct JobBook: Sendable {
    /// A job and where its schedule stands.
    package struct Entry: Sendable {
        package var record: JobRecord
        package var schedule: Schedule
        package var rules: ZoneRules
        /// The slot that comes next; nil: none will.
        package var next: Moment?
        /// The span the job's last slots joined, when they did not run.
        var open: OpenSpan?
        fileprivate var stamp: UInt64
    }

    /// The end of a span that the next slot may join.
    struct OpenSpan: Hashable, Sendable {
        var last: Moment
        var state: RunState
        var reason: RunReason
    }

    private struct Due: Comparable, Sendable {
        var slot: Moment
        var name: String
        var stamp: UInt64

        static func < (left: Due, right: Due) -> Bool {
            (left.slot, left.name, left.stamp) < (right.slot, right.name, right.stamp)
        }
    }

    private var entries: [String: Entry] = [:]
    private var queue = Heap<Due>()
    private var stamps: UInt64 = 0

    package init() {}

    /// All entries, in no order.
    package var all: some Collection<Entry> { entries.values }

    package subscript(name: String) -> Entry? { entries[name] }

    /// Puts a job in force, in place of one of its name; its next slot is the first after `moment`.
    package mutating func put(_ record: JobRecord, schedule: Schedule, rules: ZoneRules, after moment: Moment)
    {
        stamps += 1
        let open = entries[record.name]?.open
        let next = schedule.nextSlot(after: max(moment, record.since), in: rules)
        entries[record.name] = Entry(
            record: record, schedule: schedule, rules: rules, next: next, open: open, stamp: stamps)
        if let next { queue.insert(Due(slot: next, name: record.name, stamp: stamps)) }
    }

    /// Takes a job out of force.
    package mutating func remove(_ name: String) {
        entries[name] = nil
    }

    /// Holds a job still, or lets it go on.
    package mutating func setPause(_ pause: Pause?, of name: String) {
        entries[name]?.record.pause = pause
    }

    /// When the earliest slot of all comes; nil: none will.
    ///
    /// - Complexity: O(1), amortised over entries put and removed.
    package mutating func earliest() -> (slot: Moment, job: String)? {
        while let due = queue.min {
            if isCurrent(due) { return (due.slot, due.name) }
            queue.removeMin()
        }
        return nil
    }

    /// Takes the job with the earliest slot at or before `now` off the queue; nil: no slot has come.
    ///
    /// It comes back with ``advance(_:after:joining:)``.
    mutating func popDue(at now: Moment) -> (slot: Moment, entry: Entry)? {
        guard let (slot, name) = earliest(), slot <= now, let entry = entries[name] else { return nil }
        queue.removeMin()
        return (slot, entry)
    }

    /// Queues the job's first slot after `moment`.
    mutating func advance(_ name: String, after moment: Moment, joining open: OpenSpan?) {
        guard var entry = entries[name] else { return }
        stamps += 1
        entry.stamp = stamps
        entry.open = open
        entry.next = entry.schedule.nextSlot(after: moment, in: entry.rules)
        entries[name] = entry
        if let next = entry.next { queue.insert(Due(slot: next, name: name, stamp: stamps)) }
    }

    private func isCurrent(_ due: Due) -> Bool {
        entries[due.name]?.stamp == due.stamp
    }
}
