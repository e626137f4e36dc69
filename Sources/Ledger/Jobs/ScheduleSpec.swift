package import Cron
package import Timeline

/// A schedule as it was written, kept as text so that every later version can read it.
///
/// Whoever uses it parses it into a `Cron.Schedule`; Settings and the API do so once before it is stored, so
/// that a stored text is good.
package struct ScheduleSpec: Hashable, Sendable, Codable {
    package enum Kind: String, Hashable, Sendable, Codable {
        case cron, calendar, every, after, at, startup, manual, several
    }

    package var kind: Kind
    /// The expression, the rule (`2w fri 17:00 from 2026-11-27`), the duration, or the ISO 8601 moment; for `startup`
    /// its delay, empty where there is none; empty for `manual` and `several`.
    package var text: String
    /// The zone's name; always resolved before it is stored.
    package var zone: String
    /// The local-time gap rule: `run-after` or `skip`; nil: the default.
    package var gap: String?
    /// The local-time fold rule: `first`, `last` or `both`; nil: the default.
    package var fold: String?
    /// The phrase that it was read from, such as `every weekday at 9:30`; nil: it was written as ``text``.
    package var phrase: String?
    /// The grid's anchor for `every`, as it was written; nil: ``made``.
    package var anchor: Moment?
    /// When this schedule became active, filled in by the keeper of slots where ``countsFromMaking``.
    ///
    /// Kept by edits that leave the schedule as it is, so that they do not move the grid.
    package var made: Moment?
    /// The schedules of ``Kind/several``, none of them of that kind; nil for other kinds.
    package var members: [ScheduleSpec]?

    package init(
        kind: Kind, text: String, zone: String, gap: String? = nil, fold: String? = nil,
        anchor: Moment? = nil, phrase: String? = nil
    ) {
        self.kind = kind
        self.text = text
        self.zone = zone
        self.gap = gap
        self.fold = fold
        self.anchor = anchor
        self.phrase = phrase
    }
}

extension ScheduleSpec {
    /// The schedules of a list, in the zone that they have where they name none.
    package init(several members: [ScheduleSpec], zone: String) {
        self.init(kind: .several, text: "", zone: zone)
        self.members = members
    }

    /// Whether it counts from when it was made: an `every` without an anchor, a `calendar` without a first day, or a
    /// list with one of them.
    package var countsFromMaking: Bool {
        switch kind {
        case .every: anchor == nil
        case .calendar: !text.contains(" from ")
        case .several: members?.contains(where: \.countsFromMaking) ?? false
        case .cron, .after, .at, .startup, .manual: false
        }
    }

    /// Whether both were written alike; when they became active plays no part.
    package func isWritten(as other: ScheduleSpec) -> Bool { unmade == other.unmade }

    /// The same, as it was written.
    private var unmade: ScheduleSpec {
        var spec = self
        spec.made = nil
        spec.members = members?.map(\.unmade)
        return spec
    }

    /// Notes when what ``countsFromMaking`` became active: at `now`, or as in `old` what is written there alike.
    ///
    /// - Parameters:
    ///   - now: when the schedule becomes active.
    ///   - old: the schedule that it replaces.
    ///   - since: when `old` became active, where it does not say so itself.
    package mutating func note(made now: Moment, replacing old: ScheduleSpec?, activeSince since: Moment) {
        made = nil
        if let parts = members {
            members = parts.map { part in
                var part = part
                part.note(made: now, replacing: old, activeSince: since)
                return part
            }
        } else if countsFromMaking {
            let kept = (old?.members ?? old.map { [$0] } ?? []).first { $0.isWritten(as: self) }
            made = kept.map { $0.made ?? since } ?? Moment(seconds: now.seconds)
        }
    }
}

