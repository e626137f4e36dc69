import Cron
package import Timeline

/// The slots of one schedule, asked for by stretches of time and not one by one.
///
/// A month of a job that runs each second is decided by three questions.
package struct SlotTimes {
    /// The first slot after a moment.
    package var next: (Moment) -> Moment?
    /// The last slot at or before a moment.
    package var last: (Moment) -> Moment?
    /// How many slots there are after the one moment and up to the other.
    package var count: (_ after: Moment, _ through: Moment) -> Int

    /// Those of a list, which rises.
    package init(_ slots: [Moment]) {
        next = { moment in slots.first { $0 > moment } }
        last = { moment in slots.last { $0 <= moment } }
        count = { after, through in slots.count { after < $0 && $0 <= through } }
    }

    /// Those of a schedule.
    init(_ schedule: Schedule, in rules: ZoneRules) {
        next = { schedule.nextSlot(after: $0, in: rules) }
        last = { schedule.lastSlot(through: $0, in: rules) }
        count = { schedule.slotCount(after: $0, through: $1, in: rules) }
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

extension Schedule {
    /// The last slot at or before `moment`; nil when there is none, or when no clock decides.
    fileprivate func lastSlot(through moment: Moment, in rules: ZoneRules) -> Moment? {
        switch self {
        case .cron(let expression, _):
            return expression.previous(before: Moment(microseconds: moment.microseconds + 1), in: rules)
        case .every(let interval, let anchor):
            guard moment >= anchor, interval.microseconds > 0 else { return nil }
            let elapsed = (moment - anchor).microseconds
            return anchor + .microseconds(elapsed - elapsed % interval.microseconds)
        case .at(let slot):
            return slot <= moment ? slot : nil
        case .after, .startup, .manual:
            return nil
        }
    }
}
