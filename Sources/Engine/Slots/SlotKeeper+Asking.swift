package import Cron
package import Ledger
import Timeline

// What is known of jobs, for those who ask.

extension SlotKeeper {
    /// How many jobs are read from the ledger at once.
    package static let page = 1000

    /// Whether a job of that name is active.
    package func isJob(_ name: String) -> Bool { book.contains(name) }

    /// The names of the active jobs, in no order.
    package func names() -> [String] { Array(book.names) }

    /// The names of those that files describe, in no order.
    package func namesOfFiles() -> [String] { book.namesOfFiles }

    /// How many jobs each bot has.
    package func countsOfBots() -> [String: Int] { book.countsOfBots }

    /// An active job, with its next slot.
    package func entry(_ name: String) async throws(LedgerError) -> ScheduledJob? {
        guard book.contains(name), let record = try await ledger.job(named: name) else { return nil }
        return scheduled(record)
    }

    /// The first ``page`` active jobs that come after `name`, in the order of names; none: there are no more.
    package func entries(after name: String) async throws(LedgerError) -> [ScheduledJob] {
        var last = name
        while true {
            let records = try await ledger.jobs(after: last, limit: Self.page)
            let found = records.compactMap(scheduled)
            guard found.isEmpty, let end = records.last?.name else { return found }
            last = end
        }
    }

    /// The record with where the book stands; nil when the job is not active yet, or no longer.
    private func scheduled(_ record: JobRecord) -> ScheduledJob? {
        guard let entry = book[record.name] else { return nil }
        let read = try? record.spec.schedule.read(
            seed: record.name, since: record.since, begunBy: clock.now, zones: schedules.zones)
        let (schedule, zones) = read ?? (.manual, ScheduleZones(.utc))
        return ScheduledJob(
            record: record, schedule: schedule, zones: zones, next: entry.next,
            fault: schedules.faults[record.name])
    }

    /// The crowd in the second of a job's next slot; nil when it is not worth a word, or the job has a spread.
    ///
    /// - Complexity: O(jobs).
    package func crowd(around name: String) -> SlotCrowd? {
        guard book.count > SlotCrowd.limit, let entry = book[name], let second = entry.next?.seconds,
            !entry.isPaused, entry.policies.spread == .zero
        else { return nil }
        let count = book.crowd(inSecond: second)
        return count > SlotCrowd.limit ? SlotCrowd(moment: Moment(seconds: second), count: count) : nil
    }

    /// The largest crowd ahead; nil when none is worth a word.
    ///
    /// - Complexity: O(jobs).
    package func largestCrowd() -> SlotCrowd? {
        SlotCrowd.largest(of: book.crowds, after: clock.now)
    }
}

// What is asked of all jobs at once.

extension JobBook {
    /// The names of the jobs of files, in no order.
    var namesOfFiles: [String] { rows.indices.filter { rows[$0].origin == .file }.map { queue.name(at: $0) } }

    /// The names of the jobs that run once after each start of the machine, in their order.
    var namesOfStarts: [String] {
        let isStart = (0..<schedules.count).map { schedules[UInt32($0)].startupDelay != nil }
        return rows.indices.filter { isStart[Int(rows[$0].schedule)] }.map { queue.name(at: $0) }.sorted()
    }

    /// How many jobs each bot has.
    var countsOfBots: [String: Int] {
        (0..<UInt32(policies.count)).reduce(into: [:]) { counts, place in
            let jobs = policies.uses(of: place)
            if jobs > 0 { counts[policies[place].bot, default: 0] += jobs }
        }
    }

    /// The schedules of jobs whose runs start with their slots and that are not paused, each with how many jobs.
    var crowds: [(schedule: Schedule, zones: ScheduleZones, jobs: Int)] {
        var counts = [Int](repeating: 0, count: schedules.count)
        for row in rows where isPrompt(row) { counts[Int(row.schedule)] += 1 }
        return counts.indices.filter { counts[$0] > 0 }.map { place in
            let schedule = schedules[UInt32(place)]
            return (schedule, zones(of: schedule), counts[place])
        }
    }

    /// How many of those jobs have a slot in the second `second` after the epoch.
    func crowd(inSecond second: Int64) -> Int {
        let onTime = crowds.filter { $0.schedule.hasSlot(inSecond: second, in: $0.zones) }.map(\.jobs)
        let chained = chains.keys.count { name in
            queue.place(of: name).map { isPrompt(rows[$0]) && queue.slot(at: $0)?.seconds == second } ?? false
        }
        return onTime.reduce(chained, +)
    }

    private func isPrompt(_ row: Row) -> Bool { !row.isPaused && policies[row.policies].spread == .zero }
}
