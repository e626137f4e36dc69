public import Timeline

/// When the scheduler of an OpenClaw gateway would start a cron job, but for its own delay.
///
/// A model of what its library does: both day fields set mean either, unless one is a bare `*`; a local time that the
/// clock skips is moved by the length of the gap; of an hour that comes twice only the first counts, also for jobs of
/// each hour, so that these are silent for two hours.
/// - Source: openclaw.md 11.2, measured with the gateway's own module and croner 10.0.1.
public struct OpenClawClock: Sendable {
    private let times: DebianTimes

    /// The model for an expression of five fields, of six with seconds 0, or a macro; `nil` for others.
    public init?(_ text: String) {
        guard let times = DebianTimes(openClaw: text) else { return nil }
        self.times = times
    }

    /// The first `count` starts after `moment` in `zone`, looked for over fifty years.
    public func starts(after moment: Moment, in zone: ZoneRules, count: Int) -> [Moment] {
        var found: [Moment] = []
        // A day earlier, so that what a gap moves behind `moment` is found.
        var wall = Int((moment.seconds + Int64(zone.offsetSeconds(at: moment))) / 60) - 1440
        let last = wall + 50 * 366 * 1440
        while found.count < count, let minute = times.next(from: wall, through: last) {
            wall = minute + 1
            let start = Self.moment(ofLocalMinute: minute, in: zone)
            if start > moment, start > found.last ?? .distantPast { found.append(start) }
        }
        return found
    }

    private static func moment(ofLocalMinute minute: Int, in zone: ZoneRules) -> Moment {
        let local = Int64(minute) * 60
        let instants = zone.instants(of: local)
        guard case .gap = instants else { return instants.first }
        // By the offset that held before the gap, so that the time moves by its length.
        let before = zone.offsetSeconds(at: Moment(seconds: instants.first.seconds - 1))
        return Moment(seconds: local - Int64(before))
    }
}
