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
            schedule = try self.schedule(seed: seed, since: since) { zones($0) != nil }
        } catch {
            throw .invalid(error.drawing)
        }
        if anchor == nil { schedule = schedule.begun(by: start) }
        let name = schedule.zoneName ?? zone
        guard let rules = zones(name) else { throw .noSuchZone(name) }
        return (schedule, rules)
    }
}

extension Schedule {
    /// The same grid, from a moment of it that is not after `start`.
    fileprivate func begun(by start: Moment) -> Schedule {
        guard case .every(let interval, let anchor) = self, anchor > start, interval > .zero else {
            return self
        }
        let size = interval.microseconds
        let steps = ((anchor - start).microseconds + size - 1) / size
        return .every(interval, anchor: anchor - .microseconds(steps * size))
    }
}
