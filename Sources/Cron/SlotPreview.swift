public import Timeline

/// One line of a preview: a slot, or a local time that has none because the clock skipped it.
public struct SlotPreview: Hashable, Sendable {
    /// What a change of the clock does at this line.
    public enum Note: Hashable, Sendable {
        /// The clock skips `from`, so it runs at the first moment after the gap.
        case moved(from: CivilTime)

        /// The clock shows this local time twice; it is the first or the second pass, and the other one runs
        /// too or not.
        case repeated(pass: Int, runsBoth: Bool)

        /// The clock skips `count` matching local times from `first` on, and nothing runs for them.
        case skipped(first: CivilTime, count: Int)
    }

    /// The slot; for skipped times the moment at which the clock jumps.
    public var moment: Moment

    /// What is special about it; `nil` on ordinary days.
    public var note: Note?

    /// Whether something runs at ``moment``.
    public var isSlot: Bool {
        if case .skipped = note { false } else { true }
    }

    /// The note in words, for the end of a line; `nil` where there is none.
    public var noteWords: String? {
        switch note {
        case nil: nil
        case .moved(let time): "moved from \(time.clockText), which the clock skips"
        case .repeated(1, true): "first of two, the clock goes back"
        case .repeated(_, true): "second of two, the clock goes back"
        case .repeated(let pass, false):
            "the \(pass == 1 ? "first" : "second") pass only, the clock goes back"
        case .skipped(let time, 1): "\(time.clockText) does not exist, nothing runs"
        case .skipped(let time, let count):
            "\(time.clockText) and \(count - 1) more do not exist, nothing runs"
        }
    }
}

extension Schedule {
    /// The next `count` slots after `moment`, with what changes of the clock do to them.
    ///
    /// Lines for skipped times come in between and are not counted. Empty when no clock decides.
    public func preview(after moment: Moment, in zone: ZoneRules, count: Int) -> [SlotPreview] {
        switch self {
        case .cron(let expression, _):
            expression.neverFires ? [] : expression.walk(in: zone).preview(after: moment, count: count)
        case .calendar(let grid, _):
            grid.walk(in: zone).preview(after: moment, count: count)
        case .several(let list):
            list.preview(after: moment, in: ScheduleZones(zone), count: count)
        case .every, .after, .at, .startup, .manual:
            slots(after: moment, through: .distantFuture, in: zone, limit: count).map {
                SlotPreview(moment: $0, note: nil)
            }
        }
    }
}

extension CivilTime {
    /// `02:30`, with seconds where they are not zero.
    var clockText: String { CronWords.clock(hour, minute, second == 0 ? nil : second) }
}

extension ZoneWalk {
    /// The next `count` occurrences after `moment` with their notes, and the times that are skipped in between.
    fileprivate func preview(after moment: Moment, count: Int) -> [SlotPreview] {
        var lines: [SlotPreview] = []
        var current = moment
        for _ in 0..<count {
            guard let second = next(from: current.seconds &+ 1) else { break }
            let slot = Moment(seconds: second)
            lines += skipped(after: current, through: slot)
            lines.append(SlotPreview(moment: slot, note: note(at: slot)))
            current = slot
        }
        return lines
    }

    /// The note of an occurrence.
    private func note(at slot: Moment) -> SlotPreview.Note? {
        let local = CivilTime(slot, in: zone)
        if plan.next(from: local.localSeconds) != local.localSeconds {
            // It does not match as shown, so it stands for a time that was skipped.
            let gap = zone.interval(atSeconds: slot.seconds - 1)
            let skipped = slot.seconds + Int64(gap.offsetSeconds)
            return plan.next(from: skipped).map { .moved(from: CivilTime(localSeconds: $0)) }
        }
        guard case .overlap(let first, let second) = zone.instants(of: local) else { return nil }
        let runsBoth = [first, second].allSatisfy { next(from: $0.seconds) == $0.seconds }
        return .repeated(pass: slot == first ? 1 : 2, runsBoth: runsBoth)
    }

    /// The gaps in (`moment`, `slot`] whose matching times are made up for by no run.
    private func skipped(after moment: Moment, through slot: Moment) -> [SlotPreview] {
        var lines: [SlotPreview] = []
        var current = moment
        while let change = zone.nextTransition(after: current), change <= slot {
            let before = change.seconds + Int64(zone.interval(atSeconds: change.seconds - 1).offsetSeconds)
            let after = change.seconds + Int64(zone.interval(atSeconds: change.seconds).offsetSeconds)
            if before < after, let first = plan.next(from: before), first < after {
                let isMadeUp = isFixed && gap == .runAfter && after - before <= Self.longestGap
                let count = plan.count(in: before..<after)
                let note = SlotPreview.Note.skipped(first: CivilTime(localSeconds: first), count: count)
                if !isMadeUp { lines.append(SlotPreview(moment: change, note: note)) }
            }
            current = change
        }
        return lines
    }
}

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
        of schedules: [(schedule: Schedule, zones: ScheduleZones, jobs: Int)], after moment: Moment
    ) -> SlotCrowd? {
        guard schedules.reduce(0, { $0 + $1.jobs }) > limit else { return nil }
        var counts: [Int64: Int] = [:]
        for (schedule, zones, jobs) in schedules {
            guard let next = schedule.nextSlot(after: moment, in: zones) else { continue }
            counts[next.seconds, default: 0] += jobs
        }
        let common = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(4).map(\.key)
        let seconds = moment.seconds
        let candidates = Set(common + [seconds - seconds % 3600 + 3600, seconds - seconds % 86_400 + 86_400])
        let crowds = candidates.map { second in
            let there = schedules.filter { $0.schedule.hasSlot(inSecond: second, in: $0.zones) }
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
    package func hasSlot(inSecond second: Int64, in zones: ScheduleZones) -> Bool {
        let before = Moment(microseconds: Moment(seconds: second).microseconds - 1)
        return nextSlot(after: before, in: zones)?.seconds == second
    }
}

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
