public import Timeline

/// When a job runs.
///
/// A value names zones and never holds their rules: those are passed in, so that new zone data applies to
/// schedules that already exist.
public enum Schedule: Hashable, Sendable {
    /// At the times of an expression, in the zone of that name unless the expression names its own.
    case cron(CronExpression, zone: String)

    /// Every so many days or weeks at a time of day, in the zone of that name.
    case calendar(CalendarGrid, zone: String)

    /// On a grid: at `anchor` and every whole interval after it, in elapsed time and without drift.
    case every(Duration, anchor: Moment)

    /// This long after the end of the last run; the first one at once.
    case after(Duration)

    /// Once.
    case at(Moment)

    /// Once after each start of the machine, this long after it.
    case startup(delay: Duration = .zero)

    /// Only when somebody asks.
    case manual

    /// At the slots of each member of the list.
    case several(ScheduleList)

    /// What sort of schedule it is; the raw values are the ones that scripts see.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// See ``Schedule/cron(_:zone:)``.
        case cron
        /// See ``Schedule/calendar(_:zone:)``.
        case calendar
        /// See ``Schedule/every(_:anchor:)``.
        case every
        /// See ``Schedule/after(_:)``.
        case after
        /// See ``Schedule/at(_:)``.
        case at
        /// See ``Schedule/startup(delay:)``.
        case startup
        /// See ``Schedule/manual``.
        case manual
        /// See ``Schedule/several(_:)``.
        case several
    }

    /// What sort of schedule it is.
    public var kind: Kind {
        switch self {
        case .cron: .cron
        case .calendar: .calendar
        case .every: .every
        case .after: .after
        case .at: .at
        case .startup: .startup
        case .manual: .manual
        case .several: .several
        }
    }

    /// The members of a list, or the schedule itself.
    public var members: [Schedule] {
        if case .several(let list) = self { list.members } else { [self] }
    }

    /// How long after a start of the machine it runs; `nil` where it does not run then.
    package var startupDelay: Duration? {
        for case .startup(let delay) in members { return delay }
        return nil
    }

    /// The name of the zone whose rules decide its slots; `nil` when none matter.
    ///
    /// Of several the first that a member has; ``zoneNames`` has all.
    public var zoneName: String? {
        switch self {
        case .cron(let expression, let zone): expression.zoneName ?? zone
        case .calendar(_, let zone): zone
        case .several(let list): list.zoneNames.lazy.compactMap(\.self).first
        case .every, .after, .at, .startup, .manual: nil
        }
    }

    /// The names of all zones whose rules decide its slots, each once.
    public var zoneNames: [String] {
        guard case .several(let list) = self else { return zoneName.map { [$0] } ?? [] }
        return list.zoneNames.compactMap(\.self).reduce(into: []) { names, name in
            if !names.contains(name) { names.append(name) }
        }
    }

    /// Whether moments alone decide when it runs: an expression, a grid or one moment; or those of one of several.
    public var isClockDriven: Bool {
        switch self {
        case .cron, .calendar, .every, .at: true
        case .several(let list): list.members.contains(where: \.isClockDriven)
        case .after, .startup, .manual: false
        }
    }

    /// The first slot strictly after `moment`; `nil` when there is none, or when no clock decides.
    ///
    /// `zone` is the rules of ``zoneName``; any will do when that is `nil`. Members of several zones need
    /// ``ScheduleZones``.
    public func nextSlot(after moment: Moment, in zone: ZoneRules) -> Moment? {
        switch self {
        case .cron(let expression, _):
            return expression.next(after: moment, in: zone)
        case .calendar(let grid, _):
            return grid.next(after: moment, in: zone)
        case .every(let interval, let anchor):
            guard moment >= anchor else { return anchor }
            let size = interval.microseconds
            let (elapsed, isOver) = moment.microseconds.subtractingReportingOverflow(anchor.microseconds)
            guard size > 0, !isOver else { return nil }
            let (slot, isLate) = moment.microseconds.addingReportingOverflow(size - elapsed % size)
            return isLate ? nil : Moment(microseconds: slot)
        case .at(let slot):
            return slot > moment ? slot : nil
        case .several(let list):
            return list.next(after: moment, in: ScheduleZones(zone))
        case .after, .startup, .manual:
            return nil
        }
    }

    /// The last slot at or before `moment`; `nil` when there is none, or when no clock decides.
    ///
    /// `zone` is the rules of ``zoneName``; any will do when that is `nil`.
    public func lastSlot(through moment: Moment, in zone: ZoneRules) -> Moment? {
        switch self {
        case .cron(let expression, _):
            return expression.previous(before: Moment(microseconds: moment.microseconds + 1), in: zone)
        case .calendar(let grid, _):
            return grid.previous(before: Moment(microseconds: moment.microseconds + 1), in: zone)
        case .every(let interval, let anchor):
            guard moment >= anchor, interval.microseconds > 0 else { return nil }
            let elapsed = (moment - anchor).microseconds
            return anchor + .microseconds(elapsed - elapsed % interval.microseconds)
        case .at(let slot):
            return slot <= moment ? slot : nil
        case .several(let list):
            return list.last(through: moment, in: ScheduleZones(zone))
        case .after, .startup, .manual:
            return nil
        }
    }

    /// The slots in (`moment`, `last`], earliest first, at most `limit` of them.
    ///
    /// When `limit` slots are returned there may be more. `zone` is the rules of ``zoneName``.
    public func slots(
        after moment: Moment, through last: Moment, in zone: ZoneRules, limit: Int
    ) -> [Moment] {
        var slots: [Moment] = []
        var current = moment
        while slots.count < limit, let slot = nextSlot(after: current, in: zone), slot <= last {
            slots.append(slot)
            current = slot
        }
        return slots
    }

    /// How many slots lie in (`moment`, `last`], without listing them.
    ///
    /// `zone` is the rules of ``zoneName``.
    public func slotCount(after moment: Moment, through last: Moment, in zone: ZoneRules) -> Int {
        let moment = max(moment, .distantPast)
        let last = min(last, .distantFuture)
        guard moment < last else { return 0 }
        let range =
            Moment(microseconds: moment.microseconds + 1)..<Moment(microseconds: last.microseconds + 1)
        switch self {
        case .cron(let expression, _):
            return expression.count(in: range, zone: zone)
        case .calendar(let grid, _):
            return grid.count(in: range, zone: zone)
        case .every(let interval, _):
            guard let first = nextSlot(after: moment, in: zone), first <= last else { return 0 }
            return Int((last - first).microseconds / interval.microseconds) + 1
        case .at(let slot):
            return slot > moment && slot <= last ? 1 : 0
        case .several(let list):
            return list.count(after: moment, through: last, in: ScheduleZones(zone))
        case .after, .startup, .manual:
            return 0
        }
    }
}

