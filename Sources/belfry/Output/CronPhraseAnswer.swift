import Cron
import Timeline

/// What `cron words --json` says: the schedule, or what was not understood.
struct CronPhraseAnswer: Encodable {
    let phrase: String
    var kind: String?
    /// What `--cron` takes; absent where no expression can say it.
    var expression: String?
    /// The schedule as it is kept: `every 48h from 2026-03-25T17:00:00Z`.
    var schedule: String?
    var zone: String?
    var words: String?
    var error: CronAnswer.Remark?
    var errors: [CronAnswer.Remark]?

    init(_ phrase: String, _ schedule: Schedule, in zone: ZoneRules) {
        self.phrase = phrase
        kind = schedule.kind.rawValue
        if case .cron(let expression, _) = schedule { self.expression = expression.description }
        self.schedule = schedule.text
        self.zone = zone.name
        words = schedule.words(in: zone)
    }

    init(_ error: CronError) {
        phrase = error.text
        self.error = error.faults.first.map { CronAnswer.Remark($0) }
        errors = error.faults.count > 1 ? error.faults.map { CronAnswer.Remark($0) } : nil
    }
}
