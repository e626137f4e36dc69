package import Timeline

/// A schedule as it was written, kept as text so that every later version can read it.
///
/// Whoever uses it parses it into a `Cron.Schedule`; Settings and the API do so once before it is stored, so
/// that a stored text is good.
package struct ScheduleSpec: Hashable, Sendable, Codable {
    package enum Kind: String, Hashable, Sendable, Codable {
        case cron, calendar, every, after, at, startup, manual
    }

    package var kind: Kind
    /// The expression, the rule (`2w fri 17:00 from 2026-11-27`), the duration, or the ISO 8601 moment; empty for
    /// `startup` and `manual`.
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
    /// Whether it counts from when it was made: an `every` without an anchor, a `calendar` without a first day.
    package var countsFromMaking: Bool {
        switch kind {
        case .every: anchor == nil
        case .calendar: !text.contains(" from ")
        case .cron, .after, .at, .startup, .manual: false
        }
    }

    /// Whether both were written alike; when they became active plays no part.
    package func isWritten(as other: ScheduleSpec) -> Bool {
        var (one, two) = (self, other)
        (one.made, two.made) = (nil, nil)
        return one == two
    }
}

extension JobSpec {
    /// Whether both were written alike; when their schedules became active plays no part.
    package func isWritten(as other: JobSpec) -> Bool {
        var (one, two) = (self, other)
        (one.schedule.made, two.schedule.made) = (nil, nil)
        return one == two
    }
}
