package import Cron
import Timeline

extension ScheduleSpec {
    /// Reads the text.
    ///
    /// `seed` is what `H` is computed from: the job's name. `knowsZone` says whether a zone that the expression
    /// names exists; nil: not asked. Throws every fault in ``text``, with its place.
    package func schedule(
        seed: String, knowsZone: ((String) -> Bool)? = nil
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
        case .every: return try Schedule(text: "every \(text) from \((anchor ?? Moment(seconds: 0)).iso8601)")
        case .after: return try Schedule(text: "after \(text)")
        case .at: return try Schedule(text: "at \(text)")
        }
    }
}
