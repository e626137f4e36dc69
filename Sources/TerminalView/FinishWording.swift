package import Timeline
package import Tracking

/// Says when a run will be done, no more surely than is known.
package enum FinishWording {
    /// The words for the time column.
    ///
    /// A narrow band is said as a time (`3m left`, from 10 minutes on `done 14:35`), a wider one as a range
    /// (`2-5m left`), one wider than four times not at all. Without past runs there is no band, and the
    /// words begin with `~`. What takes longer than usual says so instead.
    /// - Parameters:
    ///   - live: the run.
    ///   - now: the moment.
    ///   - zone: where the reader is.
    ///   - usual: how long the job usually takes at most, if that is known.
    /// - Returns: `nil` when nothing should be said.
    package static func text(
        for live: LiveState, at now: Moment, zone: ZoneRules, usual: Duration? = nil
    ) -> String? {
        guard live.state == .running else { return nil }
        if let finish = live.finish, finish.at > now { return text(finish, at: now, zone: zone) }
        guard let usual, let startedAt = live.startedAt, now - startedAt > usual else { return nil }
        let elapsed = now - startedAt
        let parts = [usual, elapsed, elapsed - usual].map(DisplayDuration.text)
        return "usually \(parts[0]), now \(parts[1]) (+\(parts[2]))"
    }

    private static func text(_ finish: FinishTime, at now: Moment, zone: ZoneRules) -> String? {
        guard let low = finish.low, let high = finish.high else {
            return "~" + single(finish.at, at: now, zone: zone)
        }
        let least = max(low - now, .seconds(1))
        let most = max(high - now, least)
        let ratio = most / least
        if ratio <= 1.5 { return single(finish.at, at: now, zone: zone) }
        return ratio <= 4 ? range(least, most) : nil
    }

    private static func single(_ moment: Moment, at now: Moment, zone: ZoneRules) -> String {
        let left = moment - now
        // A time of day can't be distinguished from tomorrow's.
        guard (.seconds(600)..<Duration.seconds(43200)).contains(left) else {
            return DisplayDuration.text(DisplayDuration.rounded(left)) + " left"
        }
        let time = CivilTime(moment, in: zone)
        return "done \(time.hour < 10 ? "0" : "")\(time.hour):\(time.minute < 10 ? "0" : "")\(time.minute)"
    }

    /// Both ends in the unit of the later one.
    private static func range(_ least: Duration, _ most: Duration) -> String {
        let (low, high) = (least.components.seconds, most.components.seconds)
        let (unit, mark): (Int64, String) =
            switch high {
            case ..<120: (1, "s")
            case ..<7200: (60, "m")
            case ..<172_800: (3600, "h")
            default: (86400, "d")
            }
        return "\(max(1, low / unit))-\((high + unit - 1) / unit)\(mark) left"
    }
}
