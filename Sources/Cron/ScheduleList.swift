public import Timeline

/// Several schedules of one job: it runs at the slots of all of them, and once where some coincide.
public struct ScheduleList: Hashable, Sendable {
    /// The schedules, in the order in which they were written: at least two, and none of them a list.
    public let members: [Schedule]

    /// The zone of each member; `nil` where none matters.
    let zoneNames: [String?]

    /// The most members that a list may have.
    public static let limit = 16

    /// A list of `members`.
    ///
    /// An expression, a calendar, a grid, a moment and `startup` may stand together. What counts from the end of the
    /// last run can't: a slot of another member would begin it again.
    /// - Throws: ``ScheduleListError`` with the member at fault.
    public init(_ members: [Schedule]) throws(ScheduleListError) {
        guard members.count > 1 else { throw ScheduleListError(.tooFew, member: 0) }
        guard members.count <= Self.limit else { throw ScheduleListError(.tooMany, member: Self.limit) }
        for (place, member) in members.enumerated() {
            switch member {
            case .several: throw ScheduleListError(.nested, member: place)
            case .after: throw ScheduleListError(.after, member: place)
            case .manual: throw ScheduleListError(.manual, member: place)
            case .cron, .calendar, .every, .at, .startup: break
            }
            let isSecondStart = member.kind == .startup && members[..<place].contains { $0.kind == .startup }
            if isSecondStart || members[..<place].contains(member) {
                throw ScheduleListError(.twice, member: place)
            }
        }
        self.members = members
        zoneNames = members.map(\.zoneName)
    }
}

/// Why schedules can't stand in one list.
public struct ScheduleListError: Error, Hashable, Sendable {
    /// What is wrong.
    public enum Problem: Hashable, Sendable {
        /// The list has no second member.
        case tooFew
        /// The list has more members than ``ScheduleList/limit``.
        case tooMany
        /// The member is a list itself.
        case nested
        /// The member counts from the end of the last run.
        case after
        /// The member has no slots.
        case manual
        /// The member is equal to one before it.
        case twice
    }

    /// What is wrong.
    public let problem: Problem

    /// The place of the member at fault, from 0.
    public let member: Int

    init(_ problem: Problem, member: Int) {
        self.problem = problem
        self.member = member
    }

    /// One sentence without a full stop.
    public var message: String {
        switch problem {
        case .tooFew: "a list of schedules has at least two"
        case .tooMany: "a job has at most \(ScheduleList.limit) schedules"
        case .nested: "a list of schedules can't hold another list"
        case .after: "after counts from the end of the last run and can't stand beside another schedule"
        case .manual: "manual can't stand beside another schedule"
        case .twice: "this schedule is in the list already"
        }
    }

    /// What to do instead.
    public var fix: String {
        switch problem {
        case .tooFew: "write the schedule without a list"
        case .tooMany: "combine some of them in one expression, or make a second job"
        case .nested: "write all schedules in one list"
        case .after: "use every, or make a second job"
        case .manual, .twice: "leave it out"
        }
    }
}

extension ScheduleListError {
    /// The same as the fault of a line in which the texts of the members stand, with `separator` between them.
    package func fault(in texts: [String], separator: String) -> CronError {
        let start = texts.prefix(member).reduce(0) { $0 + $1.utf8.count + separator.utf8.count }
        let size = member < texts.count ? texts[member].utf8.count : 0
        let text = texts.joined(separator: separator)
        let place = min(start, text.utf8.count)
        return CronError(text: text, CronFault(.notUnderstood, at: place..<place + size, message, fix: fix))
    }
}

/// The zone rules of a schedule: of one zone, or of each zone that the members of a list name.
public struct ScheduleZones: Sendable {
    /// The rules of a schedule that is no list; of a list, those in which its times are shown.
    public let first: ZoneRules
    private let others: [String: ZoneRules]

    /// One zone for everything.
    public init(_ zone: ZoneRules) {
        first = zone
        others = [:]
    }