extension Schedule {
    /// The schedule of what stands where an expression is expected: fields, `@daily`, `@reboot`, `@every 15m`.
    ///
    /// - Parameters:
    ///   - text: At most 256 bytes.
    ///   - zone: The zone's name, for an expression that names none.
    ///   - anchor: Where the grid of `@every` begins.
    ///   - options: The notation, and the rules for days and clock changes.
    ///   - knowsZone: Says whether a zone of that name exists.
    /// - Throws: ``CronError`` with every fault of the text.
    public init(
        expression text: String, zone: String, anchor: Moment, options: CronOptions = CronOptions(),
        knowsZone: ((String) -> Bool)? = nil
    ) throws(CronError) {
        let trimmed = text.drop { $0 == " " || $0 == "\t" }
        let words = trimmed.split { $0 == " " || $0 == "\t" }
        if words == ["@reboot"] {
            self = .startup()
        } else if words.count == 2, words[0] == "@every" {
            let start = text.utf8.distance(from: text.startIndex, to: words[1].startIndex)
            self = .every(try Self.readInterval(words[1], at: start, in: text), anchor: anchor)
        } else {
            self = .cron(
                try CronExpression(text, options: options, knowsZone: knowsZone), zone: zone)
        }
    }
}

// MARK: Rules of several zones

extension Schedule {
    /// As ``nextSlot(after:in:)-(Moment,ZoneRules)``, each member by the rules of its own zone.
    public func nextSlot(after moment: Moment, in zones: ScheduleZones) -> Moment? {
        guard case .several(let list) = self else { return nextSlot(after: moment, in: zones.first) }
        return list.next(after: moment, in: zones)
    }

    /// As ``lastSlot(through:in:)-(Moment,ZoneRules)``, each member by the rules of its own zone.
    public func lastSlot(through moment: Moment, in zones: ScheduleZones) -> Moment? {
        guard case .several(let list) = self else { return lastSlot(through: moment, in: zones.first) }
        return list.last(through: moment, in: zones)
    }

    /// As ``slotCount(after:through:in:)-(Moment,Moment,ZoneRules)``, each member by the rules of its own zone.
    public func slotCount(after moment: Moment, through last: Moment, in zones: ScheduleZones) -> Int {
        guard case .several(let list) = self else {
            return slotCount(after: moment, through: last, in: zones.first)
        }
        return list.count(after: moment, through: last, in: zones)
    }

    /// As ``preview(after:in:count:)-(Moment,ZoneRules,Int)``, each member by the rules of its own zone.
    public func preview(after moment: Moment, in zones: ScheduleZones, count: Int) -> [SlotPreview] {
        guard case .several(let list) = self else {
            return preview(after: moment, in: zones.first, count: count)
        }
        return list.preview(after: moment, in: zones, count: count)
    }
}