extension ScheduleSpec {
    /// Reads the text.
    ///
    /// - Parameters:
    ///   - seed: what `H` is computed from: the job's name.
    ///   - since: the anchor of a grid that has none, not even of its making.
    ///   - zones: the rules of a zone, nil where there is no such zone; without it every zone passes.
    /// - Returns: the schedule it describes.
    /// - Throws: every fault in ``text``, with its place.
    package func schedule(
        seed: String, since: Moment = Moment(seconds: 0), zones: ((String) -> ZoneRules?)? = nil
    ) throws(CronError) -> Schedule {
        switch kind {
        case .startup: return try Schedule(text: line)
        case .manual: return .manual
        case .several: return try list(seed: seed, since: since, zones: zones)
        case .cron:
            var options = CronOptions()
            options.seed = seed
            if let rule = gap.flatMap(CronOptions.Gap.init) { options.gap = rule }
            if let rule = fold.flatMap(CronOptions.Overlap.init) { options.overlap = rule }
            let expression: CronExpression
            if let zones {
                expression = try CronExpression(text, options: options) { zones($0) != nil }
            } else {
                expression = try CronExpression(text, options: options)
            }
            return .cron(expression, zone: zone)
        case .calendar:
            // A zone that does not exist is reported by whoever asks for its rules.
            return try Schedule(
                calendar: text, in: zones?(zone) ?? ZoneRules(name: zone, offsetSeconds: 0),
                made: made ?? since,
                gap: gap.flatMap(CronOptions.Gap.init) ?? .runAfter,
                overlap: fold.flatMap(CronOptions.Overlap.init) ?? .first)
        case .every:
            return try Schedule(text: "every \(text) from \((anchor ?? made ?? since).iso8601)")
        case .after: return try Schedule(text: "after \(text)")
        case .at: return try Schedule(text: "at \(text)")
        }
    }

    private func list(
        seed: String, since: Moment, zones: ((String) -> ZoneRules?)?
    ) throws(CronError) -> Schedule {
        var schedules: [Schedule] = []
        for member in members ?? [] {
            schedules.append(try member.schedule(seed: seed, since: since, zones: zones))
        }
        do throws(ScheduleListError) {
            return .several(try ScheduleList(schedules))
        } catch {
            throw error.fault(in: (members ?? []).map(\.line), separator: "; ")
        }
    }

    /// The schedule as a person would name it: `every 15m`, `30 2 * * *`.
    private var line: String {
        switch kind {
        case .cron: text
        case .manual, .several: kind.rawValue
        case .startup: text.isEmpty ? "startup" : "startup \(text)"
        case .calendar: "every \(text)"
        case .every, .after, .at: "\(kind.rawValue) \(text)"
        }
    }

    /// The description of `schedule`, whatever it was read from.
    ///
    /// - Parameters:
    ///   - schedule: its grid has no anchor of its own when it begins at `now`, or on the first day after it.
    ///   - zone: the zone of what is not an expression.
    ///   - now: when the schedule was read.
    package init(_ schedule: Schedule, zone: ZoneRules, readAt now: Moment) {
        self.init(kind: .manual, text: "", zone: zone.name)
        switch schedule {
        case .cron(let expression, let zone):
            (kind, text, self.zone) = (.cron, expression.text, zone)
        case .calendar(let grid, let name):
            var rule = grid.rule
            rule.first = nil
            if rule.grid(after: now, in: zone)?.firstDay != grid.firstDay { rule.first = grid.firstDay }
            (kind, text, self.zone) = (.calendar, rule.text, name)
            gap = grid.gap == .runAfter ? nil : grid.gap.rawValue
            fold = grid.overlap == .first ? nil : grid.overlap.rawValue
        case .every(let interval, let anchor):
            (kind, text) = (.every, interval.text)
            self.anchor = anchor == now ? nil : anchor
        case .after(let interval): (kind, text) = (.after, interval.text)
        case .at(let moment): (kind, text) = (.at, moment.iso8601(in: zone))
        case .startup(let delay): (kind, text) = (.startup, delay == .zero ? "" : delay.text)
        case .manual: kind = .manual
        case .several(let list):
            kind = .several
            members = list.members.map { ScheduleSpec($0, zone: zone, readAt: now) }
        }
    }

    /// The longest interval, and the longest of other waits that a person may ask for: sums with moments must
    /// not overflow.
    package static let longestWait: Duration = .seconds(100 * 366 * 86_400)
}
