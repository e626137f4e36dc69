import Cron
import Ledger
import Timeline

// What is asked of all jobs at once.

extension JobBook {
    /// The names of the jobs of files, in no order.
    var namesOfFiles: [String] { rows.indices.filter { rows[$0].origin == .file }.map { queue.name(at: $0) } }

    /// The names of the jobs that run once after each start of the machine, in their order.
    var namesOfStarts: [String] {
        let isStart = (0..<schedules.count).map { schedules[UInt32($0)].members.contains(.startup) }
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
