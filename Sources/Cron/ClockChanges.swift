package import Timeline

/// What the coming changes of a zone's clock do to a schedule: the first one that skips a time of it, and the first
/// one that repeats one.
package struct ClockChanges: Hashable, Sendable {
    /// Times of one day that the clock skips or shows twice.
    struct Times: Hashable, Sendable {
        var first: CivilTime
        /// How many there are, the first one included.
        var count: Int
        /// What the schedule does about them, such as `runs at 03:00`.
        var outcome: String
    }

    let zone: String
    /// After which the changes come.
    let moment: Moment
    var skipped: Times?
    var repeated: Times?

    /// One sentence without a full stop.
    ///
    /// `02:30 does not exist in Europe/Berlin on 29 March (runs at 03:00) and comes twice on 25 October (runs once)`.
    package var sentence: String {
        var parts: [String] = []
        if let skipped {
            let verb = skipped.count == 1 ? "does" : "do"
            parts.append(
                "\(subject(skipped)) \(verb) not exist in \(zone) on \(day(skipped)) (\(skipped.outcome))")
        }
        guard let repeated else { return parts.joined() }
        let what = repeated.count == 1 ? "comes twice" : "come twice"
        let place = skipped == nil ? " in \(zone)" : ""
        let isSame = skipped.map { clock($0) == clock(repeated) && $0.count == repeated.count } ?? false
        parts.append(
            (isSame ? "" : subject(repeated) + " ")
                + "\(what)\(place) on \(day(repeated)) (\(repeated.outcome))")
        return parts.joined(separator: isSame ? " and " : "; ")
    }

    /// `02:00 and 3 more times`.
    private func subject(_ times: Times) -> String {
        switch times.count {
        case 1: clock(times)
        case 2: "\(clock(times)) and 1 more time"
        default: "\(clock(times)) and \(times.count - 1) more times"
        }
    }

    private func clock(_ times: Times) -> String { times.first.clockText }

    /// `29 March`, with the year where it is not within the next twelve months.
    private func day(_ times: Times) -> String {
        let date = times.first.date
        let isSoon = times.first.localSeconds - moment.seconds < 365 * 86_400
        return "\(date.day) \(CronNames.months[date.month - 1])" + (isSoon ? "" : " \(date.year)")
    }
}

extension Schedule {
    /// What the clock changes of `zone` in the ten years after `moment` do to it; nil when nothing.
    ///
    /// Of several schedules in the zone, the first that they do something to. A schedule that follows the clock through every hour is not affected: it loses and repeats what the clock does.
    package func clockChanges(after moment: Moment, in zone: ZoneRules) -> ClockChanges? {
        switch self {
        case .cron(let expression, _): expression.clockChanges(after: moment, in: zone)
        case .calendar(let grid, _): grid.walk(in: zone).clockChanges(after: moment)
        case .several(let list):
            list.members.lazy.filter { $0.zoneName == zone.name }
                .compactMap { $0.clockChanges(after: moment, in: zone) }.first
        case .every, .after, .at, .startup, .manual: nil
        }
    }
}

extension CronExpression {
    /// The same of an expression.
    func clockChanges(after moment: Moment, in zone: ZoneRules) -> ClockChanges? {
        guard isFixedTime || plan.masks.hours != CronMasks.allHours else { return nil }
        return walk(in: zone).clockChanges(after: moment)
    }
}

extension ZoneWalk {
    fileprivate func clockChanges(after moment: Moment) -> ClockChanges? {
        var found = ClockChanges(zone: zone.name, moment: moment)
        var interval = zone.interval(atSeconds: moment.seconds)
        let last = moment.seconds + 10 * 366 * 86_400
        while interval.endSeconds < last, found.skipped == nil || found.repeated == nil {
            let following = zone.interval(atSeconds: interval.endSeconds)
            let before = interval.endSeconds + Int64(interval.offsetSeconds)
            let after = interval.endSeconds + Int64(following.offsetSeconds)
            let range = min(before, after)..<max(before, after)
            if let first = plan.next(from: range.lowerBound), first < range.upperBound {
                let outcome =
                    before < after
                    ? skipOutcome(of: following, at: after)
                    : repeatOutcome(of: first, from: interval, to: following)
                let times = ClockChanges.Times(
                    first: CivilTime(localSeconds: first), count: plan.count(in: range), outcome: outcome)
                if before < after, found.skipped == nil { found.skipped = times }
                if after < before, found.repeated == nil { found.repeated = times }
            }
            interval = following
        }
        return found.skipped == nil && found.repeated == nil ? nil : found
    }

    /// Of times that the clock skips to `local`, the beginning of `interval`.
    private func skipOutcome(of interval: ZoneInterval, at local: Int64) -> String {
        guard stretch(of: interval).skipped != nil else { return "nothing runs" }
        return "runs at \(CivilTime(localSeconds: local).clockText)"
    }

    private func repeatOutcome(
        of local: Int64, from first: ZoneInterval, to second: ZoneInterval
    ) -> String {
        let passes = [local - Int64(first.offsetSeconds), local - Int64(second.offsetSeconds)]
        return passes.allSatisfy { next(from: $0) == $0 } ? "runs twice" : "runs once"
    }
}
