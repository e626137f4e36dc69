import Cron
import Timeline

/// What `cron words --json` prints: the schedule, or what was not understood.
struct CronPhraseAnswer: Encodable {
    let phrase: String
    var kind: String?
    /// What `--cron` takes; absent where no expression can say it.
    var expression: String?
    /// The schedule as it is kept: `calendar zone=Europe/Berlin 2w fri 17:00 from 2026-11-27`.
    var schedule: String?
    var zone: String?
    var words: String?
    /// How limits such as `between 9 and 17` were understood.
    var note: String?
    var error: CronAnswer.Remark?
    var errors: [CronAnswer.Remark]?

    init(_ phrase: String, _ read: PhraseAnswer, in zone: ZoneRules) {
        let schedule = read.schedule
        self.phrase = phrase
        note = read.note
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
