package import Cron
package import Timeline

extension ScheduleSpec {
    /// Reads the text.
    ///
    /// - Parameters:
    ///   - seed: what `H` is computed from: the job's name.
    ///   - since: the anchor of a grid that has none, not even of its making.
    ///   - knowsZone: says whether a zone that the expression names exists; nil: not asked.
    /// - Returns: the schedule it says.
    /// - Throws: every fault in ``text``, with its place.
    package func schedule(
        seed: String, since: Moment = Moment(seconds: 0), knowsZone: ((String) -> Bool)? = nil
    ) throws(CronError) -> Schedule {
        switch kind {
        case .startup: return .startup
        case .manual: return .manual
        case .cron:
            var options = CronOptions()
            options.seed = seed
            if let rule = gap.flatMap(CronOptions.Gap.init) { options.gap = rule }
            if let rule = fold.flatMap(CronOptions.Overlap.init) { options.overlap = rule }
            return .cron(try CronExpression(text, options: options, knowsZone: knowsZone), zone: zone)
        case .every:
            return try Schedule(text: "every \(text) from \((anchor ?? made ?? since).iso8601)")
        case .after: return try Schedule(text: "after \(text)")
        case .at: return try Schedule(text: "at \(text)")
        }
    }

    /// What says `schedule`, whatever it was read from.
    ///
    /// - Parameters:
    ///   - schedule: its grid has no anchor of its own when it begins at `now`.
    ///   - zone: the zone of what is not an expression, for showing moments.
    ///   - now: when the schedule was read.
    package init(_ schedule: Schedule, zone: ZoneRules, readAt now: Moment) {
        self.init(kind: .manual, text: "", zone: zone.name)
        switch schedule {
        case .cron(let expression, let zone):
            (kind, text, self.zone) = (.cron, expression.text, zone)
        case .every(let interval, let anchor):
            (kind, text) = (.every, interval.text)
            self.anchor = anchor == now ? nil : anchor
        case .after(let interval): (kind, text) = (.after, interval.text)
        case .at(let moment): (kind, text) = (.at, moment.iso8601(in: zone))
        case .startup: kind = .startup
        case .manual: kind = .manual
        }
    }

    /// The shortest interval of `every` and `after`.
    ///
    /// What is asked for more often is a program that waits by itself.
    package static let shortestInterval: Duration = .seconds(1)
    /// The longest interval, and the longest of other waits that a person may ask for: sums with moments must
    /// not overflow.
    package static let longestWait: Duration = .seconds(100 * 366 * 86_400)
}
