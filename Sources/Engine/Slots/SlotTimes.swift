import Cron
package import Timeline

/// The slots of one schedule, asked for by stretches of time and not one by one.
///
/// A month of a job that runs each second is decided by three questions.
package struct SlotTimes {
    private enum Source {
        case list([Moment])
        case schedule(Schedule, ZoneRules)
    }

    private let source: Source

    /// Those of a list, which rises.
    package init(_ slots: [Moment]) { source = .list(slots) }

    /// Those of a schedule.
    init(_ schedule: Schedule, in rules: ZoneRules) { source = .schedule(schedule, rules) }

    /// The first slot after a moment.
    func next(_ moment: Moment) -> Moment? {
        switch source {
        case .list(let slots): slots.first { $0 > moment }
        case .schedule(let schedule, let rules): schedule.nextSlot(after: moment, in: rules)
        }
    }

    /// The last slot at or before a moment.
    func last(_ moment: Moment) -> Moment? {
        switch source {
        case .list(let slots): slots.last { $0 <= moment }
        case .schedule(let schedule, let rules): schedule.lastSlot(through: moment, in: rules)
        }
    }

    /// How many slots there are after the one moment and up to the other.
    func count(_ after: Moment, _ through: Moment) -> Int {
        switch source {
        case .list(let slots): slots.count { after < $0 && $0 <= through }
        case .schedule(let schedule, let rules):
            schedule.slotCount(after: after, through: through, in: rules)
        }
    }

    /// The slots of a stretch, earliest first.
    func all(after moment: Moment, through last: Moment) -> [Moment] {
        var slots: [Moment] = []
        var current = moment
        while let slot = next(current), slot <= last {
            slots.append(slot)
            current = slot
        }
        return slots
    }

    /// The newest slots of a stretch, at most `limit`, earliest first.
    func newest(_ limit: Int, after moment: Moment, through last: Moment) -> [Moment] {
        var slots: [Moment] = []
        var current = last
        while slots.count < limit, let slot = self.last(current), slot > moment {
            slots.append(slot)
            current = Moment(microseconds: slot.microseconds - 1)
        }
        return slots.reversed()
    }
}