    /// The rules of `schedule` out of `zones`, by their names; `missing` where its zone is not among them.
    ///
    /// - Complexity: O(1), without allocation.
    public init(of schedule: Schedule, in zones: [String: ZoneRules], missing: ZoneRules = .utc) {
        first = schedule.zoneName.flatMap { zones[$0] } ?? missing
        if case .several = schedule { others = zones } else { others = [:] }
    }

    /// The rules of the zone of that name; ``first`` where there is none.
    public subscript(name: String?) -> ZoneRules {
        guard !others.isEmpty, let name else { return first }
        return others[name] ?? first
    }
}

// MARK: Slots

extension ScheduleList {
    /// Each member with the rules of its zone.
    private func each(_ zones: ScheduleZones) -> some Sequence<(Schedule, ZoneRules)> {
        zip(members, zoneNames).lazy.map { ($0, zones[$1]) }
    }

    func next(after moment: Moment, in zones: ScheduleZones) -> Moment? {
        var first: Moment?
        for (member, zone) in each(zones) {
            guard let slot = member.nextSlot(after: moment, in: zone) else { continue }
            first = min(first ?? slot, slot)
        }
        return first
    }

    func last(through moment: Moment, in zones: ScheduleZones) -> Moment? {
        var last: Moment?
        for (member, zone) in each(zones) {
            guard let slot = member.lastSlot(through: moment, in: zone) else { continue }
            last = max(last ?? slot, slot)
        }
        return last
    }

    /// How many slots lie in (`moment`, `last`]: those of the busiest member, and of each other one those that no
    /// busier member has.
    ///
    /// - Complexity: O(members × slots of all but the busiest member).
    func count(after moment: Moment, through last: Moment, in zones: ScheduleZones) -> Int {
        let counted = each(zones).map { member, zone in
            (member, zone, count: member.slotCount(after: moment, through: last, in: zone))
        }
        let ranked = counted.sorted { $0.count > $1.count }
        var total = ranked[0].count
        for (place, (member, zone, _)) in ranked.enumerated().dropFirst() {
            var current = moment
            while let slot = member.nextSlot(after: current, in: zone), slot <= last {
                let before = slot - .microseconds(1)
                if !ranked[..<place].contains(where: { $0.0.nextSlot(after: before, in: $0.1) == slot }) {
                    total += 1
                }
                current = slot
            }
        }
        return total
    }

    /// The next `count` slots with their notes; where members coincide, the note of the first that has one.
    func preview(after moment: Moment, in zones: ScheduleZones, count: Int) -> [SlotPreview] {
        var lines = each(zones).flatMap { $0.preview(after: moment, in: $1, count: count) }
        // A stable order: of equal moments what does not run comes first, then by the order of the members.
        let order = lines.indices.sorted {
            let (left, right) = (lines[$0], lines[$1])
            if left.moment != right.moment { return left.moment < right.moment }
            return left.isSlot == right.isSlot ? $0 < $1 : !left.isSlot
        }
        lines = order.map { lines[$0] }
        var merged: [SlotPreview] = []
        var slots = 0
        for line in lines {
            if let previous = merged.last, previous.moment == line.moment, previous.isSlot, line.isSlot {
                if previous.note == nil { merged[merged.count - 1].note = line.note }
                continue
            }
            if slots == count { break }
            if line.isSlot { slots += 1 }
            merged.append(line)
        }
        return merged
    }

    /// What the members mean, in English; their zones are named where they differ.
    func words(in zone: ZoneRules) -> String {
        let isOneZone = Set(zoneNames.compactMap(\.self)).count < 2
        let parts = zip(members, zoneNames).map { member, name in
            let words = member.words(in: zone)
            guard !isOneZone, let name, !words.hasSuffix("\(name) time") else { return words }
            return "\(words), \(name) time"
        }
        return ([parts[0]] + parts.dropFirst().map { $0.prefix(1).lowercased() + $0.dropFirst() })
            .joined(separator: "; ")
    }
}
