import Cron
import Ledger
import Timeline

extension ScheduleSpec {
    /// The schedule it says, and the rules of its zone; throws what is wrong, for a person to read.
    func read(
        seed: String, since: Moment = Moment(seconds: 0), zones: @escaping ZoneLookup
    ) throws(EngineError) -> (Schedule, ZoneRules) {
        let schedule: Schedule
        do throws(CronError) {
            schedule = try self.schedule(seed: seed, since: since) { zones($0) != nil }
        } catch {
            throw .invalid(error.drawing)
        }
        let name = schedule.zoneName ?? zone
        guard let rules = zones(name) else { throw .noSuchZone(name) }
        return (schedule, rules)
    }
}
