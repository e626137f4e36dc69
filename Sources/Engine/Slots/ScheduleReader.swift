import Cron
import Ledger
import Timeline

extension ScheduleSpec {
    /// The schedule it says, and the rules of its zone; throws what is wrong, for a person to read.
    ///
    /// A grid whose beginning nobody wrote has begun by `start`: it counts from its making, and the clock may have
    /// been years ahead then.
    func read(
        seed: String, since: Moment = Moment(seconds: 0), begunBy start: Moment = Moment(seconds: 0),
        zones: @escaping ZoneLookup
    ) throws(EngineError) -> (Schedule, ZoneRules) {
        var schedule: Schedule
        do throws(CronError) {
            schedule = try self.schedule(seed: seed, since: since, zones: zones)
        } catch {
            throw .invalid(error.drawing)
        }
        let name = schedule.zoneName ?? zone
        guard let rules = zones(name) else { throw .noSuchZone(name) }
        if countsFromMaking { schedule = schedule.begun(by: start, in: rules) }
        return (schedule, rules)
    }
}

extension Schedule {
    /// The same grid, from a moment of it that is not after `start`.
    ///
    /// A calendar that was made by `start` begins on a day soon after it and stays as it is.
    fileprivate func begun(by start: Moment, in rules: ZoneRules) -> Schedule {
        switch self {
        case .every(let interval, let anchor) where anchor > start && interval > .zero:
            let size = interval.microseconds
            let steps = ((anchor - start).microseconds + size - 1) / size
            return .every(interval, anchor: anchor - .microseconds(steps * size))
        case .calendar(let grid, let zone):
            let today = CivilTime(start, in: rules).date
            let wait = grid.firstDay.daysSinceEpoch - today.daysSinceEpoch
            guard wait > (grid.days % 7 == 0 ? 7 : 1) else { return self }
            return .calendar(grid.begun(by: today), zone: zone)
        case .every, .cron, .after, .at, .startup, .manual:
            return self
        }
    }
}
