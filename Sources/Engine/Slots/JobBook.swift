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
        /// Why it can't be scheduled (a zone that the machine no longer knows); nil: it can.
        package var fault: String?
        /// The span the job's last slots joined, when they did not run.
        var open: OpenSpan?
        /// What makes the run of ``next``, for a job that runs after its last end: see ``RunCause/after(_:)``.
        var chain: String?
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

    /// How many jobs there are.
    package var count: Int { entries.count }

    /// All entries, in no order.
    package var all: some Collection<Entry> { entries.values }

    package subscript(name: String) -> Entry? { entries[name] }

    /// Puts a job in force, in place of one of its name; its next slot is the first after `moment`.
    ///
    /// One with a `fault` is kept, so that people can see and mend it, and has no slots.
    package mutating func put(
        _ record: JobRecord, schedule: Schedule, rules: ZoneRules, after moment: Moment, fault: String? = nil
    ) {
        let open = entries[record.name]?.open
        entries[record.name] = Entry(
            record: record, schedule: schedule, rules: rules, fault: fault, open: open, stamp: 0)
        advance(record.name, after: moment, joining: open)
    }

    /// Takes a job out of force.
    package mutating func remove(_ name: String) {
        entries[name] = nil
        forgetStale()
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

    /// The earliest slot of the jobs that are not paused; nil: none will come.
    ///
    /// - Complexity: O(1), and O(jobs) while a paused one comes first.
    package mutating func earliestAwake() -> (slot: Moment, job: String)? {
        guard let first = earliest() else { return nil }
        if entries[first.job]?.record.pause == nil { return first }
        var found: (slot: Moment, job: String)?
        for (name, entry) in entries where entry.record.pause == nil {
            guard let next = entry.next else { continue }
            if let best = found, best <= (next, name) { continue }
            found = (next, name)
        }
        return found
    }

    /// Takes every job with a slot at or before `moment` off the queue and names them, in the order of names.
    ///
    /// Each comes back with ``advance(_:after:joining:)`` or ``restore(_:)``.
    mutating func takeDue(at moment: Moment) -> [String] {
        var names: [String] = []
        while let (slot, name) = earliest(), slot <= moment {
            queue.removeMin()
            names.append(name)
        }
        names.sort()
        return names
    }

    /// Queues the job's first slot after `moment`.
    mutating func advance(_ name: String, after moment: Moment, joining open: OpenSpan?) {
        guard var entry = entries[name] else { return }
        stamps += 1
        entry.stamp = stamps
        entry.open = open
        entry.chain = nil
        entry.next = entry.schedule.nextSlot(after: moment, in: entry.rules)
        entries[name] = entry
        if let next = entry.next { queue.insert(Due(slot: next, name: name, stamp: stamps)) }
        forgetStale()
    }

    /// The job's next slot is at `moment`, whatever its schedule says, and `cause` makes its run.
    mutating func chain(_ name: String, at moment: Moment, by cause: String) {
        guard entries[name] != nil else { return }
        stamps += 1
        entries[name]?.stamp = stamps
        entries[name]?.next = moment
        entries[name]?.chain = cause
        queue.insert(Due(slot: moment, name: name, stamp: stamps))
        forgetStale()
    }

    /// When the job's next slot comes is not known any more.
    mutating func unchain(_ name: String) {
        stamps += 1
        entries[name]?.stamp = stamps
        entries[name]?.next = nil
        entries[name]?.chain = nil
    }

    /// The clock went back: nobody waits longer for the run after its last end than from now on.
    mutating func clampChains(at now: Moment) {
        for (name, entry) in entries {
            guard case .after(let interval) = entry.schedule, let cause = entry.chain, let next = entry.next,
                next > now + interval
            else { continue }
            chain(name, at: now + interval, by: cause)
        }
    }

    /// Puts jobs back on the queue as they were: their slots could not be decided.
    mutating func restore(_ names: some Sequence<String>) {
        for name in names {
            guard let entry = entries[name], let next = entry.next else { continue }
            queue.insert(Due(slot: next, name: name, stamp: entry.stamp))
        }
    }

    /// Queues every job's first slot after `moment`: time begins anew there.
    mutating func restart(after moment: Moment) {
        queue = Heap()
        for (name, entry) in entries {
            if entry.chain == nil { advance(name, after: moment, joining: nil) } else { restore([name]) }
        }
    }

    /// What edits leave behind in the queue is cleared before it outweighs what is in force.
    private mutating func forgetStale() {
        guard queue.count > 64, queue.count > entries.count * 2 else { return }
        queue = Heap(queue.unordered.filter(isCurrent))
    }

    private func isCurrent(_ due: Due) -> Bool {
        entries[due.name]?.stamp == due.stamp
    }
}
