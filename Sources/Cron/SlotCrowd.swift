package import Timeline

/// Jobs that run in one second: the fewer, the sooner each of them starts.
package struct SlotCrowd: Hashable, Sendable {
    /// The second.
    package var moment: Moment
    /// How many jobs have a slot in it.
    package var count: Int

    /// A crowd larger than this is worth a word when a job is saved.
    package static let limit = 200

    /// A crowd of `count` in the second of `moment`.
    package init(moment: Moment, count: Int) {
        self.moment = moment
        self.count = count
    }

    /// The largest crowd ahead that these schedules make, each that of so many `jobs`, as far as their next slots and the next full hour and
    /// day show it; `nil` when none is larger than ``limit``.
    package static func largest(
        of schedules: [(schedule: Schedule, zone: ZoneRules, jobs: Int)], after moment: Moment
    ) -> SlotCrowd? {
        guard schedules.reduce(0, { $0 + $1.jobs }) > limit else { return nil }
        var counts: [Int64: Int] = [:]
        for (schedule, zone, jobs) in schedules {
            guard let next = schedule.nextSlot(after: moment, in: zone) else { continue }
            counts[next.seconds, default: 0] += jobs
        }
        let common = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(4).map(\.key)
        let seconds = moment.seconds
        let candidates = Set(common + [seconds - seconds % 3600 + 3600, seconds - seconds % 86_400 + 86_400])
        let crowds = candidates.map { second in
            let there = schedules.filter { $0.schedule.hasSlot(inSecond: second, in: $0.zone) }
            let count = there.reduce(0) { $0 + $1.jobs }
            return SlotCrowd(moment: Moment(seconds: second), count: count)
        }
        let largest = crowds.max { ($0.count, $1.moment) < ($1.count, $0.moment) }
        return largest.flatMap { $0.count > limit ? $0 : nil }
    }

    /// The crowd in words, with a hint.
    package var warning: String {
        """
        \(count) jobs run in the second \(moment.iso8601), and wait for each other; \
        a spread, or H in place of the minute, draws them apart
        """
    }
}

extension Schedule {
    /// Whether one of the slots lies in the second `second` after the epoch.
    package func hasSlot(inSecond second: Int64, in zone: ZoneRules) -> Bool {
        let before = Moment(microseconds: Moment(seconds: second).microseconds - 1)
        return nextSlot(after: before, in: zone)?.seconds == second
    }
}
