package import Cron
package import Ledger
import Logging
package import Timeline

/// Finds the rules of a zone by its name; nil when there is none of that name.
package typealias ZoneLookup = @Sendable (_ name: String) -> ZoneRules?

/// Reads the schedules of jobs by the machine's zone data, and keeps which of them can't be read.
struct ScheduleReader {
    let zones: ZoneLookup
    private let logger: Logger
    /// The release of the zone data that slots follow; nil: none was recorded, empty: one without a name.
    private(set) var release: String?
    /// A release to follow from the next turn on.
    private(set) var announced: String?
    /// Why some jobs can't be scheduled, by name.
    private(set) var faults: [String: String] = [:]

    init(_ zones: @escaping ZoneLookup, release: String?, logger: Logger) {
        self.zones = zones
        self.release = release
        self.logger = logger
    }

    /// The job's schedule and the rules of its zones; a manual one where its own can't be read, which is noted.
    mutating func read(_ job: SlotJob) -> (Schedule, ScheduleZones) {
        faults[job.name] = nil
        do throws(EngineError) {
            return try job.schedule.read(seed: job.name, since: job.since, zones: zones)
        } catch {
            note(error, of: job.name)
            return (.manual, ScheduleZones(.utc))
        }
    }

    /// Notes why a job can't be scheduled.
    mutating func note(_ fault: EngineError, of name: String) {
        faults[name] = "\(fault)"
        logger.error(
            "a stored job can't be scheduled", metadata: ["job.id": "\(name)", "reason": "\(fault)"])
    }

    /// The job no longer exists.
    mutating func forget(_ name: String) { faults[name] = nil }

    /// The machine has, or may have, another release of the zone data.
    mutating func announce(_ release: String?) { announced = release ?? "" }

    /// Slots follow this release from now on.
    mutating func follow(_ release: String) { self.release = release }

    /// This release was looked at; one that was announced since remains announced.
    mutating func settle(_ release: String) {
        if announced == release { announced = nil }
    }
}

extension ScheduleSpec {
    /// The schedule it describes, and the rules of its zones; throws what is wrong, for a person to read.
    ///
    /// A grid whose beginning nobody wrote has begun by `start`: it counts from its making, and the clock may have
    /// been years ahead then.
    package func read(
        seed: String, since: Moment = Moment(seconds: 0), begunBy start: Moment = Moment(seconds: 0),
        zones: @escaping ZoneLookup
    ) throws(EngineError) -> (Schedule, ScheduleZones) {
        var schedule: Schedule
        do throws(CronError) {
            schedule = try self.schedule(seed: seed, since: since, zones: zones)
        } catch {
            throw .badSchedule(drawing: error.drawing)
        }
        if case .several(let list) = schedule { return try read(list, begunBy: start, zones: zones) }
        let name = schedule.zoneName ?? zone
        guard let rules = zones(name) else { throw .noSuchZone(name) }
        if countsFromMaking { schedule = schedule.begun(by: start, in: rules) }
        return (schedule, ScheduleZones(rules))
    }

    private func read(
        _ list: ScheduleList, begunBy start: Moment, zones: ZoneLookup
    ) throws(EngineError) -> (Schedule, ScheduleZones) {
        var found: [String: ZoneRules] = [:]
        for name in Schedule.several(list).zoneNames + [zone] {
            guard let rules = zones(name) else { throw .noSuchZone(name) }
            found[name] = rules
        }
        let own = found[zone] ?? .utc
        let begun = zip(members ?? [], list.members).map { spec, member in
            guard spec.countsFromMaking else { return member }
            return member.begun(by: start, in: member.zoneName.flatMap { found[$0] } ?? own)
        }
        // Two grids of one size that have begun at one moment are one: they stay as they were written.
        let schedule = Schedule.several((try? ScheduleList(begun)) ?? list)
        return (schedule, ScheduleZones(of: schedule, in: found, missing: own))
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
        case .every, .cron, .after, .at, .startup, .manual, .several:
            return self
        }
    }
}
